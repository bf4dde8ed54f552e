# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operators that move elements: views, joins, indices, writes in place."""

import torch
from draft import Draft, NoFit, Value


def move(draft: Draft, x: Value, text: str) -> None:
    draft.assign(text, [x], exact=True)


def permuted(draft: Draft) -> None:
    x = draft.any(min_rank=1)
    order = draft.rng.sample(range(x.rank), x.rank)
    a, b = draft.dim(x), draft.dim(x)
    move(draft, x, draft.choice([f"{x}.permute({order})", f"{x}.transpose({a}, {b})", f"{x}.movedim({a}, {b})",
                                 f"{x}.flip({a})", f"torch.roll({x}, {draft.rng.randrange(-5, 6)}, {a})"]))


def reshaped(draft: Draft) -> None:
    x = draft.any()
    options = [f"{x}.flatten()", f"{x}.unsqueeze({draft.rng.randrange(x.rank + 1)})", f"{x}.reshape(-1)",
               f"{x}.contiguous()"]
    if x.rank > 1:
        at = draft.rng.randrange(x.rank - 1)
        options += [f"{x}.flatten({at}, {at + 1})"] * 3
    for dim in range(x.rank):
        if x.shape[dim] == 1:
            options += [f"{x}.squeeze({dim})"] * 2
        if x.shape[dim] > 1 and not draft.is_dynamic(x.shape[dim]):
            for part in (2, 3, 5):
                if x.shape[dim] % part == 0:
                    options.append(f"{x}.unflatten({dim}, ({part}, {x.shape[dim] // part}))")
    move(draft, x, draft.choice(options))


def expanded(draft: Draft) -> None:
    x = draft.any()
    sizes = ["4" if size == 1 and draft.chance(0.7) else "-1" for size in x.shape]
    lead = ["3"] if draft.chance(0.5) else []
    move(draft, x, draft.choice([f"{x}.expand({', '.join(lead + sizes) or 2})", f"{x}.repeat({[2] * x.rank})",
                                 f"torch.tile({x}, (2,))", f"{x}.repeat_interleave(2, {draft.dim(x)})"]))


def sliced(draft: Draft) -> None:
    x = draft.any(min_rank=1)
    dim = draft.rng.randrange(x.rank)
    before = ":, " * dim
    size = x.shape[dim]
    if size == 0:
        raise NoFit
    low = draft.rng.randrange(size)
    options = [f"{x}[{before}::2]", f"{x}[{before}1:]", f"{x}[{before}:-1]", f"{x}[..., None]",
               f"{x}[{before}{draft.rng.randrange(-1, 1)}]"]
    if not draft.is_dynamic(size):
        options += [f"{x}[{before}{low}:{low + draft.rng.randrange(1, 9)}]", f"{x}.select({dim}, {low})",
                    f"{x}.narrow({dim}, {low}, {min(size - low, 2)})", f"torch.chunk({x}, 2, {dim})[0]",
                    f"{x}.unfold({dim}, {min(size, 3)}, {draft.choice([1, 2])})"]
    if x.rank > 1:
        options += [f"{x}.diagonal(0, {dim}, {(dim + 1) % x.rank})", f"torch.tril({x})", f"torch.triu({x}, 1)"]
    move(draft, x, draft.choice(options))


def joined(draft: Draft) -> None:
    x = draft.any(min_rank=1)
    y = draft.pick(lambda v: v.shape == x.shape and v.dtype == x.dtype)
    dim = draft.dim(x)
    text = draft.choice([f"torch.cat([{x}, {y}], {dim})", f"torch.stack([{x}, {y}, {x}], {dim})",
                         f"torch.cat([{x}, {y}[:1], {x}], 0)"])
    draft.assign(text, [x, y], exact=True)


def padded(draft: Draft) -> None:
    x = draft.floating(min_rank=1)
    pads = [draft.rng.randrange(-1, 3), draft.rng.randrange(3)]
    text = f"F.pad({x}, {pads}, value={draft.number()})"
    if x.rank in (2, 3) and x.shape[-1] > 3 and not draft.is_dynamic(x.shape[-1]) and draft.chance(0.5):
        text = f"F.pad({x}, [1, 2], mode='{draft.choice(['reflect', 'replicate', 'circular'])}')"
    move(draft, x, text)


# -- Indices.

def indices(draft: Draft, size: int, count: int, unique: bool = False) -> str:
    """Positions below `size` as a buffer; negative ones and duplicates unless they shall be `unique`."""
    if size == 0:
        raise NoFit
    if unique:
        return draft.buffer(torch.randperm(size, generator=draft.noise)[:count])
    return draft.buffer(torch.randint(-size, size, (count,), generator=draft.noise))


def looked_up(draft: Draft) -> None:
    x = draft.any(min_rank=1)
    dim = draft.static_dim(x)
    size = x.shape[dim]
    before = ":, " * dim
    some = indices(draft, size, draft.choice([1, 2, 5, 16]))
    options = [f"{x}[{before}{some}]", f"{x}.index_select({dim}, {some}.abs() % {size})",
               f"torch.take_along_dim({x}, {some}.abs().view({[1] * dim + [-1] + [1] * (x.rank - dim - 1)}) % {size}, {dim})",
               f"{x}[{before}{some}.unsqueeze(0)]"]
    if x.rank > 1 and dim == 0 and not draft.is_dynamic(x.shape[1]):
        options.append(f"{x}[{some}, {some} % {max(1, x.shape[1])}]")
    move(draft, x, draft.choice(options))


def looked_up_by_value(draft: Draft) -> None:
    x = draft.any(min_rank=1)
    at = draft.pick(lambda v: v.dtype in (torch.int64, torch.int32) and v.exact and v.tensor.numel() <= 64)
    if x.shape[0] == 0:
        raise NoFit
    draft.assign(f"{x}[{at} % {draft.size(x, 0)}]", [x, at], exact=True)


def written(draft: Draft) -> None:
    """Sums into places that may come several times, sets of places that do not."""
    x = draft.floating(min_rank=1)
    dim = draft.static_dim(x)
    count = draft.choice([1, 2, 5])
    source = f"{x}.narrow({dim}, 0, 1).repeat_interleave({count}, {dim}) * 2"
    some, distinct = indices(draft, x.shape[dim], count), indices(draft, x.shape[dim], count, unique=True)
    text = draft.choice([f"{x}.index_add({dim}, {some} % {x.shape[dim]}, {source})",
                         f"{x}.index_fill({dim}, {distinct}, 3)",
                         f"torch.index_put({x}, ({some},), {x}[{some}] + 1, accumulate=True)" if dim == 0 else "",
                         f"{x}.index_copy({dim}, {distinct}, {x}.index_select({dim}, {distinct}) * 3)",
                         f"torch.zeros_like({x}).scatter_add({dim}, ({x} > 9).long(), {x})"])
    if not text:
        raise NoFit
    draft.assign(text, [x])


# -- In place.

def in_place(draft: Draft) -> None:
    """A copy, changed through itself or through a view of it."""
    x = draft.floating()
    updates = ["{0}.mul_(2)", "{0}.add_(1)", "{0}.relu_()", "{0}.zero_()", "{0}.clamp_(-1, 1)", "{0}.neg_()", "{0}.fill_(4)"]
    targets = ["{0}"]
    if x.rank:
        targets += ["{0}[:1]", "{0}[1:]", "{0}[..., ::2]", "{0}[..., 0]" if x.shape[-1] else "{0}", "{0}.flatten(0)[:2]"]
    if x.rank > 1:
        targets += ["{0}.transpose(0, 1)", "{0}[:, :1]", "{0}[0]" if x.shape[0] else "{0}"]
    statements = [draft.choice(updates).replace("{0}", draft.choice(targets)) for _ in range(draft.rng.randrange(1, 4))]
    draft.assign(f"{x}.clone()", [x], statements=statements)


def assigned(draft: Draft) -> None:
    """A slice of a copy gets other values."""
    x = draft.floating(min_rank=1)
    step = draft.choice([1, 2])
    statement = draft.choice([f"{{0}}[::{step}] = {x}[::{step}] * 2", f"{{0}}[..., :1] = {draft.number()}",
                              f"{{0}}[-1:].copy_({x}[:1])", f"{{0}}[1:] += {x}[:-1]"])
    draft.assign(f"{x}.clone()", [x], statements=[statement])


TEMPLATES = {permuted: 5, reshaped: 6, expanded: 3, sliced: 6, joined: 4, padded: 2, looked_up: 5,
             looked_up_by_value: 3, written: 4, in_place: 3, assigned: 3}
