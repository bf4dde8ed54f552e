# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pages about Python are run, block after block, and print what they say."""
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# What is printed beside the blocks that stand for what is printed.
SAID = {"README.md": ("kernels ",), "docs/python.md": ("f32[32, 10]", "_fft_r2c", "TW-RUNTIME-0011"),
        "docs/python-tutorial.md": ("of the points are right",), "docs/frozen-weights.md": (), "docs/calling-kernels.md": (),
        "docs/python-kernels.md": ("all 65536 elements agree", "tensor<1x512xf32>")}
# Errors of floating point, and how many operators PyTorch makes of a function.
NUMBER = re.compile(r"\S+(?= absolute| relative)|\d+(?= operators,)")


def blocks(page):
    """(language, text); the language "" is that of what the block before prints."""
    return re.findall(r"^```(\w*)\n(.*?)^```$", (ROOT / page).read_text(), re.S | re.M)


def test_every_page_with_python_is_run():
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    assert {str(page.relative_to(ROOT)) for page in pages if "```python" in page.read_text()} == set(SAID)


@pytest.mark.parametrize("page", SAID)
def test_page(page, tmp_path, monkeypatch, run_with_torch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TILEWRIGHT_CACHE", str(tmp_path / "cache"))
    parts = blocks(page)
    code = [text for language, text in parts if language == "python"]
    end = "--- the end of a block ---\n"
    printed = run_with_torch(f"""
        for text in {code!r}:
            exec(compile(text, {Path(page).name!r}, "exec"), globals())
            print({end!r}, end="")
    """)
    assert all(each in printed for each in SAID[page]), printed
    outputs = iter(printed.split(end))
    for language, text in parts:
        if language == "python":
            last = next(outputs)
        elif not language:
            assert NUMBER.sub("...", last) == NUMBER.sub("...", text)
