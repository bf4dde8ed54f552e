# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels with a mistake, and whether what is said about them is right."""
import inspect
import re

import pytest

import tilewright
import tilewright.kernel as tk


class Mistakes:
    """Functions whose trace says a message about the line that is marked with `# here`, by name.

        @mistake("what is said", "what to do")
        def wrong(x: X, y: Y):
            ...  # here

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
        assert error.file == function.__code__.co_filename and error.line == _marked_line(function)
        where = f"{error.file}:{error.line}" + (f":{error.column}" if error.column else "")
        assert f"--> {where}, in kernel {function.__name__}" in error.text


def _marked_line(function):
    lines, first = inspect.getsourcelines(function)
    number, text = next((first + i, line) for i, line in enumerate(lines) if "# here" in line)
    return number + int(text.partition("# here:")[2] or 0)
