# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions that are kernels: traced, printed, interpreted, checked, called."""
from __future__ import annotations

import json
import sys
from numbers import Real

from .. import _native
from .._native import kernel as _language
from .._program import Report, check_text, path_text, read_report
from ._call import Calls, arrange
from ._declare import Annotation, Signature

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Callable
    from types import FrameType
    from typing import Any, overload


class Kernel:
    """A kernel; made by @tk.kernel.

        y = softmax(x)                      # outputs are allocated; softmax(x, y=memory) fills memory
        softmax.check(x)                    # what no author means, and compiled against interpreted
        softmax.print(as_="assembly")

    A call takes the inputs, in-out buffers and numbers in the order of the declaration, or by name; parameters and
    outputs by name. Tensors may be torch tensors, NumPy arrays, or anything with __dlpack__, in main memory. It
    gives the outputs, one alone or several as a tuple, of the same library; in-out buffers are written in place.
    The kernel is compiled at the first call for the dtypes and the parameters; sizes stay dynamic.

    Errors: KernelError (TW-KERNEL-0003) for mistakes in the kernel, TW-PYTHON-0001 to 0004 and TW-RUNTIME-* for
    what a call gives, as of tilewright.Program.
    """

    def __init__(self, function: Callable[..., Any], name: str | None, frame: FrameType | None) -> None:
        self.signature = Signature(function, frame)
        self.function, self.name = function, function.__name__ if name is None else name
        self.__doc__, self.__name__ = self.signature.documented(function.__doc__), self.name
        self.__module__, self.__wrapped__ = function.__module__, function
        self._calls, self._gives = Calls(self), bool(self.signature.outputs)

    def __call__(self, *args: Any, **named: Any) -> Any:
        program = None if named else self._calls.known(args)
        results = program(*args) if program is not None else self._calls.call(args, named)
        return results if self._gives else None

    def text(self, **settings: Any) -> str:
        """The kernel in the tile dialect. settings: parameters, symbols that become numbers, and dtypes for dtype
        variables (the first of each unless given). Errors: KernelError."""
        dtypes = {name: settings.pop(name, variable.choices[0])
                  for name, variable in self.signature.dtype_variables().items()}
        return self._trace(settings, dtypes)

    def print(self, as_: str | None = None, *, target: str = "cpu", **settings: Any) -> None:
        """Prints what the kernel becomes: simplified in the tile dialect; as_="source", in C++; or as_="plan",
        "loops", "llvm" or "assembly" for a target. settings as for text. Errors: KernelError, TW-DRIVER-0002."""
        if as_ is not None:
            check_text("as_", as_)
        check_text("target", target)
        opened = _language._OpenKernel(self.text(**settings))
        print(opened.print() if as_ is None else opened.print_code(as_, target), end="")

    def compile_to_file(self, path: str | os.PathLike[str], *, target: str = "cpu", **settings: Any) -> Report:
        """Writes the compiled kernel as an artifact: tilewright.load and `tilewright run` run it, and programs in C, with
        neither this compiler nor the kernel's source. Its inputs are the arguments of a call, by name; in-out buffers
        are written in place. settings as for text; sizes that are not set stay dynamic. Errors: KernelError,
        TW-DRIVER-0002 (there is no such target), TW-IO-* when the file cannot be written."""
        check_text("target", target)
        _, report, _ = _native.compile("", None, [], [], [(self.signature.file, self.text(**settings))], target,
                                       path_text("path", path), None, self.name)
        return read_report(report)

    def interpret(self, *args: Any, f64: bool = False, **named: Any) -> Any:
        """The kernel run by the interpreter: slow and exact; with f64 it rounds nothing. Arguments are those of a
        call; results are the outputs and the new values of in-out buffers, which stay as they are."""
        results, _, _ = self._run_opened(args, named, "interpreter", f64, False, -1.0, -1.0)
        return results[0] if len(results) == 1 else tuple(results)

    def check(self, *args: Any, target: str = "cpu", f64: bool = False, rtol: float | None = None,
              atol: float | None = None, **named: Any) -> Check:
        """What is wrong with a call: boxes that begin outside, races, elements never written, and whether the kernel
        compiled for `target` gives what the interpreter does."""
        check_text("target", target)
        allowed = (_tolerance("rtol", rtol), _tolerance("atol", atol))
        _, said, found = self._run_opened(args, named, target, f64, True, *allowed)
        return Check(said, found)

    def register(self, name: str, backward: Callable[..., Any] | None = None, **parameters: int) -> Any:
        """Makes the kernel an operator of torch, torch.ops.mylib.softmax for name="mylib::softmax", and returns that.

        In eager PyTorch it runs the kernel with these parameters; in tilewright.compile and the backend of
        torch.compile it is a call of the kernel, and fuses. backward(saved, *gradients) gives the gradients of the
        arguments, one alone or a tuple with None for numbers; saved has the call's inputs and outputs. Sizes and
        dtypes of the outputs follow from the declaration. Errors: TW-PYTHON-0005, KernelError.
        """
        from ..torch import _operators

        return _operators.register(self, name, backward, parameters)

    def _run_opened(self, args: tuple[Any, ...], named: dict[str, Any], *options: Any) -> Any:
        if not isinstance(options[1], bool):
            _native.refuse("TW-PYTHON-0005", f"f64 is {_native.shown(options[1])}", "give True or False")
        call = arrange(self, args, named)
        if call.outputs:
            _native.refuse("TW-PYTHON-0003", f"kernel {self.name}: output \"{next(iter(call.outputs))}\" is given",
                           "interpret and check give results in memory of their own")
        opened = _language._OpenKernel(self._trace(call.parameters, self._calls.dtypes_of(call)))
        scalars = [each.kind in ("scalar", "symbol") for each in self.signature.inputs]
        return opened.run(self.name, call.inputs, scalars, *options)

    def _trace(self, numbers: dict[str, int], dtypes: dict[str, Any], name: str | None = None) -> str:
        signature = self.signature
        self.check_outside()
        signature.check_numbers(numbers)
        for key, variable in signature.dtype_variables().items():
            if dtypes[key] not in variable.choices:
                signature.fail(f"{key} is {getattr(dtypes[key], 'name', _native.shown(dtypes[key]))}, which is not one of "
                               f"{', '.join(each.name for each in variable.choices)}",
                               "cast the tensor, or let the dtype variable have more dtypes")
        return _language._trace(name or self.name, self._run, {_native.escaped(key): int(value) for key, value in numbers.items()}, dtypes,
                                signature.file, signature.line)

    def check_outside(self) -> None:
        """Of a call, which no kernel makes. Errors: KernelError."""
        if _language._is_tracing():
            _language._fail(f"kernel {self.name} is called while a kernel is traced",
                            "kernels do not call kernels: what they share is a plain function")

    def _run(self) -> None:
        """What is traced: the declarations, then the function."""
        signature = self.signature
        symbols = {symbol.name for symbol in signature.symbols()}
        for symbol in signature.symbols():
            if symbol.name not in signature.parameters:
                _language._declare_symbol(symbol)
        parameters = {name: type(default)(_language._declare_parameter(name, int(default), name in symbols))
                      for name, default in signature.parameters.items()}
        given = self.function(*[self._declare(each) for each in signature.arguments], **parameters)
        if given is not None:
            signature.fail(f"kernel {self.name} returns {type(given).__name__}", "a kernel returns nothing: it stores what it "
                           "computes into its Out and InOut buffers")

    @staticmethod
    def _declare(argument: Any) -> Any:
        annotation = argument.annotation
        if argument.kind == "symbol":
            _language._declare_symbol_argument(annotation)
            return annotation  # in the function it is the symbol
        if not isinstance(annotation, Annotation):
            return _language._declare_scalar(argument.name, annotation)
        return _language._declare_buffer(argument.kind, argument.name, annotation.dtype, list(annotation.shape),
                                         annotation.init)

    def __reduce__(self) -> str:
        """Copied and pickled as a function is: by its name."""
        return self.function.__qualname__

    def __repr__(self) -> str:
        return f"<kernel {self.name} of {self.signature.file}:{self.signature.line}>"


class Check:
    """What Kernel.check found. findings: for each a dict with code, message, place, program, buffer and element;
    comparisons: one for each output; notes. True when all is well; str() is for people."""

    def __init__(self, said: str, found: str) -> None:
        facts = json.loads(found)
        self.text = said
        self.findings, self.notes = facts["findings"], facts["notes"]
        self.comparisons = facts.get("comparisons", [])

    def __bool__(self) -> bool:
        return not self.findings and all(each["same"] for each in self.comparisons)

    def __str__(self) -> str:
        return self.text.rstrip("\n")

    __repr__ = __str__


def _tolerance(name: str, value: Any) -> float:
    """As the compiler takes it: negative for its own. Errors: TW-PYTHON-0005."""
    if value is None:
        return -1.0
    if isinstance(value, Real) and not isinstance(value, bool) and 0 <= value < float("inf"):
        try:
            return float(value)
        except OverflowError:
            return float("inf")
    _native.refuse("TW-PYTHON-0005", f"{name} is {_native.shown(value)}", "give a number from 0 on, or leave it out")
    raise AssertionError


if TYPE_CHECKING:
    @overload
    def kernel(function: Callable[..., Any]) -> Kernel: ...
    @overload
    def kernel(*, name: str) -> Callable[[Callable[..., Any]], Kernel]: ...


def kernel(function: Callable[..., Any] | None = None, *, name: str | None = None) -> Any:
    """Makes a function a kernel: @tk.kernel, or @tk.kernel(name="other_name")."""
    frame = sys._getframe(1)
    if function is None:
        return lambda given: Kernel(given, name, frame)
    return Kernel(function, name, frame)
