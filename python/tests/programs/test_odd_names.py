# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Names that no program has: of texts that are not UTF-8, as Python has them of files, and of texts with a zero."""
import logging
import os

import numpy as np
import pytest
import torch

import tilewright
import tilewright.kernel as tk
from tilewright import _cache

N, = tk.symbols("N")
ODD = [("\ud800", r"'\ud800'"), ("x\0", r"'x\x00'")]
each_odd = pytest.mark.parametrize(("odd", "written"), ODD, ids=["surrogate", "zero"])


class Counter(torch.nn.Module):
    def __init__(self, name="count"):
        super().__init__()
        self.name = name
        self.register_buffer(name, torch.zeros(3))

    def forward(self, x):
        return x + getattr(self, self.name).add_(1)


class Text(torch.nn.Module):
    def __init__(self, text):
        super().__init__()
        self.text = text

    def forward(self, x):
        return x + 1, self.text


@tk.kernel
def doubled(x: tk.In[tk.f32, N], y: tk.Out[tk.f32, N]):
    n, = tk.grid(N)
    tk.store(y, [n], tk.load(x, [n], [1]) * 2.0)


@pytest.fixture(scope="module")
def counter():
    return tilewright.compile(Counter(), (torch.ones(3),))


@each_odd
def test_inputs_and_state(odd, written, counter, refusal):
    with refusal("TW-PYTHON-0003", f"the program has no input {written}", "the program takes x: f32[3]"):
        counter(**{odd: torch.ones(3)})
    for use in (lambda: counter.state[odd], lambda: counter.state.reset(odd),
                lambda: counter.state.__setitem__(odd, torch.ones(3))):
        with refusal("TW-RUNTIME-0015", f"the program has no state named {written}", "it has: count"):
            use()
    with refusal("TW-RUNTIME-0015", r"the program has no state named 'count\x00'"):
        counter.state["count\0"]
    assert odd not in counter.state


@each_odd
def test_kernels(odd, written, refusal):
    bare = written.strip("'")
    for use in (doubled, doubled.check, doubled.interpret):
        with refusal("TW-PYTHON-0003", f'kernel doubled: there is no argument and no parameter "{bare}"', "it takes x"):
            use(**{odd: np.ones(3, np.float32)})
    for use, *words in ((lambda: doubled.text(**{odd: 3}), f"kernel doubled has no parameter and no symbol called {bare}", "N"),
                        (lambda: tk.dtype(odd), f"the dtype variable {bare} has no dtypes to choose from", "say T = tk.dtype"),
                        (lambda: tk.kernel(name=odd)(doubled.function).text(), f"the name of a kernel is {written}",
                         "give a text")):
        with refusal("TW-KERNEL-0003", *words, kind=tk.KernelError):
            use()
    with refusal("TW-PYTHON-0005", f"kernel doubled cannot be registered: it has no parameter {bare}", "it has none"):
        doubled.register("tilewright_odd_names::doubled", **{odd: 3})


def test_files_of_kernels(tmp_path):
    """Python has a text for each byte of a path; mistakes are told with these as Python writes them."""
    folder = os.fsencode(tmp_path) + b"/\xff"
    os.mkdir(folder)
    with open(folder + b"/mistaken.py", "w") as file:
        file.write("import tilewright.kernel as tk\n"
                   "N, = tk.symbols('N')\n"
                   "@tk.kernel\n"
                   "def copied(x: tk.In[tk.f32, N], y: tk.Out[tk.f32, N], *, more=0):\n"
                   "    n, = tk.grid(N)\n"
                   "    tk.store(y, [n] + more * [n], tk.load(x, [n], [1]))\n")
    path, names = os.fsdecode(file.name), {}
    with open(path) as file:
        exec(compile(file.read(), path, "exec"), names)
    copied = names["copied"]
    assert copied(np.arange(3, dtype=np.float32)).tolist() == [0, 1, 2]
    with pytest.raises(tk.KernelError, match="store of y got 2 positions") as caught:
        copied(np.ones(3, np.float32), more=1)
    assert caught.value.file == rf"{tmp_path}/\udcff/mistaken.py"
    assert rf"--> {tmp_path}/\udcff/mistaken.py:6:5, in kernel copied" in caught.value.text


def test_models(refusal):
    """What torch.export takes."""
    x = torch.ones(3)
    for name, written in ODD:
        with refusal("TW-PYTHON-0007", f"the name of a weight is {written}", "names are texts in UTF-8 without a zero"):
            tilewright.compile(Counter(name), (x,))
    with refusal("TW-PYTHON-0007", r"Text has the text '\ud800', which is not UTF-8, in it", "write that part"):
        tilewright.compile(Text("\ud800"), (x,))
    with refusal("TW-IMPORT-0016", "the text output_1 has a zero in it"):
        tilewright.compile(Text("a\0b"), (x,))
    unnamed = torch.nn.ModuleDict({"\ud800": torch.nn.ReLU()})  # in no name of the program, but in what reports say
    module = torch.nn.Sequential(torch.nn.ReLU())
    module.forward = lambda x: unnamed["\ud800"](x) - 1
    module.unnamed = unnamed
    assert tilewright.compile(module, (-x,))(-x).tolist() == [-1] * 3
    assert torch.compile(Counter("\ud800"), backend="tilewright")(x).tolist() == [2, 2, 2]


def test_the_cache(monkeypatch, tmp_path, caplog):
    monkeypatch.setenv("TILEWRIGHT_CACHE", f"{tmp_path}/\udcff")
    with caplog.at_level(logging.WARNING, "tilewright"):
        assert _cache.folder("kernels") is None
    assert (f"error[TW-PYTHON-0006]: the folder of the cache '{tmp_path}/\\udcff/kernels' is not UTF-8, or has a zero in it"
            in caplog.text)
