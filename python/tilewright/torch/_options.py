# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What torch.compile(..., options={...}) may say."""
from __future__ import annotations

from typing import Any, NamedTuple

import torch

from .. import _native
from .._device import is_for_gpu
from .._compile import split_kernels
from .._program import check_precision, check_text, path_text


class Options(NamedTuple):
    target: str | None = None  # None: that of the device on which a graph's tensors are
    threads: int | None = None  # None: as torch.get_num_threads() says at each call
    kernels: tuple[Any, ...] = ()
    dump_to: str | None = None
    freeze: bool = False
    precision: str = "f32"

    def thread_count(self) -> Any:
        """What gives the threads of a call."""
        threads = self.threads
        return torch.get_num_threads if threads is None else lambda: threads

    def precision_on(self, target: str) -> str:
        """Of a graph for `target`. Where the target follows the tensors' device, tf32 is for graphs on a GPU."""
        has_it = self.precision != "tf32" or self.target is not None or is_for_gpu(target)
        return self.precision if has_it else "f32"

    def sources(self) -> tuple[list[str], list[tuple[str, str]]]:
        return split_kernels(self.kernels)


def _refuse(what: str, advice: str) -> None:
    _native.refuse("TW-PYTHON-0005", what, advice)


def read(mode: Any, options: Any) -> Options:
    """Errors: TW-PYTHON-0005 for what is unknown or of the wrong kind."""
    if mode is not None:
        _refuse(f"mode={_native.shown(mode)} is given", "the backend tilewright has no modes: leave it out")
    if not isinstance(options or {}, dict):
        _refuse(f"options is {_native.shown(options)}", 'give a dict: options={"threads": 1}')
    given = dict(options or {})
    for name in given:
        if name not in Options._fields:
            _refuse(f"the backend tilewright has no option {_native.shown(name)}", f"it has {', '.join(Options._fields)}")
    chosen = Options(**given)
    threads = chosen.threads
    if threads is not None and (type(threads) is not int or not 1 <= threads <= 1024):
        _refuse(f"the option threads is {_native.shown(threads)}", "give a number from 1 to 1024")
    if not isinstance(chosen.freeze, bool):
        _refuse(f"the option freeze is {_native.shown(chosen.freeze)}", "give True or False")
    check_precision(chosen.precision)
    if chosen.target is not None:
        check_text("the option target", chosen.target)
    if chosen.dump_to is not None:
        chosen = chosen._replace(dump_to=path_text("the option dump_to", chosen.dump_to))
    chosen.sources()
    return chosen._replace(kernels=tuple(chosen.kernels))
