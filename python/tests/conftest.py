# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import os
import re
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


def _ended_well(status, out, err):
    assert status == 0, out + err
    assert "nanobind: leaked" not in err, err
    return out


def _run_python(code, **environment):
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=120,
                          env={**os.environ, **environment}, check=False)
    return _ended_well(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def run_python():
    """What a program prints in a Python of its own, which must end well and leave nothing behind."""
    return _run_python


# A Python that has imported what takes seconds, also what torch imports when it first compiles, and forks for each
# program that it reads: the child runs it as its own __main__ and ends as any Python does.
FORKS = """
import json, os, sys, torch, torch._dynamo, torch._inductor, torch.export, torch.testing
import torch._dynamo.backends.common, torch._functorch.aot_autograd
import functorch.compile, torch._inductor.debug, torch._inductor.lowering, torch._inductor.sizevars, torch.export._trace
from torch.fx.experimental import symbolic_shapes, validator

while line := sys.stdin.readline():
    request = json.loads(line)
    child = os.fork()
    if not child:
        break
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
else:
    os._exit(0)
for number, path in ((0, os.devnull), (1, request["out"]), (2, request["err"])):
    os.dup2(os.open(path, os.O_RDWR | os.O_CREAT), number)
os.chdir(request["folder"])
os.environ.clear()
os.environ.update(request["environment"])
code = request["code"]
del child, line, number, path, request
exec(compile(code, "<string>", "exec"))
"""


@pytest.fixture(scope="session")
def _forks():
    server = subprocess.Popen([sys.executable, "-c", FORKS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    with server:
        yield server
        server.stdin.close()


@pytest.fixture
def run_with_torch(_forks, tmp_path):
    """As run_python, where torch may have been imported before."""
    def run(code):
        out, err = tmp_path / "its-output", tmp_path / "its-errors"
        for path in (out, err):
            path.write_text("")
        request = {"code": textwrap.dedent(code), "out": str(out), "err": str(err), "folder": os.getcwd(),
                   "environment": dict(os.environ)}
        _forks.stdin.write(json.dumps(request) + "\n")
        _forks.stdin.flush()
        status = int(_forks.stdout.readline())
        return _ended_well(status, out.read_text(), err.read_text())

    return run


OPTION = re.compile(r"(^|[ (])--?[a-z]")  # of the command line


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
        assert error.help and f"  help: {error.help}" in error.text, error.text
        for line in error.text.splitlines():
            assert not OPTION.search(line) or "in Python" in line or "on the command line" in line, line
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
