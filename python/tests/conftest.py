# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest
import torch

import tilewright


@pytest.fixture(autouse=True)
def one_seed():
    torch.manual_seed(0)
    np.random.seed(0)


@pytest.fixture(autouse=True, scope="session")
def own_cache(tmp_path_factory):
    """No test finds what was compiled before, or leaves something in the user's folders."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TILEWRIGHT_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture
def fresh(tmp_path, monkeypatch):
    """An empty cache of compiled graphs, and nothing that Dynamo knows from before."""
    monkeypatch.setenv("TILEWRIGHT_CACHE", str(tmp_path / "cache"))
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


def _run_python(code, **environment):
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=120,
                          env={**os.environ, **environment}, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "nanobind: leaked" not in done.stderr, done.stderr
    return done.stdout


@pytest.fixture
def run_python():
    """What a program prints in a Python of its own, which must end well and leave nothing behind."""
    return _run_python


class Refusal:
    """The error that a with-block must end with: its code, and words of its text."""

    def __init__(self, code, *words, kind=tilewright.Error):
        self.code, self.words, self.kind = code, words, kind

    def __enter__(self):
        return self

    def __exit__(self, kind, error, _):
        assert error is not None, f"nothing was refused, but {self.code} was expected"
        if not isinstance(error, tilewright.Error):
            return False
        assert error.code == self.code, error.text
        assert isinstance(error, self.kind)
        for word in self.words:
            assert word in error.text, error.text
        assert error.text.startswith(f"error[{self.code}]: {error.message}")
        self.error = error
        return True


@pytest.fixture
def refusal():
    return Refusal


@pytest.fixture(scope="session")
def mlp():
    """A module and its program: x f32[4, 16] -> f32[4, 8]."""
    torch.manual_seed(0)
    module = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.ReLU(), torch.nn.Linear(32, 8)).eval()
    return module, tilewright.compile(module, (torch.randn(4, 16),), threads=1)
