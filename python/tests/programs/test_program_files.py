# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs and models as files: what is saved and loaded, and what is written to no file."""
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn
from torch.export import Dim

import tilewright
from compare import close


def test_save_and_load(mlp, tmp_path, refusal, run_python):
    _, program = mlp
    x = torch.randn(4, 16)
    path = tmp_path / "mlp.so"
    program.save(path)
    loaded = tilewright.load(path, threads=1)
    close(loaded(x), program(x), 0)
    assert [repr(value) for value in loaded.inputs] == ["input: f32[4, 16]"]
    assert sorted(os.listdir(tmp_path)) == ["mlp.so"]
    out = run_python(f"""
        import sys, numpy as np, tilewright
        y = tilewright.load({str(path)!r})(np.ones((4, 16), np.float32))
        print(y.shape, "torch" in sys.modules, "LLVM" in open("/proc/self/maps").read())
    """)
    assert out == "(4, 8) False False\n"
    with refusal("TW-RUNTIME-0001", "none.so"):
        tilewright.load(tmp_path / "none.so")
    damaged = tmp_path / "damaged.so"
    damaged.write_bytes(path.read_bytes()[:3000])
    with pytest.raises(tilewright.InputError):
        tilewright.load(damaged)
    with refusal("TW-PYTHON-0005", "library"):
        tilewright.load(path, library="jax")
    nowhere = tmp_path / "none" / "mlp.so"
    with refusal("TW-IO-0002", f"cannot write {nowhere}: No such file or directory", "give another place"):
        program.save(nowhere)
    with refusal("TW-IO-0002", f"cannot write {tmp_path}: Is a directory"):
        program.save(tmp_path)


def test_save_of_a_file_that_is_gone(mlp, tmp_path, refusal):
    """What is saved is the program, not what lies where it was loaded from by now."""
    _, program = mlp
    path, copy = tmp_path / "mlp.so", tmp_path / "copy.so"
    program.save(path)
    loaded = tilewright.load(path, threads=1)
    program.save(path)
    gone = f"cannot save the program: {path}, which it was loaded from, is gone or another file"
    with refusal("TW-IO-0001", gone, "load the program again"):
        loaded.save(copy)
    path.unlink()
    with refusal("TW-IO-0001", gone, "load the program again"):
        loaded.save(copy)
    assert os.listdir(tmp_path) == []


def test_saved_files_are_as_private_as_the_process_wants(mlp, tmp_path):
    _, program = mlp
    before = os.umask(0o077)
    try:
        program.save(tmp_path / "mlp.so")
    finally:
        os.umask(before)
    assert (tmp_path / "mlp.so").stat().st_mode & 0o777 == 0o700


def test_save_loses_no_file(tmp_path, monkeypatch, refusal):
    monkeypatch.chdir(tmp_path)
    torch.export.save(torch.export.export(torch.nn.Linear(16, 8), (torch.randn(5, 16),)), "m.pt2")
    model = Path("m.pt2").read_bytes()
    program = tilewright.compile("m.pt2")
    os.symlink("m.pt2", "link.pt2")
    for name in ("m.pt2", tmp_path / "link.pt2"):
        with refusal("TW-IO-0018", "compiled from that file"):
            program.save(name)
    assert Path("m.pt2").read_bytes() == model
    os.symlink("real.so", "link.so")
    Path(".real.so.tilewright").write_bytes(b"left by a process that was killed")
    program.save("link.so")
    assert os.path.islink("link.so") and sorted(os.listdir()) == ["link.pt2", "link.so", "m.pt2", "real.so"]
    x = np.ones((5, 16), np.float32)
    assert np.array_equal(tilewright.load("real.so")(x), program(x))


def test_save_keeps_pairs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model = Path(__file__).parents[3] / "e2e/models/small_mlp/small_mlp.pt2"
    tool = (Path(tilewright.__file__).parent / "lib").resolve().parent / "bin/tilewright"
    if not tool.exists():
        pytest.skip("no command-line tool")
    subprocess.run([tool, "compile", model, "-o", "a.so", "--weights=external"], check=True)
    loaded = tilewright.load("a.so")
    loaded.save("b.so")
    os.unlink("a.so.weights")
    x = np.ones((5, 16), np.float32)
    assert np.array_equal(tilewright.load("b.so")(x), loaded(x))
    assert sorted(os.listdir()) == ["a.so", "b.so", "b.so.weights"]


def test_paths_may_be_bytes(mlp, tmp_path):
    mlp[1].save(tmp_path / "mlp.so")
    assert tilewright.load(os.fsencode(tmp_path / "mlp.so")).inputs


@pytest.mark.parametrize("path, words", [(5, "the path is an int"), ("a\0b", "has a zero in it"), ("/tmp/\udcff", "not UTF-8")])
def test_paths_that_are_none(refusal, path, words):
    with refusal("TW-PYTHON-0005", words):
        tilewright.load(path)


def test_files_are_models_too(tmp_path):
    module = torch.nn.Linear(4, 2)
    torch.export.save(torch.export.export(module, (torch.ones(3, 4),)), tmp_path / "linear.pt2")
    program = tilewright.compile(tmp_path / "linear.pt2")
    x = np.ones((3, 4), np.float32)
    close(program(x), module(torch.from_numpy(x)).detach())
    assert "linear" in repr(program)


def test_memory_and_files_give_the_same_program(tmp_path):
    """Our JSON says what torch's says."""
    model = torch.nn.TransformerEncoderLayer(16, 2, 32, batch_first=True).eval()
    exported = torch.export.export(model, (torch.randn(2, 5, 16),), dynamic_shapes={"src": {1: Dim("n", max=64)}})
    torch.export.save(exported, tmp_path / "layer.pt2")
    ours, theirs = tilewright.compile(exported), tilewright.compile(tmp_path / "layer.pt2")
    assert ours.report.dispatches == [dict(each, source=each["source"].replace("layer.pt2", "ExportedProgram"))
                                      for each in theirs.report.dispatches]
    assert ours.symbols == theirs.symbols and repr(ours.inputs) == repr(theirs.inputs)
    x = torch.randn(2, 7, 16)
    assert torch.equal(ours(x), torch.as_tensor(theirs(x.numpy())))


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.norm, self.head = torch.nn.Conv2d(3, 8, 3), torch.nn.BatchNorm2d(8), torch.nn.Linear(8, 4)

    def forward(self, x):
        return self.head(self.norm(self.conv(x)).relu().mean((2, 3)))


@pytest.mark.parametrize("way", ["program", "graph", "frozen graph"])
def test_weights_go_to_no_file(tmp_path, monkeypatch, way):
    """Folded and packed weights included: temporary files are gone, and what is cached has few bytes."""
    for folder in ("TMPDIR", "TILEWRIGHT_CACHE", "HOME"):
        (tmp_path / folder).mkdir()
        monkeypatch.setenv(folder, str(tmp_path / folder))
    monkeypatch.chdir(tmp_path / "HOME")
    net, x = Net().eval().requires_grad_(False), torch.randn(2, 3, 8, 8)
    net.head = torch.nn.Linear(8, 20_000).requires_grad_(False)
    if way == "program":
        compiled = tilewright.compile(net, (x,))
    else:
        torch._dynamo.reset()
        compiled = torch.compile(net, backend="tilewright", options={"freeze": way == "frozen graph"})
    close(compiled(x), net(x), 1e-4)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {path.suffix for path in files} <= {".so"} and len(files) == {"program": 0, "graph": 1, "frozen graph": 2}[way]
    assert all(path.stat().st_size < net.head.weight.nbytes / 4 for path in files)
    needles = [net.head.weight[0].numpy().tobytes(), net.conv.weight[0, 0, 0].numpy().tobytes()]
    assert not any(needle in path.read_bytes() for path in files for needle in needles)
