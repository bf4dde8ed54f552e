# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The end of Python, which nothing of this package outlives."""
from __future__ import annotations

import atexit
import contextlib
import functools
import sys


@atexit.register
def _release_compiled() -> None:
    """torch.compile, with any backend, hangs what it compiled on code objects, and keeps backends, where Python's collector
    does not see them: a function of __main__ would keep all of __main__ beyond the interpreter's end, with the programs
    and kernels in it."""
    if "torch._dynamo" in sys.modules:
        import torch

        # With a torch for GPUs it ends by importing Inductor, of which Python's end lets parts no longer be imported.
        with contextlib.suppress(RuntimeError):
            torch.compiler.reset()
        _clear_caches_of_torch()


def _clear_caches_of_torch() -> None:
    """Dynamo's cached functions are keyed by users' classes, and so by the methods, globals and kernels of these. About 10 ms."""
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "torch":
            for value in list(vars(module).values()):
                if type(value) is functools._lru_cache_wrapper:  # isinstance would ask the value, which may warn
                    value.cache_clear()
