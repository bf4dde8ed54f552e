# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels with a mistake, and whether what is said about them is right."""
import inspect
import re

import pytest

import tilewright
import tilewright.kernel as tk

M, N = tk.symbols("M N")
X, Y = tk.In[tk.f32, M, N], tk.Out[tk.f32, M, N]


def row(x):
    """A program for each row of x: its number, and the row."""
    m, = tk.grid(M)
    return m, tk.load(x, [m, 0], [1, N])


class Mistakes:
    """Functions whose trace says a message about the line that is marked with `# here`, by name.

        @mistake("what is said", "what to do")
        def wrong(x: X, y: Y):
            ...  # here

    Of an expression, whose line is marked by itself, a row of a table is enough; x, y, m and t are the buffers of a kernel,
    its program and a row of x:

        mistake.of_expressions(wrong=(lambda x, y, m, t: ..., "what is said", "what to do"))

    Tests are parametrized by names and not by functions: pytest keeps parameters, and with torch in the process they
    outlive Python, with the symbols in their annotations.
    """

    def __init__(self):
        self._known = {}

    def __call__(self, message, advice=None):
        def add(function):
            assert function.__name__ not in self._known
            self._known[function.__name__] = function, message, advice
            return function
        return add

    def of_expressions(self, **rows):
        for name, (expression, message, *advice) in rows.items():
            assert name not in self._known
            self._known[name] = _kernel_of(name, expression), message, *(advice or [None])

    def names(self):
        return list(self._known)

    def check(self, name):
        function, message, advice = self._known[name]
        with pytest.raises(tk.KernelError) as caught:
            tk.kernel(function).text()
        error = caught.value
        assert isinstance(error, tilewright.InputError) and error.code == "TW-KERNEL-0003"
        said = error.message
        if "FILE:LINE" in message:
            said = re.sub(r"\S*\.py:\d+", "FILE:LINE", said)
        assert said == message
        if advice is not None:
            assert error.help == advice
        assert (error.file, error.line) == _place(function)
        where = f"{error.file}:{error.line}" + (f":{error.column}" if error.column else "")
        assert f"--> {where}, in kernel {function.__name__}" in error.text


def _kernel_of(name, expression):
    def kernel(x: X, y: Y):
        expression(x, y, *row(x))

    kernel.__name__, kernel.expression = name, expression
    return kernel


def _place(function):
    """Where the mistake is: the file, and the line that is marked."""
    code = getattr(function, "expression", function).__code__
    if hasattr(function, "expression"):
        return code.co_filename, code.co_firstlineno
    lines, first = inspect.getsourcelines(function)
    number, text = next((first + i, line) for i, line in enumerate(lines) if "# here" in line)
    return code.co_filename, number + int(text.partition("# here:")[2] or 0)
