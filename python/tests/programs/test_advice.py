# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Messages that name options of the command line say what these are in Python. All tests with `refusal` look for it; here
are messages that no other test makes."""
import numpy as np
import pytest
import torch

import tilewright
import tilewright.kernel as tk

N, = tk.symbols("N")


@tk.kernel
def doubled(x: tk.In[tk.f32, N], y: tk.Out[tk.f32, N]):
    n, = tk.grid(N)
    tk.store(y, [n], tk.load(x, [n], [1]) * 2.0)


class Rope(torch.nn.Module):
    def forward(self, x):
        return torch.ops.tilewright_advice_test.rope(x)


def custom_operator(_):
    with torch.library._scoped_library("tilewright_advice_test", "FRAGMENT") as library:
        library.define("rope(Tensor x) -> Tensor")
        for key in ("CPU", "Meta"):
            library.impl("rope", torch.clone, key)
        tilewright.compile(Rope(), (torch.ones(3),))


def written(name, text, use):
    def run(folder):
        (folder / name).write_text(text)
        use(folder / name)

    return run


RELU = """func.func @{name}(%x: !torch.vtensor<[3],f32>) -> !torch.vtensor<[3],f32> {{
  %0 = torch.aten.relu %x : !torch.vtensor<[3],f32> -> !torch.vtensor<[3],f32>
  return %0 : !torch.vtensor<[3],f32>
}}
"""
ONES = np.ones(3, np.float32)
MESSAGES = {
    "in Python with kernels=[...]; that of mylib.rope": ("TW-LOWER-0001", custom_operator),
    "in Python with kernels=[...]; tilewright kernel run": ("TW-DRIVER-0004", written("k.cpp", "\n", tilewright.compile)),
    'in Python target="interpreter"': ("TW-DRIVER-0002", lambda _: doubled.check(ONES, target="nothing")),
    "in Python with kernel.compile_to_file": ("TW-DRIVER-0003", lambda _: doubled.check(ONES, target="nvidia:sm_90a")),
    'in Python as_="loops" and so on': ("TW-DRIVER-0003", lambda _: doubled.print(as_="plan", target="nvidia:sm_90a")),
    "in Python another path": ("TW-PROGRAM-0005", lambda folder: doubled.compile_to_file(folder / "none" / "k.so")),
    "in Python by Program.save": ("TW-RUNTIME-0002", written("p.so", "no artifact", tilewright.load)),
    "on the command line --entry names another": (
        "TW-IMPORT-0102", written("m.mlir", RELU.format(name="a") + RELU.format(name="b"), tilewright.compile)),
}


@pytest.mark.parametrize("said", MESSAGES)
def test_options(said, tmp_path, refusal):
    code, use = MESSAGES[said]
    with refusal(code, said):
        use(tmp_path)
