# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What bench/gpu.py measures of the plain lowering beside rows: products of f32, convolutions, sums, copies in another
order, attention of f32 and of one query. PyTorch's are eager ones and Inductor's, f32 without tf32."""


def _torch():
    import torch

    return torch


# Inputs and outputs of a linear, numbers of rows, whether these are known only at the call.
LINEAR = {f"linear_{rows}x{outputs}x{inputs}_f32{'_dynamic' if dynamic else ''}": (rows, inputs, outputs, dynamic)
          for inputs, outputs, counts, dynamic in ((512, 512, (1, 4, 16, 64, 512, 4096), False),
                                                   (512, 512, (1, 4, 16, 64, 4096), True),
                                                   (512, 2048, (1, 512), False), (2048, 512, (1, 512), False))
          for rows in counts}
# Batch, channels, outputs, size of the image, window, stride, groups.
CONVOLUTION = {
    "conv_1x64x56_3x3": (1, 64, 64, 56, 3, 1, 1),
    "conv_32x64x56_3x3": (32, 64, 64, 56, 3, 1, 1),
    "conv_1x256x14_3x3": (1, 256, 256, 14, 3, 1, 1),
    "conv_32x256x14_3x3": (32, 256, 256, 14, 3, 1, 1),
    "conv_32x64x56_1x1": (32, 64, 256, 56, 1, 1, 1),
    "conv_32x256x56_1x1": (32, 256, 64, 56, 1, 1, 1),
    "conv_32x128x28_3x3_stride2": (32, 128, 128, 28, 3, 2, 1),
    "conv_1x3x224_7x7_stride2": (1, 3, 64, 224, 7, 2, 1),
    "conv_32x3x224_7x7_stride2": (32, 3, 64, 224, 7, 2, 1),
    "conv_32x144x56_depthwise": (32, 144, 144, 56, 3, 1, 144),
}
# Shape and what is computed of it.
REDUCTION = {
    "sum_rows_65536x64": ((65536, 64), lambda x: x.sum(1)),
    "sum_rows_64x262144": ((64, 262144), lambda x: x.sum(1)),
    "sum_columns_65536x256": ((65536, 256), lambda x: x.sum(0)),
    "sum_all_16777216": ((16777216,), lambda x: x.sum()),
    "channel_means_32x64x112x112": ((32, 64, 112, 112), lambda x: x.mean((0, 2, 3))),
    "softmax_65536x64_f32": ((65536, 64), lambda x: x.softmax(1)),
    "softmax_16x131072_f32": ((16, 131072), lambda x: x.softmax(1)),
    "softmax_columns_1024x4096": ((1024, 4096), lambda x: x.softmax(0)),
    "transpose_4096x4096": ((4096, 4096), lambda x: x.t().contiguous()),
    "transpose_32x64x56x56": ((32, 64, 56, 56), lambda x: x.permute(0, 2, 3, 1).contiguous()),
    "concatenate_4096x1000": ((4096, 1000), lambda x: _torch().cat([x, x * 2, x[:, :500]], 1)),
    "cumsum_4096x1024": ((4096, 1024), lambda x: x.cumsum(1)),
    "gelu_1024x768": ((1024, 768), lambda x: _torch().nn.functional.gelu(x)),
    "add_broadcast_64x128x1000": ((64, 128, 1000), lambda x: x + x[:, :1]),
    "max_pool_32x64x112x112": ((32, 64, 112, 112), lambda x: _torch().nn.functional.max_pool2d(x, 3, 2, 1)),
}
# Heads, queries, keys, head size, dtype.
ATTENTION = {
    "plain_attention_12x512_f32": (12, 512, 512, 64, "f32"),
    "plain_attention_96x128_f32": (96, 128, 128, 64, "f32"),
    "plain_decode_32x2048_f16": (32, 1, 2048, 128, "f16"),
}


def table() -> dict[str, dict]:
    rows = {name: {"plain": "linear", "given": given, "dtype": "f32", "dynamic": given[3]}
            for name, given in LINEAR.items()}
    rows |= {name: {"plain": "convolution", "given": given, "dtype": "f32"} for name, given in CONVOLUTION.items()}
    rows |= {name: {"plain": "reduction", "given": name, "dtype": "f32"} for name in REDUCTION}
    return rows | {name: {"plain": "attention", "given": given, "dtype": given[4]} for name, given in ATTENTION.items()}


def _fill(parameter, seed: int) -> None:
    import torch

    count = parameter.numel()
    numbers = (torch.arange(count, dtype=torch.int64) + seed) * 2654435761 % 65521 % 251  # few, so that they pack well
    parameter.data = ((numbers.double() / 251 - 0.5) * 2 * (3 / parameter[0].numel())**0.5).to(
        parameter.dtype).reshape(parameter.shape)


def module(row: dict):
    """What is exported, with the same weights on every machine."""
    import torch

    given = row["given"]
    if row["plain"] == "linear":
        made = torch.nn.Linear(given[1], given[2], bias=False)
    elif row["plain"] == "convolution":
        _, channels, outputs, _, window, stride, groups = given
        made = torch.nn.Conv2d(channels, outputs, window, stride, window // 2, groups=groups, bias=False)
    elif row["plain"] == "reduction":

        class Function(torch.nn.Module):
            def forward(self, x):
                return REDUCTION[given][1](x)

        made = Function()
    else:

        class Attention(torch.nn.Module):
            def forward(self, q, k, v):
                return torch.nn.functional.scaled_dot_product_attention(q, k, v)

        made = Attention()
    for seed, parameter in enumerate(made.parameters()):
        _fill(parameter, seed)
    return made


def shapes(row: dict) -> dict[str, tuple]:
    given = row["given"]
    if row["plain"] == "linear":
        return {"x": (given[0], given[1])}
    if row["plain"] == "convolution":
        return {"x": (given[0], given[1], given[3], given[3])}
    if row["plain"] == "reduction":
        return {"x": REDUCTION[given][0]}
    heads, queries, keys, size = given[:4]
    return {"q": (1, heads, queries, size), "k": (1, heads, keys, size), "v": (1, heads, keys, size)}


def dynamic_shapes(row: dict):
    import torch

    if row.get("dynamic"):
        return ({0: torch.export.Dim("rows", min=1, max=65536)},)
    return None


def sets(row: dict, dtype) -> tuple[dict, dict]:
    """Inputs, and functions of PyTorch by name."""
    import torch

    given = {name: torch.randn(*shape, device="cuda").to(dtype) for name, shape in shapes(row).items()}
    if row["plain"] != "attention":
        key = str(row)
        if key not in _modules:
            torch._dynamo.reset()
            eager = module(row).cuda()
            _modules[key] = (eager, torch.compile(eager, dynamic=False))
        eager, compiled = _modules[key]
        return given, {"eager": lambda: eager(*given.values()), "inductor": lambda: compiled(*given.values())}
    eager = module(row)
    return given, {"eager": lambda: eager(*given.values())}


_modules = {}


def evaluate(row: dict, given: dict):
    """In the precision of what is given."""
    made = module(row)
    first = next(iter(given.values()))
    return made.to(first.device, first.dtype)(*given.values())
