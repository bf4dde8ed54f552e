# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiled graphs on disk."""
from __future__ import annotations

import os
from typing import Any

from .. import _cache, _native
from .._program import Program, compiled, in_memory
from ._options import Options
from ._place import Place

KIND = "torch"


def _content(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        _native.refuse("TW-IO-0001", f"cannot read {path}: {error.strerror}", "give the path of a file of kernels")


def key(json: bytes, options: Options, target: str, kernels: list[tuple[str, str]]) -> str:
    """Of a graph; which of its inputs are frozen weights its JSON says."""
    paths, texts = options.sources()
    return _cache.key((json, target.encode(), options.precision_on(target).encode(), repr(texts + kernels).encode(),
                       *map(_content, paths)))


def compile(json: bytes, options: Options, kernels: list[tuple[str, str]],  # noqa: A001
            frozen: list[str], place: Place) -> tuple[Program, Program | None]:
    """The program of a graph, which calls `kernels` beside those of the options, from the cache or compiled and put
    there; and, where inputs are `frozen`, the one that prepares them."""
    folder = _cache.folder(KIND) if options.dump_to is None else None
    base = os.path.join(folder, key(json, options, place.target, kernels)) if folder else None
    path, second = (f"{base}.so", f"{base}.prepare.so" if frozen else None) if base else (None, None)
    known = _cache.load(path, "torch", device=place.device) if path else None
    prepares = _cache.load(second, "torch", device=place.device) if known and second else None
    if known and (prepares or not frozen):
        return known, prepares
    weights = [(name, 0, 1) for name in frozen]
    paths, texts = options.sources()
    path, (descriptor, report, other) = _cache.written(path, lambda path: _native.compile(
        "graph", json, weights, paths, texts + kernels, place.target, path, options.dump_to,
        preparation=second if path else None, is_prepared=bool(frozen), key=_cache.name_of(path) if path else None,
        precision=options.precision_on(place.target)))
    return (_loaded(path, descriptor, report, place.device),
            _loaded(second if path else None, other, None, place.device) if frozen else None)


def _loaded(path: str | None, descriptor: int, report: str | None, device: str | None) -> Program:
    if path:
        return compiled(path, library="torch", report=report, device=device)
    return in_memory(descriptor, library="torch", report=report, device=device)


def entries() -> list[Any]:
    """The files of the cache."""
    place = _cache.folder(KIND)
    return sorted(os.listdir(place)) if place else []
