# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The end of Python, which nothing of this package outlives."""
from __future__ import annotations

import atexit
import contextlib
import sys

from . import _native


@atexit.register
def _release() -> None:
    """What torch keeps; it is imported here where no module of ours has needed it before."""
    if "torch" in sys.modules:
        with contextlib.suppress(_native.Error):  # a torch that is too old: it compiles nothing for us
            from .torch import _private

            _private.release_compiled()
        _have_globals_cleared()


def _have_globals_cleared() -> None:
    """torch never releases a function that implements an operator (torch.library), and with it the globals of its module,
    which may have symbols, kernels and programs. Python ends by clearing the globals of the modules that still live then,
    so those of users of this package do."""
    modules = [module for module in sys.modules.values() if type(module) is type(sys)]
    ours = {id(module): module.__name__ for module in modules if module.__name__.partition(".")[0] == __package__}
    types_of = set(ours.values())  # the modules in which our types are
    for module in modules:
        if id(module) not in ours and (module.__name__ == "__main__" or any(
                id(value) in ours or type(value).__module__ in types_of for value in list(vars(module).values()))):
            _native.keep(module)
