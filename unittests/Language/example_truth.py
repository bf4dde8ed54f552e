#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes ExampleTruth.inc: inputs of the kernels of examples/kernels, and PyTorch's results.

Needs torch; run it in this folder when a case is added. Sizes lie around the blocks that the
bindings ask for, so that loops have several trips and blocks stand out over the edge.
"""
import itertools
import torch
import torch.nn.functional as F

torch.manual_seed(0)
OUT = open("ExampleTruth.inc", "w")


def values(tensor, digits):
    return ",".join(f"{v:.{digits}g}" for v in tensor.flatten().tolist())


def spec(given):
    if not isinstance(given, torch.Tensor):
        return f"f64={given}"
    sizes = "".join(f"{n}x" for n in given.shape)
    return f"{sizes}f32={values(given, 7)}"


def random(*sizes):
    return (torch.randn(sizes) * 64).round() / 64


def case(kernel, bindings, inputs, result):
    pairs = ", ".join(f'{{"{name}", {value}}}' for name, value in bindings.items())
    specs = ",\n     ".join(f'"{spec(given)}"' for given in inputs)
    OUT.write(f'{{"{kernel}",\n    {{{pairs}}},\n    {{{specs}}},\n    "{values(result, 9)}"}},\n')


def attention(q, k, v, scale, causal):
    scores = scale * (q.double() @ k.double().transpose(1, 2))
    if causal:
        scores = scores.masked_fill(~torch.ones(scores.shape[1:], dtype=torch.bool).tril(), -torch.inf)
    return F.softmax(scores, -1).nan_to_num(0) @ v.double()


OUT.write("// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception\n"
          "// Made by example_truth.py: kernel, bindings, inputs, PyTorch's result.\n")

for m, n in ((3, 7), (1, 1), (2, 0)):
    x = random(m, n)
    case("softmax", {}, [x], F.softmax(x, 1))

for m, n, k in ((5, 7, 9), (4, 4, 8), (1, 1, 1), (3, 2, 0)):
    a, b = random(m, k), random(n, k)
    case("gemm", {"BM": 4, "BN": 4, "BK": 4}, [a, b], a @ b.T)

for (h, m, n, d), causal in itertools.product(((2, 5, 7, 3), (1, 4, 9, 4), (1, 5, 2, 3), (1, 2, 0, 2)),
                                              (False, True)):
    q, k, v = random(h, m, d), random(h, n, d), random(h, n, d)
    case("causal_flash_attention" if causal else "flash_attention", {"BM": 2, "BN": 3}, [q, k, v, 0.5],
         attention(q, k, v, 0.5, causal))

x, weight, bias = random(3, 10), random(10), random(10)
case("layer_norm", {}, [x, weight, bias, 1e-5], F.layer_norm(x, (10,), weight, bias))

for number, activation in enumerate((torch.sigmoid, torch.relu, torch.tanh)):
    x, a, bias = random(5, 6), random(5, 6), random(6)
    case("add_mul_activation", {"BM": 2, "BN": 4, "ACTIVATION": number}, [x, a, bias, 1.5],
         activation(1.5 * a + x + bias))

for b, f, d in ((2, 5, 3), (3, 1, 2)):
    x = random(b, f, d)
    i, j = torch.tril_indices(f, f, offset=-1)
    case("dlrm_interaction", {}, [x], torch.cat([x[:, 0], (x @ x.transpose(1, 2))[:, i, j]], 1))

x, w, bias, a, b = random(5, 6), random(7, 6), random(7), random(2, 6), random(7, 2)
case("lora", {"BM": 4, "BN": 4, "BK": 4}, [x, w, bias, a, b, 0.25],
     torch.relu(F.linear(x, w, bias) + 0.25 * (x @ a.T) @ b.T))

x, w1, b1, w2, b2 = random(5, 6), random(6, 9), random(9), random(9, 2), random(2)
case("mlp", {"BM": 4, "BH": 4, "BK": 4}, [x, w1, b1, w2, b2],
     torch.sigmoid(torch.relu(x @ w1 + b1) @ w2 + b2))

for h, n, d in ((2, 7, 3), (1, 0, 2)):
    q, k, v = random(h, d), random(h, n, d), random(h, n, d)
    case("decode_attention", {"H": h, "D": d, "BN": 3}, [q, k, v, 0.5],
         attention(q[:, None], k, v, 0.5, False)[:, 0])
