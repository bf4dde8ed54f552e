# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The end of Python, which nothing of this package outlives."""
from __future__ import annotations

import atexit
import contextlib
import sys

from ._native import Error


@atexit.register
def _release_compiled() -> None:
    """What torch keeps; it is imported here where no module of ours has needed it before."""
    if "torch" in sys.modules:
        with contextlib.suppress(Error):  # a torch that is too old: it compiles nothing for us
            from .torch import _private

            _private.release_compiled()
