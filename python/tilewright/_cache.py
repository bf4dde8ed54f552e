# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiled programs on disk, in $TILEWRIGHT_CACHE or $XDG_CACHE_HOME/tilewright, by the hash of all that they are made
of. They hold no weights, but they are native code: a folder that others may write to is not used."""
from __future__ import annotations

import functools
import os
import stat

from . import _native
from ._program import Program, path_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    import logging
    from collections.abc import Callable, Iterable
    from typing import TypeVar

    T = TypeVar("T")

# Errors of a compilation whose result cannot be written: no permission, a full disk.
UNWRITABLE = ("TW-PROGRAM-0005", "TW-SYSTEM-0003", "TW-IO-0002")


def logger() -> logging.Logger:
    import logging

    return logging.getLogger("tilewright")


def folder(kind: str) -> str | None:
    """The cache's folder for programs of a kind, without symbolic links, made when missing; None (and a warning) when
    it is not safe or cannot be made."""
    try:
        path = path_text("the folder of the cache", os.path.join(_native.cache_folder(), kind))
        os.makedirs(path, mode=0o700, exist_ok=True)
        facts = os.lstat(path)
    except (_native.Error, OSError) as error:
        _warn(f"error[TW-PYTHON-0006]: {getattr(error, 'message', error)}")
        return None
    if not stat.S_ISDIR(facts.st_mode) or facts.st_uid != os.geteuid() or facts.st_mode & 0o022:
        _warn(f"error[TW-PYTHON-0006]: the cache {path} is not used: others may write to it; make it yours with "
              f"chmod 700, or name another folder in TILEWRIGHT_CACHE")
        return None
    return path


@functools.lru_cache(maxsize=None)
def _warn(text: str) -> None:
    """Once for each text."""
    logger().warning("%s", text)


@functools.lru_cache(maxsize=1)
def _machine() -> bytes:
    """The compiler's build, and what this CPU can do."""
    library = os.environ.get("TILEWRIGHT_COMPILER") or os.path.join(os.path.dirname(_native.__file__), "lib",
                                                                    "libtilewright-compiler.so")
    try:
        facts = os.stat(os.path.realpath(library))
    except OSError:
        return os.urandom(16)  # nothing was kept by none; compiling says what is missing
    with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
        cpu = sorted({line for line in file if line.startswith(("flags", "model name", "Features"))})
    return repr((facts.st_size, facts.st_mtime_ns, _native.version, cpu)).encode()


def key(parts: Iterable[bytes]) -> str:
    """The name for a program that is made of `parts`, by this compiler for this machine."""
    import hashlib

    digest = hashlib.sha256()
    for part in (_machine(), *parts):
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return digest.hexdigest()


def name_of(path: str) -> str:
    """What a file of the cache is kept by, which a program that is made for it says."""
    return os.path.basename(path).removesuffix(".so")


def _put_away(text: str, move: Callable[[], None]) -> None:
    """Warns, and makes room for a program; where there cannot be room the program is not written there either."""
    try:
        move()
    except OSError as error:
        text = f"{text} ({error.strerror})"
    _warn(f"error[TW-PYTHON-0006]: {text}")


def written(path: str | None, compile: Callable[[str | None], T]) -> tuple[str | None, T]:  # noqa: A002
    """compile(path), which writes a program into the cache, and the path; or, where the cache cannot be written (and a
    warning) or is not used, compile(None), which makes it in memory, and None."""
    if path is not None:
        try:
            return path, compile(path)
        except _native.Error as error:
            if error.code not in UNWRITABLE:
                raise
            _warn(f"error[TW-PYTHON-0006]: the cache is not used for this program: {error.message}")
    return None, compile(None)


def load(path: str, library: str, threads: int = 0, device: str | None = None) -> Program | None:
    """None when it is not there, not ours, damaged, or another program under this name: it is then made again."""
    try:
        facts = os.lstat(path)
    except OSError:
        return None
    if stat.S_ISDIR(facts.st_mode):
        aside = f"{path}.{os.getpid()}.folder"
        _put_away(f"{path} is a folder and not used; it is now {aside}", lambda: os.rename(path, aside))
        return None
    if not stat.S_ISREG(facts.st_mode) or facts.st_uid != os.geteuid() or facts.st_mode & 0o022:
        _put_away(f"{path} is not used: it is another user's, or others may write to it", lambda: os.unlink(path))
        return None
    try:
        program = Program(path, threads=threads, library=library, device=device)
    except _native.Error as error:
        logger().info("%s is made again: %s", path, error.message)
        return None
    kept = program._facts["key"]
    if kept == name_of(path):
        return program
    _warn(f"error[TW-PYTHON-0006]: {path} is not used and made again: the program in it was kept as \"{kept}\"")
    return None
