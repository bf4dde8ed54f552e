# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of the runner itself: `python3 -m unittest e2e/test_runner.py`."""

import array
import math
import pathlib
import struct
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import compare
import imports
import npy
import run


def npy_bytes(descr: str, shape: tuple, body: bytes, order: bool = False) -> bytes:
    header = str({"descr": descr, "fortran_order": order, "shape": shape}).encode()
    header += b" " * (63 - (10 + len(header)) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + body


class Npy(unittest.TestCase):
    def test_f32(self):
        data = npy_bytes("<f4", (2, 1), array.array("f", [1.5, -2.0]).tobytes())
        self.assertEqual(npy.parse(data), ((2, 1), "f4", [1.5, -2.0]))

    def test_f16_and_scalar(self):
        self.assertEqual(npy.parse(npy_bytes("<f2", (), struct.pack("<e", 0.5)))[2], [0.5])

    def test_column_major_is_refused(self):
        with self.assertRaises(ValueError):
            npy.parse(npy_bytes("<f4", (2, 2), bytes(16), order=True))

    def test_bf16(self):
        self.assertEqual(npy.widen_bf16([0x3F80, 0xC000]), [1.0, -2.0])


class Imports(unittest.TestCase):
    def symbol(self, index: str, name: str) -> str:
        return f"     1: 0000000000000000     0 FUNC    GLOBAL DEFAULT  {index:>3} {name}\n"

    def needed(self, name: str) -> str:
        return f" 0x0000000000000001 (NEEDED)             Shared library: [{name}]\n"

    def test_few_functions_of_libc_and_libm(self):
        text = self.needed("libm.so.6") + self.symbol("UND", "expf@GLIBC_2.27 (3)")
        self.assertEqual(imports.judge(text + self.symbol("10", "tilewright_program")), [])

    def test_anything_else_is_named(self):
        text = self.needed("libtilewright.so") + self.symbol("UND", "malloc@GLIBC_2.2.5 (2)") + self.symbol("10", "k0")
        self.assertEqual(imports.judge(text), ["needs libtilewright.so", "imports malloc",
                                               "exports k0, not tilewright_program alone"])


class Compare(unittest.TestCase):
    def test_what_cancels_is_compared_as_rounding_errors(self):
        want, exact = [1e-12, -2e-12], [1e-22, 0.0]
        self.assertTrue(compare.is_noise(want, exact))
        self.assertFalse(compare.is_noise([1.0, 2.0], [1.1, 2.0]))
        self.assertFalse(compare.is_noise([0.0, 0.0], [0.0, 0.0]))
        self.assertIsNone(compare.noise([2e-11, 0.0], want, exact))
        self.assertIn("rounding errors", compare.noise([1e-10, 0.0], want, exact))

    def test_tolerance_grows_with_length_and_scale(self):
        short, long = compare.tolerance("f32", 1, 1.0)[1], compare.tolerance("f32", 100, 2.0)[1]
        self.assertAlmostEqual(long, 20 * short)

    def test_integers_are_equal_or_wrong(self):
        self.assertIsNone(compare.difference([1, 2], [1, 2], "i64", 100))
        self.assertIn("1 of 2 values differ", compare.difference([1, 3], [1, 2], "i64", 100))

    def test_special_values(self):
        special = [math.inf, -math.inf, math.nan]
        self.assertIsNone(compare.difference(special, special, "f32", 1))
        self.assertIsNotNone(compare.difference([math.nan], [1.0], "f32", 1))
        self.assertIsNotNone(compare.difference([1e30], [math.inf], "f32", 1))

    def test_distance_from_double_precision(self):
        self.assertIsNone(compare.inaccuracy([1 + 2e-7], [1 + 1e-7], [1.0], "f32", 0.0))
        self.assertIsNotNone(compare.inaccuracy([1 + 9e-7], [1 + 1e-7], [1.0], "f32", 0.0))
        self.assertIsNone(compare.inaccuracy([1 + 9e-7], [1 + 1e-7], [1.0], "f32", 5e-7))
        self.assertIsNone(compare.inaccuracy([1 + 9e-7], [1 + 1e-7], [1.0], "f32", 0.0, reduction=64))
        self.assertIsNotNone(compare.inaccuracy([1 + 2e-6], [1 + 1e-7], [1.0], "f32", 0.0, reduction=64))


class Cases(unittest.TestCase):
    def test_every_case_has_its_files(self):
        cases = run.find_cases([])
        self.assertGreater(len(cases), 150)
        for case in cases:
            self.assertTrue((case.folder / case.description["model"]).exists(), case.name)

    def test_options_stand_before_the_calls(self):
        (case,) = run.find_cases(["models/counter"])
        calls = case.description["cases"][0]["calls"]
        words = run.call_arguments(case, calls, pathlib.Path("scratch"), "out")
        self.assertEqual(words.count("--next"), len(calls) - 1)
        self.assertFalse([word for word in words if not word.startswith(("--next", "--input", "--output", "--expected"))])


if __name__ == "__main__":
    unittest.main()
