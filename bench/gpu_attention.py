# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What bench/gpu.py measures of attention, beside each of PyTorch's backends that takes it."""

# Heads, queries, keys, head size, causal.
ATTENTION = {
    "attention_40x1024_d64": (40, 1024, 1024, 64, False),
    "attention_20x4096_d64": (20, 4096, 4096, 64, False),
    "attention_40x1024_k64_d64": (40, 1024, 64, 64, False),
    "attention_40x1024_k77_d64": (40, 1024, 77, 64, False),
    "attention_64x4096_d128": (64, 4096, 4096, 128, False),
    "attention_64x4096_d128_causal": (64, 4096, 4096, 128, True),
    "attention_16x2048_d256": (16, 2048, 2048, 256, False),
    "attention_16x2048_d256_causal": (16, 2048, 2048, 256, True),
    "attention_16x2048_k1000_d256": (16, 2048, 1000, 256, False),
    "attention_40x1024_d72": (40, 1024, 1024, 72, False),
    "attention_40x1024_d80": (40, 1024, 1024, 80, False),
    "attention_32x2048_d120_causal": (32, 2048, 2048, 120, True),
    "decode_32x4096_d72": (32, 1, 4096, 72, False),
    "attention_32x2048_d128_groups4": (32, 2048, 2048, 128, False),
    "decode_32x4096_d128": (32, 1, 4096, 128, False),
    "decode_256x4096_d128_groups4": (256, 1, 4096, 128, False),
    "decode_32x32768_d128_groups4": (32, 1, 32768, 128, False),
    "decode_32x1000_d128_groups4": (32, 1, 1000, 128, False),
    "decode_32x64_d128": (32, 1, 64, 128, False),
    "attention_8x16_k8192_d128": (8, 16, 8192, 128, False),
}
# Few queries, as of a token that is decoded over a cache, whose length only calls tell, too.
CACHES = ("decode_32x4096_d128", "decode_256x4096_d128_groups4", "decode_32x32768_d128_groups4", "decode_32x4096_d72",
          "decode_32x64_d128", "decode_32x1000_d128_groups4", "attention_8x16_k8192_d128")
GROUPS = {name: 4 for name in ATTENTION if name.endswith("groups4")}  # heads of queries that share keys
BACKENDS = ("FLASH_ATTENTION", "CUDNN_ATTENTION", "EFFICIENT_ATTENTION")


def table() -> dict[str, dict]:
    rows = {}
    for name, (heads, queries, keys, size, is_causal) in ATTENTION.items():
        rows[name] = {"heads": heads, "groups": GROUPS.get(name, 1), "queries": queries, "keys": keys, "size": size,
                      "causal": is_causal, "dtype": "f16"}
    for name in ("attention_40x1024_d64", "attention_64x4096_d128_causal", "attention_16x2048_d256", *CACHES):
        rows[f"{name}_dynamic"] = {**rows[name], "dynamic": True}
    for name in ("attention_20x4096_d64", "attention_64x4096_d128", "attention_40x1024_d72"):
        rows[f"{name}_bf16"] = {**rows[name], "dtype": "bf16"}
    # Heads behind the length, as linear layers leave them; and a number added to each score, as biases of positions are.
    for name in ("attention_40x1024_d64", "attention_40x1024_d72"):
        rows[f"{name}_bshd"] = {**rows[name], "heads_last": True}
    rows["attention_40x1024_d64_masked"] = {**rows["attention_40x1024_d64"], "masked": True}
    return rows


def shapes(row: dict) -> dict[str, tuple]:
    heads, size = row["heads"], row["size"]

    def shape(count, length):
        return (1, length, count, size) if row.get("heads_last") else (1, count, length, size)

    keys = shape(heads // row["groups"], row["keys"])
    given = {"q": shape(heads, row["queries"]), "k": keys, "v": keys}
    return given | ({"mask": (1, 1, row["queries"], row["keys"])} if row.get("masked") else {})


def attend(row: dict, given: dict):
    import torch

    q, k, v = (given[name].transpose(1, 2) if row.get("heads_last") else given[name] for name in "qkv")
    result = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=given.get("mask"), is_causal=row["causal"],
                                                              enable_gqa=row["groups"] > 1)
    return result.transpose(1, 2) if row.get("heads_last") else result


def module(row: dict):
    """What is exported, with inputs in the order of `shapes`."""
    import torch

    class Attention(torch.nn.Module):
        def forward(self, *given):
            return attend(row, dict(zip(shapes(row), given)))

    return Attention()


def dynamic_shapes(row: dict):
    """Of how many queries and keys there are, where only the call says it; few queries stay as many."""
    import torch

    if not row.get("dynamic"):
        return None
    length = torch.export.Dim("length", min=2, max=65536)
    queries = {2: length} if row["queries"] == row["keys"] else None
    return ((queries, {2: length}, {2: length}),)  # of one argument, a tuple


def sets(row: dict, dtype) -> tuple[dict, dict, float]:
    """Inputs, functions of PyTorch by name, operations."""
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel

    given = {key: torch.randn(*shape, device="cuda", dtype=dtype) for key, shape in shapes(row).items()}
    functions = {}
    for backend in BACKENDS:
        def call(backend=backend):
            with sdpa_kernel(getattr(SDPBackend, backend)):
                return attend(row, given)

        try:
            call()
            functions[backend.split("_")[0].lower()] = call
        except RuntimeError:
            pass
    scores = row["queries"] * row["keys"] * (0.5 if row["causal"] else 1)
    return given, functions, 4 * row["heads"] * scores * row["size"]


def evaluate(row: dict, given: dict):
    """Head by head, for the scores of all are large."""
    import torch

    dimension = 2 if row.get("heads_last") else 1

    def head(name, h):
        value = given[name]
        if name == "mask":
            return value
        return value.narrow(dimension, h * value.shape[dimension] // row["heads"], 1)

    heads = [attend({**row, "groups": 1}, {name: head(name, h) for name in given}) for h in range(row["heads"])]
    return torch.cat(heads, dimension)
