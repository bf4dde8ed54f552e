# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""tilewright.compile."""
from __future__ import annotations

import os
from collections.abc import Iterable

from . import _native
from ._device import is_for_gpu
from ._program import Program, Report, check_precision, check_text, check_threads, in_memory, path_text, read_report

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from .kernel import Kernel


def compile(model: Any, example_inputs: tuple[Any, ...] | dict[str, Any] | None = None, *,  # noqa: A001
            dynamic_shapes: Any = None, target: str = "cpu", kernels: Sequence[str | os.PathLike[str] | Kernel] = (),
            threads: int = 0, dump_to: str | os.PathLike[str] | None = None, device: str | None = None,
            precision: str = "f32") -> Program:
    """Compiles a model to a Program in memory; Program.save writes it to a file.

    model: a torch.nn.Module, which is exported with example_inputs (a tuple of arguments, or a dict by
    name) and dynamic_shapes, as torch.export.export takes them; or a torch.export.ExportedProgram; or
    the path of a .pt2 or .mlir file. Its weights are read where they are and written to no file.
    target: "cpu", "cpu:NAME" (a CPU as LLVM calls it), "nvidia:sm_90a" or "reference". kernels:
    hand-written kernels that the model calls (docs/calling-kernels.md): paths of .cpp, .so and .mlir
    files, texts of the tile dialect, or functions with @tk.kernel, with their parameters' defaults. threads: of each call; 0 for all cores. dump_to: a folder that
    gets the IR after every stage. device: where the program is loaded: "cpu", "cuda" or "cuda:N"; None
    for the first that the target is for. To compile for a device that this machine has not, see
    compile_to_file. precision: of products of f32, "f32"; "bf16", to which what is multiplied is rounded; or
    "tf32" where the target has it, a mantissa of 10 bits.

    Errors: TW-PYTHON-0007 (no model, or torch.export cannot export it: the cause is chained),
    TW-IMPORT-* and TW-LOWER-* (what the compiler does not take; all unsupported operators are listed
    with their lines), TW-KERNEL-*, TW-PYTHON-0005 (the options), TW-DRIVER-0002 and 0003 (there is no
    such target, or it has not this precision), TW-CLI-0007 (no compiler is installed), TW-RUNTIME-0008 and
    0020 (there is no such device, or not of this kind).
    """
    check_threads(threads)
    if device is not None:
        check_text("device", device)
    descriptor, report, library, files = _compiled(model, example_inputs, dynamic_shapes, target, kernels, dump_to, None,
                                                   precision)
    return in_memory(descriptor, threads=threads, library=library, report=report, compiled_from=files, device=device)


def compile_to_file(model: Any, path: str | os.PathLike[str],
                    example_inputs: tuple[Any, ...] | dict[str, Any] | None = None, *, dynamic_shapes: Any = None,
                    target: str = "cpu", kernels: Sequence[str | os.PathLike[str] | Kernel] = (),
                    dump_to: str | os.PathLike[str] | None = None, precision: str = "f32") -> Report:
    """Compiles a model as `compile` does, and writes the artifact to `path` without loading it: for a machine with
    another CPU than this one, or a GPU. tilewright.load loads it there. Gives the report. Errors: as of `compile`;
    TW-IO-* when the file cannot be written.
    """
    _, report, _, _ = _compiled(model, example_inputs, dynamic_shapes, target, kernels, dump_to,
                                path_text("the path", path), precision)
    return read_report(report)


def _compiled(model: Any, example_inputs: Any, dynamic_shapes: Any, target: str, kernels: Any, dump_to: Any,
              output: str | None, precision: str) -> tuple[int, str, str, list[str]]:
    """The artifact's descriptor, or -1 where it is written to `output`; its report; whose arrays its results are; and
    the files that it was made of."""
    dump_to = None if dump_to is None else path_text("dump_to", dump_to)
    paths, texts = split_kernels(kernels)
    check_text("target", target)
    check_precision(precision)
    json, weights, library = None, [], "torch"
    keep: Any = None  # owns the weights' memory
    if isinstance(model, (str, os.PathLike)):
        if example_inputs is not None or dynamic_shapes is not None:
            _native.refuse("TW-PYTHON-0005", "example_inputs or dynamic_shapes are given with a file",
                           "a file says itself what it takes: leave them out")
        name, library = path_text("the path of the model", model), "numpy"
    else:
        from .torch import _exported

        exported = _exported.export(model, example_inputs, dynamic_shapes)
        name, json, weights, registered, keep = _exported.serialize(exported, type(model).__name__, is_for_gpu(target))
        texts += registered
    descriptor, report, _ = _native.compile(name, json, weights, paths, texts, target, output, dump_to,
                                            precision=precision)
    del keep
    return descriptor, report, library, [*paths, *([name] if json is None else [])]


def split_kernels(kernels: Sequence[str | os.PathLike[str] | Kernel]) -> tuple[list[str], list[tuple[str, str]]]:
    """The paths, and the texts with a name for each: a text is what holds a line end, or what a kernel in Python
    becomes."""
    if isinstance(kernels, (str, os.PathLike)) or not isinstance(kernels, Iterable):
        _native.refuse("TW-PYTHON-0005", f"kernels is {_native.shown(kernels)}", "give a list: kernels=[...]")
    paths, texts = [], []
    for kernel in kernels:
        if isinstance(kernel, str) and "\n" in kernel:
            check_text("a kernel", kernel)
            texts.append((f"kernel text {len(texts) + 1}", kernel))
        elif isinstance(kernel, (str, os.PathLike)):
            paths.append(path_text("the path of a kernel", kernel))
        else:
            texts.append(_traced(kernel))
    return paths, texts


def _traced(kernel: Any) -> tuple[str, str]:
    """The file and the text of a kernel in Python."""
    from .kernel import Kernel

    if not isinstance(kernel, Kernel):
        _native.refuse("TW-PYTHON-0005", f"a kernel is {_native.described(kernel)}",
                       "give paths of .cpp, .so and .mlir files, texts of the tile dialect, or functions with @tk.kernel")
    for name, variable in kernel.signature.dtype_variables().items():
        if len(variable.choices) > 1:
            _native.refuse("TW-PYTHON-0005", f"kernel {kernel.name} is for several dtypes {name}",
                           f"give its text for the one that the model has, {kernel.name}.text({name}=tk."
                           f"{variable.choices[0].name}), or make it an operator: {kernel.name}.register(\"lib::name\")")
    return kernel.signature.file, kernel.text()
