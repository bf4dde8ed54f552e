# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""docs/python.md is run, block after block."""
import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "python.md"


def test_page(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TILEWRIGHT_CACHE", str(tmp_path / "cache"))
    names = {}
    for block in re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.S | re.M):
        exec(compile(block, PAGE.name, "exec"), names)
    said = capsys.readouterr().out
    assert "f32[32, 10]" in said and "_fft_r2c" in said and "TW-RUNTIME-0011" in said
