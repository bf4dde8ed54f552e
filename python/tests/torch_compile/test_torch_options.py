# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How torch.compile finds the backend, and its options."""
import os
import platform
from pathlib import Path

import pytest
import torch

from compare import check, mlp
from tilewright.torch import backend, explain

pytestmark = pytest.mark.usefixtures("fresh")


def test_is_found_by_name():
    net, x = mlp(), torch.randn(4, 16)
    torch.testing.assert_close(torch.compile(net, backend="tilewright")(x), net(x))
    assert list(Path(os.environ["TILEWRIGHT_CACHE"], "torch").glob("*.so"))
    project = (Path(__file__).parents[3] / "pyproject.toml").read_text()
    assert '[project.entry-points.torch_dynamo_backends]\ntilewright = "tilewright.torch:backend"' in project


def test_unknown_options_are_refused():
    def failing(**keywords):
        with pytest.raises(Exception) as caught:
            torch.compile(lambda x: x + 1, backend=backend, **keywords)(torch.ones(1))
        return str(caught.value)

    assert "TW-PYTHON-0005" in failing(options={"thread": 1}) and "threads" in failing(options={"thread": 1})
    assert "TW-PYTHON-0005" in failing(options={"threads": 0})
    assert "TW-PYTHON-0005" in failing(options={"target": 3})
    assert "TW-PYTHON-0005" in failing(options={"precision": "fp4"})
    assert "TW-DRIVER-0003" in failing(options={"precision": "tf32", "target": "cpu"})
    assert "TW-PYTHON-0005" in failing(options={"kernels": "k.cpp"})
    assert "TW-IO-0001" in failing(options={"kernels": ["no.cpp"]}) and "no.cpp" in failing(options={"kernels": ["no.cpp"]})
    assert "TW-DRIVER-0002" in failing(options={"target": "gpu"})
    elsewhere = failing(options={"target": "cpu:x86-64" if platform.machine() == "aarch64" else "cpu:aarch64"})
    # A compiler that holds LLVM, as the wheel's, makes code of its own architecture alone.
    assert "TW-PROGRAM-0009" in elsewhere or ("TW-RUNTIME-0005" in elsewhere and "leave out the target" in elsewhere)
    assert ".so" not in elsewhere
    assert "give a list" not in failing(options={"kernels": [3]}) and "a kernel is an int" in failing(options={"kernels": [3]})
    assert "TW-PYTHON-0005" in failing(mode="max-autotune")


def test_options(tmp_path):
    check(mlp().requires_grad_(False), torch.randn(4, 16), threads=1, target="reference",
          dump_to=str(tmp_path / "ir"))
    assert os.listdir(tmp_path / "ir")


def test_precision_of_graphs_in_main_memory():
    """It is of graphs on GPUs where the target follows the device: these are f32, and what the cache has is shared."""
    net, x = mlp().requires_grad_(False), torch.randn(4, 16)
    for options in (None, {"precision": "f32"}, {"precision": "tf32"}):
        torch._dynamo.reset()
        torch.testing.assert_close(torch.compile(net, backend=backend, options=options)(x), net(x))
    assert len(list(Path(os.environ["TILEWRIGHT_CACHE"], "torch").glob("*.so"))) == 1


def test_torchs_own_option():
    """torch takes it out, and the rest is ours."""
    asked = []

    def keep_all(guards):
        asked.append(len(guards))
        return [True] * len(guards)

    net, x = mlp().requires_grad_(False), torch.randn(4, 16)
    said = explain(net, x, options={"guard_filter_fn": keep_all, "threads": 1})
    assert "0 run eagerly" in str(said) and asked
    asked.clear()
    fast = torch.compile(net, backend=backend, options={"guard_filter_fn": keep_all, "threads": 1})
    torch.testing.assert_close(fast(x), net(x))
    assert asked and all(asked)
