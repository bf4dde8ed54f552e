# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The random model of a seed: its source, its module, its exported program, its calls."""

import itertools

import elementwise
import movement
import sums
import torch
from draft import DYNAMIC, FLOATS, Draft, NoFit
from torch import nn
from torch.nn import functional as F

TEMPLATES = elementwise.TEMPLATES | movement.TEMPLATES | sums.TEMPLATES
OTHER_SIZES = (2, 3, 5, 16, 33)


class Module(nn.Module):
    def __init__(self, buffers: dict):
        super().__init__()
        for name, tensor in buffers.items():
            self.register_buffer(name, tensor)


class Model:
    """`source` is the text of forward(); `module` and `program` are what it makes."""

    def __init__(self, seed: int):
        self.seed = seed
        self.draft = draft(seed)
        self.source = source_of(self.draft)
        scope = {"torch": torch, "F": F}
        exec(self.source, scope)  # this module's own text
        # A class of its own: export asks for the signature of forward.
        kind = type("Program", (Module,), {"forward": scope["forward"]})
        self.module = kind(self.draft.buffers)
        self.decomposed = self.draft.chance(0.3)

    def export(self) -> torch.export.ExportedProgram:
        """With dynamic sizes where they are wanted; export fixes those that the program needs fixed."""
        inputs = tuple(self.draft.inputs.values())
        auto = torch.export.Dim.AUTO
        shapes = tuple({d: auto for d, size in enumerate(x.shape) if self.draft.is_dynamic(size)} for x in inputs)
        program = torch.export.export(self.module, inputs, dynamic_shapes=shapes)
        return program.run_decompositions() if self.decomposed else program

    def calls(self, program: torch.export.ExportedProgram) -> list[list[torch.Tensor]]:
        """Inputs of the calls: with a dynamic size also for some others of it."""
        given = list(self.draft.inputs.values())
        names = set(program.graph_signature.user_inputs)
        shapes = [node.meta["val"].shape for node in program.graph.nodes if node.op == "placeholder" and node.name in names]
        calls = [[x.clone() for x in given]]
        if not any(is_open(size) for shape in shapes for size in shape):
            return calls
        allowed = [size for size in OTHER_SIZES
                   if all(span.lower <= size <= span.upper for span in program.range_constraints.values())]
        for size in self.draft.rng.sample(allowed, min(2, len(allowed))):
            calls.append([self.draft.data([size if is_open(d) else int(d) for d in shape], x.dtype)
                          for shape, x in zip(shapes, given)])
        return calls


def is_open(size) -> bool:
    """Whether the exported program takes other sizes than the one it was drawn with."""
    return isinstance(size, torch.SymInt) and size.node.maybe_as_int() is None


def draft(seed: int) -> Draft:
    rng_flags = torch.Generator().manual_seed(seed)
    kinds = torch.rand(2, generator=rng_flags)
    made = Draft(seed, dynamic=bool(kinds[0] < 0.2), extreme=bool(kinds[1] < 0.2))
    for _ in range(made.rng.randrange(1, 5)):
        shape = made.shape()
        if made.dynamic and shape:
            shape[made.rng.randrange(len(shape))] = DYNAMIC
        made.add_input(shape, made.dtype())
    if not any(value.is_float for value in made.values):
        made.add_input([made.choice([1, 3, 8, 17])] * made.rng.randrange(3), made.choice(FLOATS))
    if made.dynamic and not any(DYNAMIC in value.shape for value in made.values):
        made.add_input([DYNAMIC, 4], torch.float32)
    wanted, names, weights = made.rng.randrange(5, 41), list(TEMPLATES), list(TEMPLATES.values())
    for _ in range(20 * wanted):
        if len(made.lines) >= wanted:
            break
        try:
            made.rng.choices(names, weights)[0](made)
        except (NoFit, RuntimeError, IndexError, TypeError, ValueError, NotImplementedError):
            continue
    return made


def source_of(made: Draft) -> str:
    """forward() with everything that nothing reads as a result, and one value more."""
    own = [value for value in made.values if value.name.startswith("v")]
    results = [value.name for value in own if not value.is_read]
    results += [value.name for value in made.rng.sample(own, min(len(own), 1)) if value.name not in results]
    arguments = "".join(f", {name}" for name in made.inputs)
    body = itertools.chain(made.lines, [f"return ({''.join(f'{name}, ' for name in results)})"])
    return f"def forward(self{arguments}):\n" + "".join(f"    {line}\n" for line in body)
