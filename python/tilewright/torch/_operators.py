# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels as operators of torch: Kernel.register. In eager PyTorch a call runs the kernel; where a graph is compiled it
is a call of the kernel like any other (docs/calling-kernels.md), and fuses."""
from __future__ import annotations

import atexit
from collections.abc import Callable
from typing import Any

import torch
from torch.fx import Node

from .. import _native
from .._program import check_text
from . import _private
from ..kernel import DType, Kernel, Size, Symbol

SCALARS = {DType.f64: "float", DType.i64: "int", DType.i1: "bool"}
TORCH = {DType.f16: torch.float16, DType.bf16: torch.bfloat16, DType.f32: torch.float32, DType.f64: torch.float64,
         DType.i8: torch.int8, DType.i16: torch.int16, DType.i32: torch.int32, DType.i64: torch.int64,
         DType.u8: torch.uint8, DType.i1: torch.bool}
OURS = {theirs: ours for ours, theirs in TORCH.items()}

# By the operator's name, and by torch's object for it. torch keeps what is registered beyond the interpreter's end, so it
# is given functions that look here.
_registered: dict[Any, Operator] = {}
atexit.register(_registered.clear)


class Saved:
    """What a backward function is given of the call: its arguments, its results, and of which arguments gradients are
    needed."""

    __slots__ = ("inputs", "needs_input_grad", "outputs")

    def __init__(self, inputs: tuple[Any, ...], outputs: tuple[Any, ...], needs: tuple[bool, ...]) -> None:
        self.inputs, self.outputs, self.needs_input_grad = inputs, outputs, needs


class Operator:
    """One registered kernel."""

    def __init__(self, kernel: Kernel, name: str, parameters: dict[str, int]) -> None:
        self.kernel, self.name, self.parameters = kernel, name, parameters
        self.key = tuple(sorted(parameters.items()))
        self.only: Any = None  # the program, where arguments decide nothing
        self.signature = kernel.signature
        self.variables = self.signature.dtype_variables()
        self.written_in_place = [i for i, each in enumerate(self.signature.inputs) if each.kind == "inout"]
        self.backward: Callable[..., Any] | None = None
        self.library: Any = None  # the registrations live as long

    def schema(self) -> str:
        """"softmax(Tensor x, float scale) -> Tensor"."""
        arguments, letters = [], iter("abcdefghijklmnopqrstuvwxyz")
        for each in self.signature.inputs:
            kind = {"in": "Tensor", "symbol": "SymInt"}.get(each.kind) or (
                f"Tensor({next(letters)}!)" if each.kind == "inout" else SCALARS[each.annotation])
            arguments.append(f"{kind} {each.name}")
        results = ["Tensor"] * len(self.signature.outputs)
        gives = results[0] if len(results) == 1 else f"({', '.join(results)})"
        return f"{self.name.partition('::')[2]}({', '.join(arguments)}) -> {gives}"

    def run(self, *args: Any) -> Any:
        """Eager PyTorch's call. Buffers that are written in place may have any strides."""
        if self.only is not None and (not args or _native.gpu_of(args[0]) is None):
            return self.only(*args)
        if not self.written_in_place:
            program = self.kernel._calls.known(args, self.key)
            if program is None:
                return self.kernel(*args, **self.parameters)
            if not self.variables and self.signature.outputs and program.device == "cpu":
                self.only = program
            return program(*args)
        given, copies = [each.resolve_neg() if isinstance(each, torch.Tensor) else each for each in args], []
        for i in self.written_in_place:
            if given[i] is not args[i] or not given[i].is_contiguous():
                given[i] = given[i].contiguous()
                copies.append((args[i], given[i]))
        results = self.kernel(*given, **self.parameters)
        for original, copy in copies:
            original.copy_(copy)
        return results

    # Sizes

    def fake(self, *args: Any) -> Any:
        """The results without their elements, of sizes that may be symbolic. Errors: RuntimeError of _private.check."""
        symbols = self._bind(args)
        dtypes = self._dtypes(args)
        like = next((each for each in args if isinstance(each, torch.Tensor)), None)
        results = []
        for output in self.signature.outputs:
            dtype = TORCH[dtypes.get(getattr(output.dtype, "name", ""), output.dtype)]
            sizes = [_evaluated(size, symbols) for size in output.annotation.shape]
            results.append(torch.empty(sizes, dtype=dtype) if like is None else like.new_empty(sizes, dtype=dtype))
        return None if not results else results[0] if len(results) == 1 else tuple(results)

    def _dtypes(self, args: Any) -> dict[str, Any]:
        """What the dtype variables are, for arguments that are tensors or fake ones."""
        dtypes = {}
        for each, argument in zip(self.signature.inputs, args):
            if getattr(each.dtype, "name", None) in self.variables and isinstance(argument, torch.Tensor):
                dtypes.setdefault(each.dtype.name, OURS.get(argument.dtype))
        return dtypes

    def _bind(self, args: Any) -> dict[str, Any]:
        """The value of each symbol, from the sizes of arguments; what contradicts is refused."""
        values: dict[str, Any] = {name: self.parameters.get(name, default)
                                  for name, default in self.signature.parameters.items()}
        equations, places = [], []
        for each, argument in zip(self.signature.inputs, args):
            if each.kind == "symbol":
                values[each.name] = argument
            elif isinstance(argument, torch.Tensor):
                shape, name = each.annotation.shape, each.name
                _private.check(argument.dim() == len(shape), lambda: f"kernel {self.kernel.name}: argument {name} has "
                             f"{_native.counted(argument.dim(), 'dimension')}, but {len(shape)} "
                             f"{'is' if len(shape) == 1 else 'are'} declared")
                equations += list(zip(shape, argument.shape))
                places += [f"argument {name} dimension {number}" for number in range(len(shape))]
        _solve(self.kernel.name, equations, values)
        for (size, value), place in zip(equations, places):
            wanted = _evaluated(size, values)
            text = f"{size}" if str(wanted) == str(size) else f"{size} = {wanted}"
            _private.check(wanted == value,
                         lambda: f"kernel {self.kernel.name}: {place} is {value}, but must be {text}")  # noqa: B023
        for symbol in self.signature.symbols():
            self._check_range(symbol, values.get(symbol.name))
        return values

    def _check_range(self, symbol: Symbol, value: Any) -> None:
        if value is None:
            return
        def refusal() -> str:
            return (f"kernel {self.kernel.name}: symbol {symbol.name} is {value}, but must be from {symbol.min} to "
                    f"{symbol.max} and a multiple of {symbol.multiple}")
        if symbol.min > 0:
            _private.check(value >= symbol.min, refusal)
        if symbol.max < 2**63 - 1:
            _private.check(value <= symbol.max, refusal)
        if symbol.multiple > 1:
            _private.check(value % symbol.multiple == 0, refusal)

    # Gradients

    def save(self, ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        outputs = output if isinstance(output, tuple) else (output,)
        values = (*inputs, *outputs)
        ctx.save_for_backward(*(each for each in values if isinstance(each, torch.Tensor)))
        ctx.others = [None if isinstance(each, torch.Tensor) else (each,) for each in values]
        ctx.count = len(inputs)

    def differentiate(self, ctx: Any, *gradients: Any) -> Any:
        if self.backward is None:
            _native.refuse("TW-PYTHON-0005", f"the operator {self.name} has no gradients",
                           f"give them: kernel.register(\"{self.name}\", backward=...)")
        tensors = iter(ctx.saved_tensors)
        values = [next(tensors) if other is None else other[0] for other in ctx.others]
        saved = Saved(tuple(values[:ctx.count]), tuple(values[ctx.count:]), tuple(ctx.needs_input_grad))
        return self._checked(self.backward(saved, *gradients), ctx.count)

    def _checked(self, made: Any, count: int) -> tuple[Any, ...]:
        """What the author's function gave, as one for each argument."""
        found = tuple(made) if isinstance(made, (tuple, list)) else (made,) + (None,) * (count - 1)
        advice = f"return one for each argument of {self.kernel.name}, and None for numbers"
        if len(found) != count:
            _native.refuse("TW-PYTHON-0005", f"backward of the operator {self.name} gives "
                           f"{_native.counted(len(found), 'gradient')}, but it has {_native.counted(count, 'argument')}", advice)
        for each, gradient in zip(self.signature.inputs, found):
            if gradient is not None and not isinstance(gradient, torch.Tensor):
                _native.refuse("TW-PYTHON-0005", f"backward of the operator {self.name} gives {_native.shown(gradient)} "
                               f"for {each.name}, which is no tensor", advice)
        return found

    # Graphs

    def arguments(self) -> Any:
        """As the operator's schema has them."""
        library, _, name = self.name.partition("::")
        return _private.schema_of(getattr(getattr(torch.ops, library), name).default).arguments

    def written(self, arguments: list[Any]) -> tuple[str, str, str]:
        """The name of the operator in a graph for the compiler, of its kernel there, and the kernel's text: one of
        each for each choice of dtypes."""
        dtypes = self._dtypes([each.meta.get("val") if isinstance(each, Node) else each for each in arguments])
        suffix = "".join(f"__{dtypes[name].name}" for name in sorted(dtypes))
        library, _, operator = self.name.partition("::")
        name = f"{library}_{operator}{suffix}"
        chosen = {variable: dtypes.get(variable) or choices.choices[0] for variable, choices in self.variables.items()}
        return f"torch.ops.{library}.{operator}{suffix}.default", name, self.kernel._trace(self.parameters, chosen, name)


def find(target: Any) -> Operator | None:
    """The kernel that an operator of a graph is."""
    return _registered.get(target)


def register(kernel: Kernel, name: str, backward: Callable[..., Any] | None, parameters: dict[str, int]) -> Any:
    """See Kernel.register."""
    def refuse(what: str, advice: str) -> None:
        _native.refuse("TW-PYTHON-0005", f"kernel {kernel.name} cannot be registered: {what}", advice)

    check_text("the name of an operator", name)
    if backward is not None and not callable(backward):
        refuse(f"backward is {_native.shown(backward)}", "give a function backward(saved, *gradients)")
    library, _, operator = name.partition("::")
    if not (name.isascii() and library.isidentifier() and operator.isidentifier()):
        refuse(f"\"{name}\" is no name of an operator",
               'say register("mylib::softmax"): torch has ASCII letters, digits and _ in names')
    if library in ("aten", "prim", "prims"):
        refuse(f"the operators of {library} are PyTorch's own", 'give it a library of yours: register("mylib::softmax")')
    if not _private.can_be_operator(library, operator):
        refuse(f"torch.ops.{library}.{operator} cannot be an operator: torch has something else there", "give another name")
    for key in parameters:
        if key not in kernel.signature.parameters:
            refuse(f"it has no parameter {key}", f"it has {', '.join(kernel.signature.parameters) or 'none'}")
    for each in kernel.signature.inputs:
        if each.kind == "scalar" and each.annotation not in SCALARS:
            refuse(f"argument {each.name} is {each.annotation}", "numbers are tk.f64, tk.i64 or tk.i1")
    mutates = any(each.kind == "inout" for each in kernel.signature.inputs)
    if mutates and backward is not None:
        refuse("it writes to an argument, and gradients of such operators do not exist in torch",
               "give it an input and an output")
    made = Operator(kernel, name, parameters)
    made.kernel._trace(parameters, {key: each.choices[0] for key, each in made.variables.items()})  # tells its mistakes
    made.backward = backward
    try:
        made.library = torch.library.Library(library, "FRAGMENT")
        made.library.define(made.schema(), tags=(torch.Tag.pt2_compliant_tag,))
        _connect(name, made.library, mutates)
        packet = getattr(getattr(torch.ops, library), operator)
    except (RuntimeError, ValueError) as error:
        refuse(f"torch refuses the operator {library}::{made.schema()}: {str(error).splitlines()[0]}",
               "give another name, to it or to the argument that torch speaks of")
    _registered[name] = _registered[packet.default] = made
    return packet


def _connect(name: str, library: Any, mutates: bool) -> None:
    """Registers what the operator does."""
    def run(*args: Any) -> Any:
        return _registered[name].run(*args)

    for key in ("CPU", "CUDA"):
        library.impl(name.partition("::")[2], run, key)
    torch.library.register_fake(name, lambda *args: _registered[name].fake(*args), lib=library)
    if mutates:
        _private.leave_negated(library, name)
    else:
        _private.register_autograd(
            library, name, run, lambda ctx, *gradients: _registered[name].differentiate(ctx, *gradients),
            lambda ctx, inputs, output: _registered[name].save(ctx, inputs, output))


def _evaluated(size: Any, values: dict[str, Any]) -> Any:
    return size._evaluate(values) if isinstance(size, Size) else size


def _solve(kernel: str, equations: list[tuple[Any, Any]], values: dict[str, Any]) -> None:
    """Adds the symbols that sizes give to `values`."""
    sizes = [(size, value) for size, value in equations if isinstance(size, Size)]
    for equation, symbol, factor, offset in Size._solve([size for size, _ in sizes], list(values)):
        factor, offset, value = _evaluated(factor, values), _evaluated(offset, values), sizes[equation][1]
        _private.check(factor != 0, lambda: f"kernel {kernel}: symbol {symbol} does not follow from {sizes[equation][0]} = "
                     f"{value}, where its factor is 0")
        values[symbol] = value if (factor, offset) == (1, 0) else (value - offset) // factor


def texts_of(found: dict[str, str]) -> list[tuple[str, str]]:
    """Kernels that a graph calls, as the compiler is given them."""
    return [(f"kernel {name}", text) for name, text in found.items()]

