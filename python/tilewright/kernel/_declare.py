# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a kernel is called with, as annotations of a function say it."""
from __future__ import annotations

import inspect
from numbers import Integral
from operator import index

from .._native import KernelError, escaped, shown
from .._native import kernel as _language

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType
    from typing import Any

__all__ = ["Annotation", "Argument", "Filled", "In", "InOut", "Out", "Signature", "dtype", "filled", "symbols"]


def symbols(names: str) -> list[_language.Symbol]:
    """Several symbols at once: M, N = tk.symbols("M N")."""
    if not isinstance(names, str) or not names.split():
        _language._fail(f"{shown(names)} are no names of symbols", 'say M, N = tk.symbols("M N")')
    return [_language.symbol(name) for name in names.split()]


class Filled:
    """What the elements of an output are before any program runs."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


def filled(value: Any) -> Filled:
    """Last in the brackets of an output: it holds `value` before any program runs, tk.Out[tk.f32, M, N, tk.filled(0)]."""
    return Filled(value)


class Annotation:
    """A buffer: how it is used, its dtype, its shape, and for outputs what it is filled with before."""

    __slots__ = ("access", "dtype", "init", "shape")

    def __init__(self, access: str, dtype: Any, shape: tuple[Any, ...], init: Any = None) -> None:
        self.access, self.dtype, self.shape, self.init = access, dtype, shape, init

    def __repr__(self) -> str:
        return f"{self.access} {self.dtype}{list(self.shape)}"


class _Access:
    """tk.In, tk.Out or tk.InOut: with [dtype, sizes...] an annotation."""

    def __init__(self, access: str) -> None:
        self._access = access

    def __getitem__(self, items: Any) -> Annotation:
        dtype, *shape = items if isinstance(items, tuple) and items else (items,)
        init = None
        if shape and isinstance(shape[-1], Filled):
            init = shape.pop().value
            if self._access != "out":
                _language._fail("only outputs are filled", "an input has the caller's values")
        if len(shape) == 1 and isinstance(shape[0], tuple) and not shape[0]:
            shape = []
        return Annotation(self._access, dtype, tuple(shape), init)


if TYPE_CHECKING:
    # What these are to type checkers. tk.In[tk.f32, M, N] is Annotated[tk.f32, M, N]: the stubs have a type for each dtype,
    # and nobody asks what kind of things the sizes are. A dtype variable is an alias of the union of its dtypes.
    from typing import Annotated as In
    from typing import Annotated as InOut
    from typing import Annotated as Out

    from typing_extensions import TypeAliasType as dtype
else:
    In, Out, InOut = _Access("in"), _Access("out"), _Access("inout")

    def dtype(name: str, *choices: _language.DType | tuple[_language.DType, ...]) -> _language.DTypeVariable:
        """A dtype that the tensors of each call choose: T = tk.dtype("T", tk.f32 | tk.bf16)."""
        every = [one for each in choices for one in (each if isinstance(each, tuple) else (each,))]
        if not every or not all(isinstance(each, _language.DType) for each in every):
            _language._fail(f"the dtype variable {name} has no dtypes to choose from",
                            'say T = tk.dtype("T", tk.f32 | tk.bf16)')
        return _language.DTypeVariable(name, every)


class Argument:
    """One argument of a kernel. kind: "in", "out", "inout", "scalar", or "symbol" for one that brings a symbol."""

    __slots__ = ("annotation", "kind", "name")

    def __init__(self, name: str, kind: str, annotation: Any) -> None:
        self.name, self.kind, self.annotation = name, kind, annotation

    @property
    def dtype(self) -> Any:
        return self.annotation.dtype if isinstance(self.annotation, Annotation) else self.annotation

    def __str__(self) -> str:
        """What it is declared as: "f32[M, N]"; of a number its dtype or symbol."""
        name = getattr(self.dtype, "name", self.dtype)
        return f"{name}[{', '.join(map(str, self.annotation.shape))}]" if isinstance(self.annotation, Annotation) else name


class Signature:
    """The arguments and parameters of a kernel, from its function's annotations; every mistake in them is told
    when the kernel is declared."""

    def __init__(self, function: Callable[..., Any], frame: FrameType | None) -> None:
        if what := _no_kernel(function):
            _language._fail(f"{what} is no kernel", "a kernel is a plain function of Python, without yield and await: put "
                            "@tk.kernel in the line before it")
        code = function.__code__
        self.file, self.line = escaped(code.co_filename), code.co_firstlineno
        self.arguments: list[Argument] = []
        self.parameters: dict[str, int] = {}
        annotations = self._annotations(function, frame)
        for parameter in inspect.signature(function).parameters.values():
            if parameter.kind is parameter.KEYWORD_ONLY:
                self.parameters[parameter.name] = self._default(parameter)
            elif parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                self.fail(f"a kernel has no *{parameter.name}", "name each argument")
            else:
                self.arguments.append(self._argument(parameter, annotations))
        self.inputs = [each for each in self.arguments if each.kind != "out"]
        self.outputs = [each for each in self.arguments if each.kind == "out"]

    def fail(self, message: str, advice: str) -> None:
        """A mistake in the definition."""
        _language._fail(message, advice, self.file, self.line)

    def _annotations(self, function: Callable[..., Any], frame: FrameType | None) -> dict[str, Any]:
        """Evaluated where they are texts, with the names that the function sees, and those around it."""
        raw = inspect.get_annotations(function)
        if not any(isinstance(each, str) for each in raw.values()):
            return raw
        names = dict(frame.f_locals) if frame else {}
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
            try:
                names[name] = cell.cell_contents
            except ValueError:  # not assigned yet
                continue
        evaluated = {}
        for name, text in raw.items():
            try:
                evaluated[name] = eval(text, function.__globals__, names) if isinstance(text, str) else text
            except KernelError:
                raise
            except Exception as error:
                self.fail(f"the annotation of {name}, {shown(text)}, cannot be evaluated: {error}",
                          "name what it says at the level of the module, or leave out "
                          "`from __future__ import annotations`")
        return evaluated

    def _default(self, parameter: inspect.Parameter) -> int:
        value = _integer(parameter.default)
        if value is None:
            given = "no value" if parameter.default is parameter.empty else shown(parameter.default)
            self.fail(f"parameter {parameter.name} has {given} by default",
                      f"the configuration of a kernel is 64-bit integers and bools: *, {parameter.name}=32")
            raise AssertionError
        return value

    def _argument(self, parameter: inspect.Parameter, annotations: dict[str, Any]) -> Argument:
        name, given = parameter.name, annotations.get(parameter.name)
        if isinstance(given, Annotation) and given.dtype is _language.Symbol:
            given = self._symbol_of(name, given)
        if parameter.default is not parameter.empty:
            self.fail(f"argument {name} has a default", "configuration stands behind a *: def kernel(x: ..., *, BM=32)")
        if isinstance(given, Annotation):
            kind = given.access
            if not isinstance(given.dtype, (_language.DType, _language.DTypeVariable)):
                self.fail(f"argument {name}: {shown(given.dtype)} is no dtype", "the dtype comes first: tk.In[tk.f32, M, N]")
            for size in given.shape:
                if isinstance(size, bool) or not isinstance(size, (Integral, _language.Size)):
                    self.fail(f"argument {name}: {shown(size)} is no size",
                              'symbols gives several: N, = tk.symbols("N") is one' if isinstance(size, (list, tuple)) else
                              "sizes are symbols, integers, and what is made of these")
        elif isinstance(given, _language.Symbol):
            kind = "symbol"
            if given.name != name:
                self.fail(f"argument {name} brings the symbol {given.name}, but is not called so",
                          f"call it {given.name}")
        elif isinstance(given, (_language.DType, _language.DTypeVariable)):
            kind = "scalar"
        else:
            what = "has no annotation" if given is None else f"has the annotation {shown(given)}"
            self.fail(f"argument {name} {what}",
                      "annotate it with tk.In[dtype, sizes], tk.Out[...], tk.InOut[...], or for a number tk.f64, "
                      "tk.i64, tk.i1 or a symbol")
        return Argument(name, kind, given)

    def _symbol_of(self, name: str, given: Annotation) -> _language.Symbol:
        """Of an annotation tk.In[tk.Symbol, N], which is N as type checkers read it."""
        if given.access != "in" or len(given.shape) != 1 or not isinstance(given.shape[0], _language.Symbol):
            self.fail(f"argument {name} is annotated with tk.Symbol, but not with one symbol",
                      f"an argument that gives a symbol is {name}: {name}, or to type checkers "
                      f"{name}: tk.In[tk.Symbol, {name}]")
        return given.shape[0]

    def check_numbers(self, numbers: dict[str, Any]) -> None:
        """Of parameters, and of symbols that become numbers."""
        for name, given in numbers.items():
            value, is_flag = _integer(given), isinstance(self.parameters.get(name), bool)
            if value is None or (is_flag and value not in (0, 1)):
                self.fail(f"{name} is set to {shown(given)}", "give True or False" if is_flag else
                          "parameters and symbols are integers from -2**63 to 2**63 - 1")

    def documented(self, text: str | None) -> str:
        """What help() says of the kernel: the author's text, then arguments, outputs, dtypes and errors."""
        kinds = {"in": "In", "inout": "InOut, written in place", "out": "Out, allocated unless given by name"}
        lines = [inspect.cleandoc(text), ""] if text else []
        for each in self.arguments:
            lines.append(f"{each.name}: {each}, {kinds.get(each.kind, 'a number')}")
        lines += [f"{name} = {default}: a parameter, given by name" for name, default in self.parameters.items()]
        lines += [f"{name} is {' or '.join(each.name for each in variable.choices)}"
                  for name, variable in self.dtype_variables().items()]
        return "\n".join([*lines, "", "Errors: as of a tilewright.kernel.Kernel, which this is."])

    def symbols(self) -> list[_language.Symbol]:
        """Those that annotations have, in the order in which they were made."""
        found = {symbol._number: symbol for argument in self.arguments for size in _sizes(argument.annotation)
                 for symbol in size._symbols}
        return [found[number] for number in sorted(found)]

    def dtype_variables(self) -> dict[str, _language.DTypeVariable]:
        return {each.dtype.name: each.dtype for each in self.arguments
                if isinstance(each.dtype, _language.DTypeVariable)}


def _integer(value: Any) -> int | None:
    """The integer or bool, of Python or of NumPy, as Python's; None of what is none, or beyond 64 bits. An array or a
    tensor is none, though those of one element can be an index."""
    if isinstance(value, bool) or type(value).__module__ == "numpy" and type(value).__name__ in ("bool", "bool_"):
        return bool(value)
    if not isinstance(value, Integral):
        return None
    number = index(value)
    return number if -2**63 <= number < 2**63 else None


def _no_kernel(function: Any) -> str | None:
    """What is given for a function, where it is none that can be traced."""
    if not inspect.isfunction(function) and not inspect.ismethod(function):
        return shown(function)
    if inspect.isgeneratorfunction(function) or inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
        return f"the generator or coroutine {function.__name__}"
    return None


def _sizes(annotation: Any) -> Iterator[_language.Size]:
    if isinstance(annotation, _language.Size):
        yield annotation
    elif isinstance(annotation, Annotation):
        yield from (size for size in annotation.shape if isinstance(size, _language.Size))

