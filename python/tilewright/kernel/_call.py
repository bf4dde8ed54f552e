# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls of kernels: what is given for which argument, and the programs that were compiled for it."""
from __future__ import annotations

import os

from .. import _cache, _native
from .._device import GPU_TARGETS
from .._native import kernel as _language
from .._program import Program, compiled, in_memory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

    from ._kernel import Kernel

_is_tracing, _plain_dtype_of = _language._is_tracing, _native.plain_dtype_of

LANGUAGE = {"bool": "i1"}  # dtypes that the language calls otherwise than programs


class Call:
    """Arguments by what they are: inputs in order, memory for outputs by name, parameters."""

    __slots__ = ("inputs", "outputs", "parameters")

    def __init__(self, inputs: list[Any], outputs: dict[str, Any], parameters: dict[str, int]) -> None:
        self.inputs, self.outputs, self.parameters = inputs, outputs, parameters


def arrange(kernel: Kernel, args: tuple[Any, ...], named: dict[str, Any]) -> Call:
    """Errors: TW-PYTHON-0003."""
    signature = kernel.signature

    def refuse(what: str) -> NoReturn:
        takes = ", ".join(each.name for each in signature.inputs) or "nothing"
        gives = ", ".join(each.name for each in signature.outputs) or "none"
        _native.refuse("TW-PYTHON-0003", f"kernel {kernel.name}: {what}",
                       f"it takes {takes}; by name alone outputs ({gives}) and parameters "
                       f"({', '.join(signature.parameters) or 'none'})")
        raise AssertionError

    if len(args) > len(signature.inputs):
        refuse(f"it takes {_native.counted(len(signature.inputs), 'argument')}, but {len(args)} "
               f"{'is' if len(args) == 1 else 'are'} given")
    inputs = dict(zip((each.name for each in signature.inputs), args))
    outputs, parameters = {}, {}
    for name, value in named.items():
        if name in inputs:
            refuse(f"argument \"{name}\" is given twice")
        if any(each.name == name for each in signature.inputs):
            inputs[name] = value
        elif any(each.name == name for each in signature.outputs):
            outputs[name] = value
        elif name in signature.parameters:
            parameters[name] = value
        else:
            refuse(f"there is no argument and no parameter \"{name}\"")
    for each in signature.inputs:
        if each.name not in inputs:
            refuse(f"argument \"{each.name}\" is missing")
    return Call([inputs[each.name] for each in signature.inputs], outputs, parameters)


def _choices(variable: _language.DTypeVariable) -> str:
    return ", ".join(each.name for each in variable.choices)


class Calls:
    """The programs of one kernel, by dtypes and parameters."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._programs: dict[Any, Program] = {}
        self._count = len(kernel.signature.inputs)
        variables = kernel.signature.dtype_variables()
        # The inputs whose dtypes decide which program it is: place, dtype variable, and for messages name and declaration.
        self._deciding = [(i, each.dtype.name, each.name, f"{each}, {each.dtype.name} one of {_choices(each.dtype)}")
                          for i, each in enumerate(kernel.signature.inputs)
                          if getattr(each.dtype, "name", None) in variables and each.kind != "symbol"]
        # The first tensor, whose memory decides which device it is.
        self._placing = next((i for i, each in enumerate(kernel.signature.inputs) if each.kind in ("in", "inout")), None)

    def known(self, args: tuple[Any, ...], parameters: tuple[tuple[str, int], ...] = ()) -> Program | None:
        """The program for these inputs and parameters (sorted by name), if there is one yet."""
        if _is_tracing() or len(args) != self._count:
            return None
        if self._deciding:
            parameters = tuple([_plain_dtype_of(args[i]) for i, _, _, _ in self._deciding]) + parameters
        if self._placing is not None and (device := _native.gpu_of(args[self._placing])):
            parameters = (device, *parameters)
        return self._programs.get(parameters)

    def call(self, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
        self._kernel.check_outside()
        call = arrange(self._kernel, args, named)
        return self._program(call)(*call.inputs, **call.outputs)

    def _program(self, call: Call) -> Program:
        key: tuple[Any, ...] = tuple([_native.dtype_of(call.inputs[i], self._kernel.name, name, wanted)
                                      for i, _, name, wanted in self._deciding])
        if call.parameters:
            self._kernel.signature.check_numbers(call.parameters)
            key += tuple(sorted(call.parameters.items()))
        tensors = [*call.inputs[self._placing:][:1]] if self._placing is not None else [*call.outputs.values()]
        device = _native.gpu_of(tensors[0]) if tensors else None
        if device:
            key = (device, *key)
        program = self._programs.get(key)
        if program is None:
            program = compile_kernel(self._kernel, call.parameters, self.dtypes_of(call), device)
            self._programs[key] = program
        return program

    def dtypes_of(self, call: Call) -> dict[str, Any]:
        """What the dtype variables are for these arguments. Errors: TW-PYTHON-0001."""
        variables = self._kernel.signature.dtype_variables()
        chosen: dict[str, tuple[Any, str]] = {}
        for i, name, argument, wanted in self._deciding:
            given = _native.dtype_of(call.inputs[i], self._kernel.name, argument, wanted)
            dtype = next((each for each in variables[name].choices if each.name == LANGUAGE.get(given, given)), None)
            if dtype is None:
                _native.refuse("TW-PYTHON-0001", f"kernel {self._kernel.name}: argument \"{argument}\" has the dtype "
                               f"{given}", f"{name} is one of {_choices(variables[name])}")
            known, other = chosen.setdefault(name, (dtype, argument))
            if known != dtype:
                _native.refuse("TW-PYTHON-0001", f"kernel {self._kernel.name}: argument \"{argument}\" is {dtype.name}, "
                               f"but \"{other}\" is {known.name}", f"both have the dtype {name}: convert one of them")
        return {name: chosen[name][0] if name in chosen else variable.choices[0]
                for name, variable in variables.items()}


def compile_kernel(kernel: Kernel, parameters: dict[str, int], dtypes: dict[str, Any],
                   device: str | None = None) -> Program:
    """A program that calls the kernel, on the CPU or a GPU ("cuda:0"), from the cache on disk or compiled and put there.
    Errors: TW-RUNTIME-0020 for a GPU that there is no target for."""
    text = kernel._trace(parameters, dtypes)
    target = next(iter(GPU_TARGETS.values())) if device else "cpu"
    place = _cache.folder("kernels")
    path = os.path.join(place, f"{_cache.key((kernel.name.encode(), target.encode(), text.encode()))}.so") if place else None
    if path and (known := _cache.load(path, "numpy", threads=-1, device=device)):
        return known
    path, (descriptor, report, _) = _cache.written(path, lambda path: _native.compile(
        "", None, [], [], [(kernel.signature.file, text)], target, path, None, kernel.name,
        key=_cache.name_of(path) if path else None))
    if path:
        return compiled(path, threads=-1, report=report, device=device)
    return in_memory(descriptor, threads=-1, report=report, device=device)
