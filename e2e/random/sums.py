# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reductions, scans, normalisations, contractions, convolutions, losses."""

import torch
from draft import DYNAMIC, Draft, NoFit, Value


def dims(draft: Draft, x: Value) -> str:
    """Some dimensions of `x` as an argument, maybe all."""
    count = draft.rng.randrange(1, x.rank + 1)
    return str(draft.rng.sample(range(x.rank), count))


def reduction(draft: Draft) -> None:
    x = draft.floating()
    keep = draft.choice(["", ", keepdim=True"])
    if x.rank == 0 or draft.chance(0.2):
        draft.assign(f"{x}.{draft.choice(['sum', 'mean', 'prod', 'amax', 'amin', 'std'])}()", [x])
        return
    dim, some = draft.dim(x), dims(draft, x)
    # Where a dimension was expanded, PyTorch's median reads other memory (2.11 and 2.13).
    text = draft.choice(["{x}.sum({s}{k})"] * 3 + ["{x}.mean({s}{k})", "{x}.amax({s}{k})", "{x}.amin({s}{k})",
                        "{x}.prod({d}{k})", "{x}.var({s}{k})", "{x}.std({d}{k}, correction=0)", "{x}.logsumexp({s}{k})",
                        "{x}.norm(dim={s}{k})", "torch.linalg.vector_norm({x}, 1, {s}{k})", "{x}.max({d}{k}).values",
                        "{x}.contiguous().median({d}{k}).values", "{x}.nansum({s}{k})", "torch.var_mean({x}, {s}{k})[1]",
                        "torch.aminmax({x}, dim={d}{k})[0]", "{x}.kthvalue(1, {d}{k}).values"])
    draft.assign(text.format(x=x, s=some, d=dim, k=keep), [x], exact="am" in text)


def whole_reduction(draft: Draft) -> None:
    """Of integers, truths, and positions."""
    x = draft.any(min_rank=1, exact=True)
    dim = draft.dim(x)
    text = draft.choice(["{x}.argmax({d})", "{x}.argmin({d})", "({x} > 0).any({d})", "({x} > 0).all({d})",
                         "({x} != 0).sum({d})", "torch.count_nonzero({x}, {d})"])
    draft.assign(text.format(x=x, d=dim), [x], exact=True)


def integer_sum(draft: Draft) -> None:
    x = draft.integer(min_rank=1)
    draft.assign(f"{x}.{draft.choice(['sum', 'prod', 'amax', 'cumsum'])}({draft.dim(x)})", [x], exact=True)


def scan(draft: Draft) -> None:
    x = draft.floating(min_rank=1)
    text = draft.choice(["{x}.cumsum({d})", "{x}.cumprod({d})", "{x}.cummax({d}).values", "{x}.logcumsumexp({d})",
                         "torch.softmax({x}, {d})", "F.log_softmax({x}, {d})", "F.softmin({x}, {d})",
                         "{x}.sort({d}, stable=True).values", "{x}.topk(1, {d}).values", "torch.diff({x}, dim={d})"])
    draft.assign(text.format(x=x, d=draft.dim(x)), [x])


def normalisation(draft: Draft) -> None:
    x = draft.floating(min_rank=1)
    last = x.shape[-1]
    if draft.is_dynamic(last):
        raise NoFit
    weight = draft.buffer(draft.data((last,), x.dtype))
    text = draft.choice(["F.layer_norm({x}, ({n},))", "F.layer_norm({x}, ({n},), {w}, {w})", "F.normalize({x}, dim=-1)",
                         "F.rms_norm({x}, ({n},), {w})"])
    draft.assign(text.format(x=x, n=last, w=weight), [x])


# -- Contractions.

def product(draft: Draft) -> None:
    """With another value that fits, or with a weight."""
    x = draft.floating(min_rank=1)
    last = x.shape[-1]

    def multiplies(v):
        return v.dtype == x.dtype and v.rank in (1, 2, x.rank) and v.rank and v.shape[-min(2, v.rank)] == last
    try:
        if draft.chance(0.5):
            y = draft.pick(multiplies)
            draft.assign(f"torch.matmul({x}, {y})", [x, y])
            return
    except (NoFit, RuntimeError):
        pass
    if draft.is_dynamic(last) or last == 0:
        raise NoFit
    columns = draft.choice([1, 2, 7, 8, 16, 17, 33])
    weight, bias = (draft.buffer(draft.data(shape, x.dtype)) for shape in ((columns, last), (columns,)))
    text = draft.choice(["F.linear({x}, {w})", "F.linear({x}, {w}, {b})", "{x} @ {w}.T", "torch.matmul({x}, {w}.t()) + {b}",
                         "torch.matmul({x}, {w}[0])"])
    draft.assign(text.format(x=x, w=weight, b=bias), [x])


def einsum(draft: Draft) -> None:
    """Two values whose equal sizes may share a letter; any of the letters stay, in any order."""
    x = draft.floating(min_rank=1)
    y = draft.pick(lambda v: v.dtype == x.dtype and v.rank >= 1)
    if x.rank + y.rank > 6:
        raise NoFit
    left, right = list("ijklm"[:x.rank]), list("pqrst"[:y.rank])
    for at, size in enumerate(y.shape):
        same = [left[d] for d in range(x.rank) if x.shape[d] == size and left[d] not in right]
        if same and draft.chance(0.7):
            right[at] = draft.choice(same)
    letters = sorted(set(left + right))
    kept = draft.rng.sample(letters, draft.rng.randrange(1, len(letters) + 1))
    if draft.extreme:  # whether what only one operand has is summed before the product decides what is NaN
        kept += [letter for letter in letters if (left + right).count(letter) == 1 and letter not in kept]
    draft.assign(f"torch.einsum('{''.join(left)},{''.join(right)}->{''.join(kept)}', {x}, {y})", [x, y])


def outer(draft: Draft) -> None:
    x, y = draft.floating(), draft.floating()
    draft.assign(f"torch.outer({x}.flatten(), {y}.flatten())", [x, y])


def gram(draft: Draft) -> None:
    x = draft.floating(min_rank=2)
    draft.assign(draft.choice([f"{x} @ {x}.mT", f"{x}.mT @ {x}", f"torch.cdist({x}, {x})"]), [x])


def attention(draft: Draft) -> None:
    x = draft.floating(min_rank=2, nonempty=True)
    if x.rank > 4 or not x.tensor.isfinite().all():  # with others PyTorch's own implementations differ
        raise NoFit
    causal = draft.choice(["", ", is_causal=True"])
    finite = f"{x}.nan_to_num()" if draft.dynamic else x  # other calls have other numbers
    draft.assign(f"F.scaled_dot_product_attention({finite}, {finite} * 0.5, {finite}{causal})", [x])


def convolution(draft: Draft) -> None:
    x = draft.pick(lambda v: v.is_float and v.rank in (3, 4) and v.shape[1] not in (0, DYNAMIC) and v.shape[0])
    spatial = x.rank - 2
    if any(size < 3 or draft.is_dynamic(size) for size in x.shape[2:]):
        raise NoFit
    options = [f"F.avg_pool{spatial}d({x}, 2)", f"F.max_pool{spatial}d({x}, 3, stride=2, padding=1)",
               f"F.interpolate({x}, scale_factor=2)"]
    for stride, padding in ((1, 0), (2, 0 if draft.extreme else 1)):  # is the border 0 times infinity?
        weight = draft.buffer(draft.data((draft.choice([1, 2, 8, 17]), x.shape[1], *[3] * spatial), x.dtype))
        options += [f"F.conv{spatial}d({x}, {weight}, stride={stride}, padding={padding})"] * 2
    draft.assign(draft.choice(options), [x])


def loss(draft: Draft) -> None:
    x = draft.floating(min_rank=2)
    if draft.is_dynamic(x.shape[1]) or draft.is_dynamic(x.shape[0]) or not x.tensor.numel():
        raise NoFit
    shape = (x.shape[0], *x.shape[2:])
    target = draft.buffer(torch.randint(0, x.shape[1], shape, generator=draft.noise))
    reduce = draft.choice(["mean", "sum", "none"])
    text = draft.choice(["F.nll_loss({x}, {t}, reduction='{r}')", "F.cross_entropy({x}, {t}, reduction='{r}')",
                         "F.nll_loss({x}, {t}, ignore_index=0, reduction='{r}')", "F.mse_loss({x}, {x} * 2, reduction='{r}')",
                         "F.smooth_l1_loss({x}, {x} + 1, reduction='{r}')", "F.cosine_similarity({x}, {x} + 1, dim=1)"])
    draft.assign(text.format(x=x, t=target, r=reduce), [x])


TEMPLATES = {reduction: 9, whole_reduction: 3, integer_sum: 2, scan: 4, normalisation: 3, product: 5, einsum: 5,
             outer: 1, gram: 2, attention: 1, convolution: 3, loss: 3}
