# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The end of Python, which nothing of this package outlives."""
from __future__ import annotations

import atexit
import contextlib
import gc
import sys

from . import _native

CONTAINERS = {dict, list, tuple, set, frozenset}

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CellType, ModuleType


@atexit.register
def _release() -> None:
    """What torch keeps; it is imported here where no module of ours has needed it before."""
    if "torch" in sys.modules:
        with contextlib.suppress(_native.Error):  # a torch that is too old: it compiles nothing for us
            from .torch import _private

            _private.release_compiled()
        modules = [module for module in sys.modules.values() if type(module) is type(sys)]
        ours = [module for module in modules if module.__name__.partition(".")[0] == __package__]
        _have_globals_cleared(modules, ours)
        _have_closures_emptied({module.__name__ for module in ours})


def _have_globals_cleared(modules: list[ModuleType], ours: list[ModuleType]) -> None:
    """torch never releases a function that implements an operator (torch.library), and with it the globals of its module,
    which may have symbols, kernels and programs. Python ends by clearing the globals of the modules that still live then,
    so those of users of this package do."""
    known, types_of = {id(module) for module in ours}, {module.__name__ for module in ours}
    for module in modules:
        if id(module) not in known and (module.__name__ == "__main__" or any(
                id(value) in known or type(value).__module__ in types_of for value in list(vars(module).values()))):
            _native.keep(module)


class _Cells:
    """Variables of functions, which lose their values when this goes."""

    def __init__(self, cells: list[CellType]) -> None:
        self.cells = cells

    def __del__(self) -> None:
        for cell in self.cells:
            cell.cell_contents = None


def _have_closures_emptied(types_of: set[str]) -> None:
    """The same of the variables of functions around such a function, which are ours or hold what is: they lose their values
    when Python clears the globals of this module."""
    global _cells
    function = type(_have_closures_emptied)
    cells = [cell for each in gc.get_objects()
             if type(each) is function and each.__closure__ and each.__module__ not in types_of
             for cell in each.__closure__ if _holds_ours(cell, types_of, 1 if _is_torchs(each.__module__) else DEEPEST)]
    if cells:
        _cells = _Cells(cells)
        _native.keep(sys.modules[__name__])


DEEPEST = 4  # an object, its attributes, a container in these, and what that has
MOST = 1000  # objects at each depth whose parts are looked at


def _holds_ours(cell: CellType, types_of: set[str], depth: int) -> bool:
    """Whether a variable's value is ours, or is a container or an object of a user's class with something of ours in it."""
    try:
        values = [cell.cell_contents]
    except ValueError:  # the variable has no value
        return False
    for _ in range(depth):
        if any(type(value).__module__ in types_of for value in values):
            return True
        values = [part for value in values[:MOST] if _is_looked_into(type(value)) for part in gc.get_referents(value)]
    return False


def _is_looked_into(kind: type) -> bool:
    """Modules and classes stay as they are, and functions have cells of their own."""
    if kind in CONTAINERS:
        return True
    return kind.__module__ != "builtins" and not _is_torchs(kind.__module__) and not issubclass(kind, type)


def _is_torchs(module: object) -> bool:
    return isinstance(module, str) and module.partition(".")[0] == "torch"
