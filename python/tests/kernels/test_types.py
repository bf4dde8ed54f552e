# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Type checkers: kernels with types are right to mypy --strict, and it finds what is wrong with values."""
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
import typed_kernels

import tilewright.kernel as tk

HERE = Path(__file__).parent
# What is told of torch's own code would be told again, and its analysis takes a minute.
CONFIGURATION = """
[mypy]
strict = True
pretty = False
[mypy-torch.*]
follow_imports = skip
"""


@pytest.fixture(scope="module")
def mypy(tmp_path_factory):
    """What mypy --strict says of files: lines of "path:line: message"."""
    folder = tmp_path_factory.mktemp("mypy")
    (folder / "mypy.ini").write_text(CONFIGURATION)

    def run(*arguments):
        done = subprocess.run([sys.executable, "-m", "mypy", "--config-file", str(folder / "mypy.ini"), "--cache-dir",
                               str(folder / "cache"), *map(str, arguments)], capture_output=True, text=True, check=False)
        assert done.returncode in (0, 1), done.stdout + done.stderr
        return done.stdout

    return run


def test_kernels_with_types(mypy):
    said = mypy(HERE / "typed_kernels.py")
    assert said.startswith("Success"), said


def test_kernels_without_types(mypy):
    """The examples, whose functions say nothing of types but in the kernels' arguments."""
    said = mypy("--allow-untyped-defs", "--allow-incomplete-defs", "--allow-untyped-calls",
                *(HERE.parents[2] / "examples" / "kernels").glob("*.py"))
    assert said.startswith("Success"), said


MISTAKES = """
    import tilewright.kernel as tk

    M, N = tk.symbols("M N")
    T = tk.dtype("T", tk.f32 | tk.bf16)

    @tk.kernel
    def wrong(x: tk.In[T, M, N], y: tk.Out[tk.f32, M, N], *, BN: int = 64) -> None:
        m, = tk.grid(M)
        t = tk.load(x, [m, 0], [1, N])
        t.colour  # "Tile" has no attribute "colour"
        tk.store(t, [m, 0], y)  # Argument 1 to "store" has incompatible type
        tk.lod(x, [m, 0], [1, N])  # has no attribute "lod"
        size: tk.Size = m + 1  # expression has type "Index"
        tile: tk.Tile = m * 2.0  # expression has type "Scalar"
        range(m)  # matches argument type "Index"
        x.colour  # has no attribute "colour"
        tk.sum(t, 1, keep=True)  # Unexpected keyword argument "keep"

    wrong.texts()  # "Kernel" has no attribute "texts"
"""


def test_mistakes(mypy, tmp_path):
    code = textwrap.dedent(MISTAKES)
    (tmp_path / "mistakes.py").write_text(code)
    said = mypy(tmp_path / "mistakes.py")
    expected = {number: line.split("  # ")[1] for number, line in enumerate(code.splitlines(), 1) if "  # " in line}
    for number, words in expected.items():
        assert re.search(rf":{number}: error: .*{re.escape(words)}", said), f"line {number}: {words}\n{said}"
    assert {int(number) for number in re.findall(r":(\d+): error", said)} == set(expected), said


def test_they_run():
    """Annotations that are types to a checker are what they always were when the kernels run."""
    assert [text.splitlines()[0].count("kernel") for text in typed_kernels.texts()] == [1, 1, 1]
    w = np.zeros(4, np.float32)
    x = np.full((3, 9), 5, np.float32)
    y, count, total = typed_kernels.everything(x, w, 0.5, True, 100, BN=32, twice=True)
    assert (y == 1).all() and y.shape == (3, 100) and count == 12 and total == 5 and total.shape == () and (w == 1).all()
    x = np.random.randn(3, 16).astype(np.float32)
    sums = typed_kernels.statistics(x)
    np.testing.assert_allclose(sums[:, 0], (x / (1 + np.exp(-x))).sum(1), rtol=1e-4)
    assert typed_kernels.of_values.check(np.random.randn(2, 5), 1)


def test_unions_of_dtypes():
    assert tk.f32 | tk.bf16 | tk.i8 == (tk.f32, tk.bf16, tk.i8) and tk.f32 | (tk.f16 | tk.i1) == (tk.f32, tk.f16, tk.i1)
    assert tk.dtype("T", tk.f32 | tk.bf16).choices == [tk.f32, tk.bf16] == tk.dtype("T", tk.f32, tk.bf16).choices
    for odd in (1, "f32", tk.symbol("N")):
        with pytest.raises(TypeError):
            tk.f32 | odd
