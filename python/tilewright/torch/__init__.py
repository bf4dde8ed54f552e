# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch.compile(f, backend="tilewright"), and what it made of f.

    f = torch.compile(module, backend="tilewright", options={"threads": 1})
    print(tilewright.torch.explain(module, x))   # what runs eagerly, and why
"""
TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._backend import backend
    from ._explain import Explanation, explain

__all__ = ["Explanation", "backend", "explain"]


def __getattr__(name: str) -> object:
    """What is imported when it is used: the end of Python needs one module of this package alone."""
    if name == "backend":
        from ._backend import backend as found
    elif name in __all__:
        from . import _explain

        found = getattr(_explain, name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
