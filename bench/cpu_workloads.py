# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What bench/cpu.py measures: modules with random weights, their inputs, and the goals that we set ourselves."""
import dataclasses
import math
from collections.abc import Callable

import full_models
import torch
from torch import nn
from torch.nn import functional as F

COLD_BYTES = 160 << 20  # of weights: several times a third-level cache
BF16 = torch.bfloat16
MANY_ROWS = 4096  # at most, where the number of rows is known at the call only
AMX = ("amx-tile", "amx-bf16")
READS = (0.9, 0.85)  # goals of the share of the limit where few rows pass by weights, which are all that is read
FEW_ROWS = 16  # at most


@dataclasses.dataclass
class Workload:
    """Goals are the best peer's time over ours, or our share of the limit, or of another row's rate."""

    make: Callable  # the module and its inputs
    one: float = 0  # the goal with one thread, 0 if there is none
    all: float = 0  # with all threads
    of_limit: tuple = (0, 0)  # the same, of the share of the limit
    of_row: tuple = ()  # another workload, and of the share of its bytes per second the same
    needs: tuple = ()  # features of a CPU that the goals are for
    group: str = ""
    is_avx2: bool = False  # as on a machine that has no more
    dynamic: tuple = ()  # (input, dimension): sizes that our program learns at the call
    trains: bool = False  # a step: forward, loss, backward
    options: tuple = ()  # of `tilewright compile`
    flops: float | None = None  # where PyTorch's counter does not know the operator
    sum_of: tuple = ()  # a name, and what the sum of all that have it is to reach: with one thread, with all
    times: int = 1  # how often it is in that sum
    compile: tuple = (0, 0)  # seconds that compiling is to take at most, cold and from the cache


class AddNormGelu(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm, self.bias = nn.LayerNorm(width), nn.Parameter(torch.randn(width))

    def forward(self, x, y):
        return F.gelu(self.norm(x + y) + self.bias)


class Elementwise(nn.Module):
    def forward(self, x, y):
        return torch.relu(x * 2 + y) - 0.5


class Copy(nn.Module):
    def forward(self, x):
        return x * 1.5


class Attention(nn.Module):
    def __init__(self, is_causal):
        super().__init__()
        self.is_causal = is_causal

    def forward(self, q, k, v):
        return F.scaled_dot_product_attention(q, k, v, is_causal=self.is_causal)


class Product(nn.Module):
    """Of two inputs, of which some are transposed."""

    def __init__(self, transposes_a=False, transposes_b=False):
        super().__init__()
        self.transposes = transposes_a, transposes_b

    def forward(self, a, b):
        a, b = (x.transpose(-1, -2) if it else x for x, it in zip((a, b), self.transposes))
        return a @ b


class ProductOfInputs(nn.Module):
    """Linear layers without biases, of weights that are inputs."""

    def forward(self, x, *weights):
        for weight in weights:
            x = F.linear(x, weight)
        return x


class LowRank(nn.Module):
    """A linear layer, and what a product of low rank adds to it."""

    def __init__(self, inner, outer, rank=16):
        super().__init__()
        self.base = nn.Linear(inner, outer)
        self.down, self.up = nn.Linear(inner, rank, bias=False), nn.Linear(rank, outer, bias=False)

    def forward(self, x):
        return self.base(x) + self.up(self.down(x))


class Loss(nn.Module):
    """Cross entropy of a model's logits."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, x, labels):
        return F.cross_entropy(self.model(x).logits, labels)


class Row(nn.Embedding):
    """What a bag of one index is: ONNX has no bags, only loops over them."""

    def forward(self, index):
        return super().forward(index.squeeze(1))


def dlrm(batch):
    module, given = full_models.dlrm(batch)
    module.tables = nn.ModuleList(Row(table.num_embeddings, table.embedding_dim) for table in module.tables)
    return module, given


class ClickLoss(nn.Module):
    def __init__(self):
        super().__init__()
        self.model = full_models.Dlrm()

    def forward(self, dense, sparse, clicks):
        return F.binary_cross_entropy_with_logits(self.model(dense, sparse).squeeze(1), clicks)


def chain(inner, outer, count, dtype):
    """`count` linear layers, from `inner` columns to `outer` ones and back. Values keep their size."""
    sizes = [(inner, outer), (outer, inner)]
    made = nn.Sequential(*(nn.Linear(*sizes[i % 2], dtype=dtype) for i in range(count)))
    for layer in made:
        nn.init.normal_(layer.weight, std=layer.in_features**-0.5)
    return made


def warm(rows, inner, outer, one, all, dtype=torch.float32, **more):
    return Workload(lambda: (chain(inner, outer, 1, dtype), (torch.rand(rows, inner).to(dtype) - 0.5,)), one, all, **more)


def layers_beyond_caches(inner, outer, dtype):
    return 2 * math.ceil(COLD_BYTES / (inner * outer * torch.finfo(dtype).bits // 8) / 2)


def cold(rows, inner, outer, one, all, dtype=torch.float32, **more):
    """As many layers as make the caches forget the first one."""
    count = layers_beyond_caches(inner, outer, dtype)
    return Workload(lambda: (chain(inner, outer, count, dtype), (torch.rand(rows, inner).to(dtype) - 0.5,)), one, all, **more)


def cold_inputs(rows, inner, outer):
    """The same layers, of which nothing is constant."""
    def make():
        weights = (layer.weight.detach() for layer in chain(inner, outer, layers_beyond_caches(inner, outer, torch.float32), torch.float32))
        return ProductOfInputs(), (torch.rand(rows, inner) - 0.5, *weights)
    return Workload(make, 1.0, 1.0)


def products(m, k, n, batch=()):
    """A layer's forward product and the two of its gradients."""
    size = "x".join(map(str, (*batch, m, k, n)))
    shapes = {"x W^T": ((False, True), (m, k), (n, k)), "dY W": ((False, False), (m, n), (n, k)),
              "dY^T x": ((True, False), (m, n), (m, k))}
    for name, (transposes, a, b) in shapes.items():
        yield f"{name} {size}", Workload(lambda t=transposes, a=a, b=b: (Product(*t), (torch.randn(*batch, *a), torch.randn(*batch, *b))), 1.0, 1.0)


def pointwise(module, goal, *shapes, **more):
    return Workload(lambda: (module(), tuple(torch.rand(*shape) - 0.5 for shape in shapes)), goal, goal, **more)


def attention(heads, length, size, is_causal=False, dtype=torch.float32, one=1.15, all=1.1, **more):
    pairs = length * length * heads / (2 if is_causal else 1)
    return Workload(lambda: (Attention(is_causal), tuple(torch.randn(1, heads, length, size).to(dtype) for _ in range(3))),
                    one, all, flops=4.0 * pairs * size, **more)


def convolution(channels, size, outputs, kernel=1, stride=1, groups=1):
    def make():
        layer = nn.Conv2d(channels, outputs, kernel, stride, kernel // 2, groups=groups)
        return nn.Sequential(layer, nn.ReLU()), (torch.randn(1, channels, size, size),)
    return Workload(make, 0.97, 0.97)


def bert_step():
    import transformers
    config = transformers.BertConfig(hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
    return Loss(transformers.BertForSequenceClassification(config)), (torch.randint(3, 1000, (4, 128)), torch.randint(0, 2, (4,)))


def resnet_step():
    import transformers
    config = transformers.ResNetConfig(num_labels=1000)
    return Loss(transformers.ResNetForImageClassification(config)), (torch.randn(4, 3, 224, 224), torch.randint(0, 1000, (4,)))


def dlrm_step():
    return ClickLoss(), (torch.randn(2048, 13), torch.randint(0, 10000, (2048, 26)), torch.rand(2048).round())


def small_mlp():
    """As that of the tests."""
    return nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 8), nn.Sigmoid()), (torch.randn(5, 16),)


def vit():
    import transformers
    return full_models.Logits(transformers.ViTModel(transformers.ViTConfig())), (torch.randn(1, 3, 224, 224),)


def tiny_llama():
    """As TinyLlama's 1.1 billion parameters."""
    import transformers
    config = transformers.LlamaConfig(hidden_size=2048, intermediate_size=5632, num_hidden_layers=22, num_attention_heads=32,
                                      num_key_value_heads=4, use_cache=False)
    return transformers.LlamaForCausalLM(config).bfloat16()


def llama():
    return full_models.Logits(tiny_llama()), (torch.randint(3, 1000, (1, 64)),)


class DecodingStep(nn.Module):
    """One token of a language model, whose keys and values are written into caches of a fixed length."""

    def __init__(self, model, length):
        super().__init__()
        self.model, self.length, self.position = model, length, None
        config = model.config
        shape = (1, config.num_key_value_heads, length, config.hidden_size // config.num_attention_heads)
        for layer in range(config.num_hidden_layers):
            self.register_buffer(f"keys_{layer}", torch.zeros(shape, dtype=model.dtype))
            self.register_buffer(f"values_{layer}", torch.zeros(shape, dtype=model.dtype))

    def update(self, keys, values, layer):
        """As transformers calls a cache."""
        known = getattr(self, f"keys_{layer}"), getattr(self, f"values_{layer}")
        return tuple(cache.index_copy_(2, self.position, row) for cache, row in zip(known, (keys, values)))

    def forward(self, token, position):
        self.position = position
        seen = (torch.arange(self.length) <= position)[None, None, None, :]
        hidden = self.model.model(token, attention_mask=seen, position_ids=position[None], past_key_values=self).last_hidden_state
        return self.model.lm_head(hidden)


def llama_step():
    return DecodingStep(tiny_llama(), 1024), (torch.randint(3, 1000, (1, 1)), torch.tensor([600]))


def models():
    return {
        "BERT-base": Workload(full_models.bert, 1.1, 1.1, compile=(1.2, 0.5)),
        "GPT-2": Workload(full_models.gpt2, 1.1, 1.1),
        "ResNet-50": Workload(full_models.resnet, 1.2, 1.1, compile=(1.5, 0)),
        "MobileNetV2": Workload(full_models.mobilenet, 1.25, 1.1, compile=(1.0, 0)),
        "ViT-B/16": Workload(vit, 1.1, 1.1),
        "SDXL block": Workload(full_models.sdxl_block, 1.1, 1.1),
        "DLRM b1": Workload(lambda: dlrm(1), 4, 1.3),
        "DLRM b128": Workload(lambda: dlrm(128), 1.5, 1.3),
        "DLRM b2048": Workload(lambda: dlrm(2048), 1.3, 1.3),
        "LoRA MLP b128": Workload(lambda: (nn.Sequential(LowRank(128, 512), nn.ReLU(), LowRank(512, 128)), (torch.randn(128, 128),)), 1.4, 1.3),
        "MLP 3x1024 b256": Workload(lambda: (nn.Sequential(*full_models.mlp(1024, 1024, 1024, 1024)), (torch.randn(256, 1024),)), 1.05, 1.3),
        "small MLP, 5 rows": Workload(small_mlp, compile=(0.1, 0)),
        "small MLP, any batch": Workload(small_mlp, dynamic=((0, 0),), compile=(0.1, 0)),
        "LSTM 2x512 b8 t64": Workload(full_models.lstm, 1.2, flops=2.0 * 8 * 64 * 2 * 4 * 512 * 1024),
        "embedding bag 1Mx64": Workload(lambda: (nn.EmbeddingBag(1_000_000, 64, mode="sum"), (torch.randint(0, 1_000_000, (2048, 32)),)), 1.0, of_limit=(0.9, 0)),
    }


def precisions():
    def to_bf16(make, single):
        """As many bytes as the row in f32 has, so that their rates are as their times."""
        return Workload(make, options=("--precision=bf16",), of_row=(single, 3.0, 0), needs=AMX)

    return {
        "Llama 1.1B bf16, 64 tokens": Workload(llama, 1.5, 1.5, dynamic=((0, 1),)),
        "Llama 1.1B bf16, decoding": Workload(llama_step, of_limit=(0.9, 0.9)),
        "BERT-base as bf16": to_bf16(full_models.bert, "BERT-base"),
        "GPT-2 as bf16": to_bf16(full_models.gpt2, "GPT-2"),
    }


def linears():
    squares = ((256, 256, 256), (512, 512, 512), (1024, 1024, 1024), (2048, 2048, 2048), (4096, 4096, 4096), (2048, 1280, 1280), (8192, 640, 640))
    yield "warm", {f"linear {m}x{k}x{n}": warm(m, k, n, 1.0, 1.0) for m, k, n in squares}
    transformers = [(rows, inner, outer) for inner, outer in ((768, 768), (768, 2304), (768, 3072), (4096, 4096)) for rows in (FEW_ROWS, 64, 128, 512)]
    yield "cold", {f"layers {m}x{k}x{n}": cold(m, k, n, 1.1, 1.05, of_limit=of_limit_by_rows(m)) for m, k, n in transformers}
    few = [(rows, *shape) for shape in ((768, 3072, torch.float32), (4096, 4096, torch.float32), (2048, 2048, BF16)) for rows in (1, 2, 4, 6, 8, FEW_ROWS)]
    for group, suffix, dynamic in (("few", "", ()), ("any", ", any rows", ((0, 0),))):
        yield group, {f"layers {m}x{k}x{n}{dtype_suffix(dtype)}{suffix}": cold(m, k, n, 0, 0, dtype, of_limit=READS, dynamic=dynamic)
                      for m, k, n, dtype in few if dynamic or (m, k, n) not in transformers}
    halves = ((512, 512, 512), (1024, 1024, 1024), (2048, 1280, 1280))
    yield "bf16", {f"linear {m}x{k}x{n} bf16": warm(m, k, n, 1.3, 1.2, BF16, needs=AMX) for m, k, n in halves}
    yield "avx2", {"linear 1024x1024x1024 bf16 AVX2": warm(1024, 1024, 1024, 5.0, 0, BF16, is_avx2=True)}


def of_limit_by_rows(rows):
    """Of layers with cold weights: few rows are as fast as these are read, many as the multiply-adds."""
    return READS if rows <= FEW_ROWS else (0.9, 0) if rows > 64 else (0, 0)


def dtype_suffix(dtype):
    return " bf16" if dtype == BF16 else ""


def inputs():
    found = {}
    for size in ((128, 2048, 2048), (512, 768, 3072), (128, 768, 768), (1024, 1024, 1024), (32, 512, 256)):
        found |= products(*size)
    found |= products(128, 64, 128, batch=(12,))
    found |= products(256, 256, 256, batch=(8,))
    for rows, inner, outer in ((128, 768, 768), (128, 768, 3072)):
        found[f"layers of inputs {rows}x{inner}x{outer}"] = cold_inputs(rows, inner, outer)
    return found


def attentions():
    shapes = ((8, 512, 64, False), (12, 128, 64, False), (20, 1024, 64, False), (32, 2048, 128, True))
    found = {f"attention {h}x{n}x{d}{' causal' * c}": attention(h, n, d, c) for h, n, d, c in shapes}
    return found | {f"attention {h}x{n}x{d}{' causal' * c} bf16": attention(h, n, d, c, BF16, one=1.1, needs=AMX) for h, n, d, c in shapes}


# Every convolution of the models in full_models.py, in their order: how often each occurs, and its channels, height and
# width, outputs, kernel, stride and groups. Each adds its own padding: MobileNetV2's as transformers has it lies at the
# far ends alone where strides are 2, which makes as many places.
CONVOLUTIONS = {
    ("convolutions of ResNet-50", 1.25, 1.15): [
        (1, 3, 224, 64, 7, 2), (1, 64, 56, 64), (3, 64, 56, 64, 3), (4, 64, 56, 256), (2, 256, 56, 64), (1, 256, 56, 128),
        (1, 128, 56, 128, 3, 2), (4, 128, 28, 512), (1, 256, 56, 512, 1, 2), (3, 512, 28, 128), (3, 128, 28, 128, 3), (1, 512, 28, 256),
        (1, 256, 28, 256, 3, 2), (6, 256, 14, 1024), (1, 512, 28, 1024, 1, 2), (5, 1024, 14, 256), (5, 256, 14, 256, 3), (1, 1024, 14, 512),
        (1, 512, 14, 512, 3, 2), (3, 512, 7, 2048), (1, 1024, 14, 2048, 1, 2), (2, 2048, 7, 512), (2, 512, 7, 512, 3)],
    ("convolutions of MobileNetV2", 1.4, 1.15): [
        (1, 3, 224, 32, 3, 2), (1, 32, 112, 32, 3, 1, 32), (1, 32, 112, 16), (1, 16, 112, 96), (1, 96, 112, 96, 3, 2, 96), (1, 96, 56, 24),
        (2, 24, 56, 144), (1, 144, 56, 144, 3, 1, 144), (1, 144, 56, 24), (1, 144, 56, 144, 3, 2, 144), (1, 144, 28, 32), (3, 32, 28, 192),
        (2, 192, 28, 192, 3, 1, 192), (2, 192, 28, 32), (1, 192, 28, 192, 3, 2, 192), (1, 192, 14, 64), (4, 64, 14, 384),
        (4, 384, 14, 384, 3, 1, 384), (3, 384, 14, 64), (1, 384, 14, 96), (3, 96, 14, 576), (2, 576, 14, 576, 3, 1, 576), (2, 576, 14, 96),
        (1, 576, 14, 576, 3, 2, 576), (1, 576, 7, 160), (3, 160, 7, 960), (3, 960, 7, 960, 3, 1, 960), (2, 960, 7, 160), (1, 960, 7, 320),
        (1, 320, 7, 1280)],
}


def convolutions():
    def name(channels, size, outputs, kernel=1, stride=1, groups=1):
        return f"conv {kernel}x{kernel}{f' s{stride}' * (stride > 1)}{' depthwise' * (groups > 1)} {channels}x{size} to {outputs}"
    return {name(*shape): dataclasses.replace(convolution(*shape), sum_of=sums, times=times)
            for sums, shapes in CONVOLUTIONS.items() for times, *shape in shapes}


def rows():
    return {
        "softmax 128": pointwise(lambda: nn.Softmax(-1), 1.3, (128, 128)),
        "softmax 1024": pointwise(lambda: nn.Softmax(-1), 1.3, (1024, 1024)),
        "layer_norm 2048x1280": pointwise(lambda: nn.LayerNorm(1280), 1.2, (2048, 1280)),
        "add, norm, bias, gelu": pointwise(lambda: AddNormGelu(1280), 2.0, (2048, 1280), (2048, 1280)),
        "chain": pointwise(Elementwise, 1.0, (4096, 4096), (4096, 4096), of_row=("copy of as many bytes", 0.95, 0.95)),
        "copy": pointwise(Copy, 0, (4096, 4096)),
        # The chain reads two such inputs: more of a copy of one stays in a large cache.
        "copy of as many bytes": pointwise(Copy, 0, (4096, 6144)),
    }


def training():
    return {
        "BERT-base step 4x128": Workload(bert_step, 1.1, 1.05, trains=True),
        "ResNet-50 step b4": Workload(resnet_step, 1.1, 1.05, trains=True),
        "DLRM step b2048": Workload(dlrm_step, 1.1, 1.05, trains=True),
    }


def workloads():
    """Every workload by its name, which no other one has; those of a group behind each other."""
    table = {}
    for group, found in (("models", models()), *linears(), ("inputs", inputs()), ("attention", attentions()),
                         ("convolutions", convolutions()), ("rows", rows()), ("training", training()), ("precision", precisions())):
        for name, workload in found.items():
            if name in table:
                raise ValueError(f"'{name}' is in the group {table[name].group} and in {group}")
            workload.group = group
            table[name] = workload
    return table


def made(name):
    """A workload, its module, and its inputs: the same in each process."""
    torch.manual_seed(0)
    workload = workloads()[name]
    module, given = workload.make()
    return workload, module.train(workload.trains), given
