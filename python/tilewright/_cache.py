# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiled programs on disk, in $TILEWRIGHT_CACHE or $XDG_CACHE_HOME/tilewright, by the hash of all that they are made
of. They hold no weights, but they are native code: a folder that others may write to is not used."""
from __future__ import annotations

import functools
import os
import stat

from . import _native
from ._program import Program

TYPE_CHECKING = False
if TYPE_CHECKING:
    import logging
    from collections.abc import Iterable


def logger() -> logging.Logger:
    import logging

    return logging.getLogger("tilewright")


def folder(kind: str) -> str | None:
    """The cache's folder for programs of a kind, without symbolic links, made when missing; None (and a warning) when
    it is not safe or cannot be made."""
    base = os.environ.get("TILEWRIGHT_CACHE") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "tilewright")
    path = os.path.join(base, kind)
    try:
        path.encode()
        os.makedirs(path, mode=0o700, exist_ok=True)
        real = os.path.realpath(path)
        facts = os.lstat(real)
        above = _writable_above(real)
    except (OSError, UnicodeEncodeError) as error:
        _warn(f"error[TW-PYTHON-0006]: the cache {path!a} is not used: {error}")
        return None
    if not stat.S_ISDIR(facts.st_mode) or facts.st_uid != os.geteuid() or facts.st_mode & 0o022:
        _warn(f"error[TW-PYTHON-0006]: the cache {path} is not used: others may write to it; make it yours with "
              f"chmod 700, or name another folder in TILEWRIGHT_CACHE")
        return None
    if above:
        _warn(f"error[TW-PYTHON-0006]: the cache {path} is not used: others may write to {above}, and so put another "
              f"folder in its place; take that right away with chmod go-w, or name another folder in TILEWRIGHT_CACHE")
        return None
    return real


def _writable_above(path: str) -> str | None:
    """The folder above `path`, which has no symbolic links, in which others can exchange what leads to it: it belongs
    to neither this user nor root, or others may write to it and may rename what is not theirs (no sticky bit)."""
    while (above := os.path.dirname(path)) != path:
        facts = os.lstat(above)
        writers = facts.st_mode & (0o002 if facts.st_gid == _private_group() else 0o022)
        if writers and not facts.st_mode & stat.S_ISVTX or facts.st_uid not in (0, os.geteuid()):
            return above
        path = above
    return None


@functools.lru_cache(maxsize=1)
def _private_group() -> int | None:
    """This user's group, if nobody else is in it: where each user has one, folders are made writable for it."""
    import grp
    import pwd

    try:
        user = pwd.getpwuid(os.geteuid())
        group = grp.getgrgid(user.pw_gid)
    except KeyError:
        return None
    return group.gr_gid if group.gr_name == user.pw_name and set(group.gr_mem) <= {user.pw_name} else None


@functools.lru_cache(maxsize=None)
def _warn(text: str) -> None:
    """Once for each text."""
    logger().warning("%s", text)


@functools.lru_cache(maxsize=1)
def _machine() -> bytes:
    """The compiler's build, and what this CPU can do."""
    library = os.environ.get("TILEWRIGHT_COMPILER") or os.path.join(os.path.dirname(_native.__file__), "lib",
                                                                    "libtilewright-compiler.so")
    facts = os.stat(os.path.realpath(library))
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


def load(path: str, library: str, threads: int = 0, device: str | None = None) -> Program | None:
    """None when it is not there, not ours, or damaged: it is then made again."""
    try:
        facts = os.lstat(path)
    except OSError:
        return None
    if stat.S_ISDIR(facts.st_mode):
        aside = f"{path}.{os.getpid()}.folder"
        _warn(f"error[TW-PYTHON-0006]: {path} is a folder and not used; it is now {aside}")
        os.rename(path, aside)
        return None
    if not stat.S_ISREG(facts.st_mode) or facts.st_uid != os.geteuid() or facts.st_mode & 0o022:
        _warn(f"error[TW-PYTHON-0006]: {path} is not used: it is another user's, or others may write to it")
        os.unlink(path)
        return None
    try:
        return Program(path, threads=threads, library=library, device=device)
    except _native.Error as error:
        logger().info("%s is made again: %s", path, error.message)
        return None
