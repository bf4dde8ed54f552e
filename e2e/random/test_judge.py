# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of judge.py with a tool that gives chosen results: `python3 -m unittest e2e/random/test_judge.py`."""

import array
import contextlib
import io
import json
import pathlib
import struct
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import judge

TOOL = """#!{python}
import pathlib, shutil, sys
values = {values}
if sys.argv[1] == "compile":
    sys.exit({status})
threads = [a for a in sys.argv if a.startswith("--threads=")][0][-1]
target = [a for a in sys.argv if a.startswith("--output=@")][0][10:]
shutil.copy(pathlib.Path(sys.argv[0]).parent / values[threads], target)
"""


def npy_bytes(values: list[float]) -> bytes:
    header = str({"descr": "<f4", "fortran_order": False, "shape": (len(values),)}).encode()
    header += b" " * (63 - (10 + len(header)) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + array.array("f", values).tobytes()


class Judge(unittest.TestCase):
    def judged(self, one: list[float], two: list[float] | None = None, status: int = 0, **output) -> dict:
        """How a model is judged that should give [1, 2]."""
        with tempfile.TemporaryDirectory() as name:
            root = pathlib.Path(name)
            folder = root / "000001"
            folder.mkdir()
            (folder / "want.npy").write_bytes(npy_bytes([1, 2]))
            (root / "one.npy").write_bytes(npy_bytes(one))
            (root / "two.npy").write_bytes(npy_bytes(two or one))
            entry = {"dtype": "f32", "shape": [2], "expected": "want.npy", "rtol": 1e-6, "atol": 0.0} | output
            (folder / "case.json").write_text(json.dumps({"calls": [{"inputs": [], "outputs": [entry]}]}))
            tool = root / "tool"
            tool.write_text(TOOL.format(python=sys.executable, values={"1": "one.npy", "2": "two.npy"}, status=status))
            tool.chmod(0o755)
            with contextlib.redirect_stdout(io.StringIO()):
                return dict(judge.judge_many(str(tool), [folder], 1))

    def test_right(self):
        self.assertEqual(self.judged([1, 2]), {"outputs": 1})

    def test_wrong(self):
        self.assertEqual(self.judged([1, 2.5]), {"wrong": 1})
        self.assertEqual(self.judged([1, float("nan")]), {"wrong": 1})

    def test_allowed(self):
        self.assertEqual(self.judged([1, 2.5], atol=1.0), {"outputs": 1})
        self.assertEqual(self.judged([1, 7], skipped=[1]), {"outputs": 1})

    def test_other_shape(self):
        self.assertEqual(self.judged([1, 2, 3]), {"wrong": 1})

    def test_threads_differ(self):
        self.assertEqual(self.judged([1, 2], [1, 2.0000002]), {"threads differ": 1})

    def test_status(self):
        self.assertEqual(self.judged([1, 2], status=4), {"status 4": 1})
        self.assertEqual(self.judged([1, 2], status=3), {"refused": 1})


if __name__ == "__main__":
    unittest.main()
