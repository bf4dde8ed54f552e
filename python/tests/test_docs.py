# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pages about Python are run, block after block."""
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
SAID = {"python.md": ("f32[32, 10]", "_fft_r2c", "TW-RUNTIME-0011"), "frozen-weights.md": (),
        "python-kernels.md": ("all 65536 elements agree", "tensor<1x512xf32>")}


@pytest.mark.parametrize("page", SAID)
def test_page(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TILEWRIGHT_CACHE", str(tmp_path / "cache"))
    names = {"__name__": page.removesuffix(".md")}
    for block in re.findall(r"^```python\n(.*?)^```$", (DOCS / page).read_text(), re.S | re.M):
        exec(compile(block, page, "exec"), names)
    said = capsys.readouterr().out
    assert all(each in said for each in SAID[page]), said
