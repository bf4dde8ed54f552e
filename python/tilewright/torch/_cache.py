# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiled graphs on disk, $TILEWRIGHT_CACHE or $XDG_CACHE_HOME/tilewright, by the hash of all that they are made
of. They hold no weights, but they are native code: a folder that others may write to is not used."""
from __future__ import annotations

import functools
import hashlib
import os
import stat
from typing import Any

from .. import _native
from .._program import Program
from . import _private
from ._options import Options


def folder() -> str | None:
    """The cache's folder, made when missing; None (and a warning) when it is not safe or cannot be made."""
    base = os.environ.get("TILEWRIGHT_CACHE") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "tilewright")
    path = os.path.join(base, "torch")
    try:
        os.makedirs(path, mode=0o700, exist_ok=True)
        facts = os.lstat(path)
    except OSError as error:
        _warn(f"error[TW-PYTHON-0006]: the cache {path} is not used: {error}")
        return None
    if not stat.S_ISDIR(facts.st_mode) or facts.st_uid != os.geteuid() or facts.st_mode & 0o022:
        _warn(f"error[TW-PYTHON-0006]: the cache {path} is not used: others may write to it; make it yours with "
              f"chmod 700, or name another folder in TILEWRIGHT_CACHE")
        return None
    return path


@functools.lru_cache(maxsize=None)
def _warn(text: str) -> None:
    """Once for each text."""
    _private.logger.warning("%s", text)


@functools.lru_cache(maxsize=1)
def _machine() -> bytes:
    """The compiler's build, and what this CPU can do."""
    library = os.environ.get("TILEWRIGHT_COMPILER") or os.path.join(os.path.dirname(_native.__file__), "lib",
                                                                    "libtilewright-compiler.so")
    facts = os.stat(os.path.realpath(library))
    with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
        cpu = sorted({line for line in file if line.startswith(("flags", "model name", "Features"))})
    return repr((facts.st_size, facts.st_mtime_ns, _native.version, cpu)).encode()


def _content(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def key(json: bytes, options: Options, kernels: list[tuple[str, str]]) -> str:
    """Of a graph; which of its inputs are frozen weights its JSON says."""
    paths, texts = options.sources()
    texts = texts + kernels
    digest = hashlib.sha256()
    for part in (json, options.target.encode(), _machine(), repr(texts).encode(), *map(_content, paths)):
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return digest.hexdigest()


def compile(json: bytes, options: Options, kernels: list[tuple[str, str]],  # noqa: A001
            frozen: list[str]) -> tuple[Program, Program | None]:
    """The program of a graph, which calls `kernels` beside those of the options, from the cache or compiled and put
    there; and, where inputs are `frozen`, the one that prepares them."""
    place = folder() if options.dump_to is None else None
    base = os.path.join(place, key(json, options, kernels)) if place else None
    path, second = (f"{base}.so", f"{base}.prepare.so" if frozen else None) if base else (None, None)
    known = _load(path) if path else None
    prepares = _load(second) if known and second else None
    if known and (prepares or not frozen):
        return known, prepares
    weights = [(name, 0, 1) for name in frozen]
    paths, texts = options.sources()
    descriptor, report, other = _native.compile("graph", json, weights, paths, texts + kernels, options.target, path,
                                                options.dump_to, preparation=second, is_prepared=bool(frozen))
    return _loaded(path, descriptor, report), _loaded(second, other, None) if frozen else None


def _loaded(path: str | None, descriptor: int, report: str | None) -> Program:
    if path:
        return Program(path, library="torch", report=report)
    return Program(f"/proc/self/fd/{descriptor}", descriptor, library="torch", report=report)


def _load(path: str) -> Program | None:
    """None when it is not there, not ours, or damaged: it is then made again."""
    try:
        facts = os.lstat(path)
    except OSError:
        return None
    if not stat.S_ISREG(facts.st_mode) or facts.st_uid != os.geteuid() or facts.st_mode & 0o022:
        _warn(f"error[TW-PYTHON-0006]: {path} is not used: it is another user's, or others may write to it")
        os.unlink(path)
        return None
    try:
        return Program(path, library="torch")
    except _native.Error as error:
        _private.logger.info("%s is made again: %s", path, error.message)
        return None


def entries() -> list[Any]:
    """The files of the cache."""
    place = folder()
    return sorted(os.listdir(place)) if place else []
