# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiled graphs on disk."""
import logging
import os
import stat

import pytest
import torch

from compare import mlp
from tilewright import _cache
from tilewright.torch import backend

pytestmark = pytest.mark.usefixtures("fresh")


def cache_files(tmp_path):
    return sorted((tmp_path / "cache" / "torch").glob("*.so"))


def test_folders_above_the_cache_are_nobody_elses(tmp_path, monkeypatch, caplog):
    base = tmp_path / "shared" / "cache"
    monkeypatch.setenv("TILEWRIGHT_CACHE", str(base))
    made = _cache.folder("kernels")
    assert made == os.path.realpath(base / "kernels")
    for mode, used in ((0o777, False), (0o1777, True), (0o772, False), (0o755, True)):
        base.parent.chmod(mode)                    # who may rename `cache` may put another in its place
        assert _cache.folder("kernels") == (made if used else None)
    assert any(f"others may write to {base.parent}" in record.getMessage() for record in caplog.records)
    base.chmod(0o777)
    assert _cache.folder("kernels") is None
    base.chmod(0o700)
    # A link is followed once: what it points to later is not what was looked at.
    (tmp_path / "link").symlink_to(base)
    monkeypatch.setenv("TILEWRIGHT_CACHE", str(tmp_path / "link"))
    assert _cache.folder("kernels") == made


def test_cache(tmp_path, caplog):
    net, x = mlp().requires_grad_(False), torch.randn(4, 16)
    expected = net(x)

    def run():
        torch._dynamo.reset()
        torch.testing.assert_close(torch.compile(net, backend=backend)(x), expected)

    run()
    files = cache_files(tmp_path)
    assert len(files) == 1 and stat.S_IMODE(os.stat(files[0].parent).st_mode) == 0o700
    assert files[0].stat().st_size < 300_000
    made = files[0].stat().st_mtime_ns
    run()
    assert cache_files(tmp_path) == files and files[0].stat().st_mtime_ns == made
    torch._dynamo.reset()
    files[0].unlink()
    files[0].write_bytes(b"no artifact")
    run()
    assert files[0].stat().st_size > 1000
    files[0].unlink()
    files[0].mkdir()
    run()
    assert files[0].is_file() and next(files[0].parent.glob("*.folder")).is_dir()
    os.chmod(files[0].parent, 0o777)
    files[0].unlink()
    with caplog.at_level(logging.WARNING, "tilewright.torch"):
        run()
    assert any("TW-PYTHON-0006" in record.getMessage() for record in caplog.records) and not cache_files(tmp_path)


def test_a_cache_that_cannot_be_written_is_left_out(tmp_path, caplog):
    """A folder lies where the program would, and cannot be put away: another full one has its new name."""
    net, x = mlp().requires_grad_(False), torch.randn(4, 16)
    torch.compile(net, backend=backend)(x)
    file, = cache_files(tmp_path)
    file.unlink()
    (file / "full").mkdir(parents=True)
    (file.parent / f"{file.name}.{os.getpid()}.folder" / "full").mkdir(parents=True)
    torch._dynamo.reset()
    with caplog.at_level(logging.WARNING, "tilewright"):
        torch.testing.assert_close(torch.compile(net, backend=backend)(x), net(x))
    said = [record.getMessage() for record in caplog.records]
    assert any(each.startswith(f"error[TW-PYTHON-0006]: {file} is a folder and not used; it is now") and
               each.endswith("(Directory not empty)") for each in said), said
    assert any(each.startswith("error[TW-PYTHON-0006]: the cache is not used for this program: cannot write") for each in said), said


@pytest.mark.parametrize("damage", [
    lambda content, place: content[:place] + bytes([content[place] ^ 1]) + content[place + 1:], lambda content, place: content[:place],
    lambda content, place: content[:place] + bytes(64) + content[place + 64:]], ids=["a bit", "its end", "a part"])
def test_damaged_files_are_made_again(tmp_path, damage):
    """Wherever they are damaged: none of such a file is loaded."""
    x = torch.randn(4)
    function = torch.compile(lambda x: x.sin() * 2 + 1, backend=backend)
    expected = function(x)
    file, = cache_files(tmp_path)
    content = file.read_bytes()
    for place in range(0, len(content), len(content) // 40):
        damaged = damage(content, place)
        if damaged == content:
            continue
        file.unlink()  # what is loaded of it stays as it is
        file.write_bytes(damaged)
        assert _cache.load(str(file), "torch") is None, place
    torch._dynamo.reset()
    assert torch.equal(function(x), expected)
    assert _cache.load(str(file), "torch") is not None


def test_what_others_may_have_written_is_not_used(tmp_path, caplog, monkeypatch):
    net, x = mlp().requires_grad_(False), torch.randn(4, 16)

    def run():
        torch._dynamo.reset()
        caplog.clear()
        torch.testing.assert_close(torch.compile(net, backend=backend)(x), net(x))
        return [record.getMessage() for record in caplog.records if "TW-PYTHON-0006" in record.getMessage()]

    with caplog.at_level(logging.WARNING, "tilewright"):
        assert run() == []
        file, = cache_files(tmp_path)
        os.chmod(file, 0o666)  # it is made again
        assert len(run()) == 1 and not cache_files(tmp_path)[0].stat().st_mode & 0o022
        os.symlink(os.devnull, file.with_suffix(".link"))
        os.replace(file.with_suffix(".link"), file)
        run()
        assert not file.is_symlink()
        made, us = file.stat().st_mtime_ns, os.geteuid()
        monkeypatch.setattr(os, "geteuid", lambda: us + 1)  # now all of it is another user's
        assert len(run()) == 1 and cache_files(tmp_path) == [file] and file.stat().st_mtime_ns == made


def test_a_program_under_another_name_is_not_believed(tmp_path, caplog):
    """Such as a copy that somebody made: it is well formed, and takes and gives the same."""
    x = torch.randn(4)

    def run(f):
        torch._dynamo.reset()
        return torch.compile(f, backend=backend)(x)

    def plus(x):
        return x + 1

    def times(x):
        return x * 3

    run(plus)
    first, = cache_files(tmp_path)
    run(times)
    second, = set(cache_files(tmp_path)) - {first}
    second.unlink()
    second.write_bytes(first.read_bytes())
    with caplog.at_level(logging.WARNING, "tilewright"):
        torch.testing.assert_close(run(times), x * 3)
        torch.testing.assert_close(run(times), x * 3)
    said = [record.getMessage() for record in caplog.records if "TW-PYTHON-0006" in record.getMessage()]
    assert len(said) == 1 and first.stem in said[0] and second.stem in said[0]
    assert first.read_bytes() != second.read_bytes()


def test_a_cache_whose_name_is_no_text(tmp_path, monkeypatch, caplog):
    monkeypatch.setenv("TILEWRIGHT_CACHE", str(tmp_path) + "/\udcff")
    torch._dynamo.reset()
    with caplog.at_level(logging.WARNING, "tilewright"):
        assert torch.compile(lambda x: x + 2, backend=backend)(torch.ones(2)).tolist() == [3, 3]
    assert any("TW-PYTHON-0006" in record.getMessage() for record in caplog.records)
