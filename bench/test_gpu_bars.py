#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of the table of bars that gpu.py writes."""
import unittest

import gpu_bars
import gpu_rows


def measured(row: str, **fields) -> dict:
    return {"row": row, "ratio": 1.1, "of_copy": 0.95, "error": 2e-4, "torch_error": 2e-4, **fields}


class Bars(unittest.TestCase):
    def test_a_long_row_that_misses_is_named(self):
        rows = [measured(row) for row in gpu_bars.LONG_ROWS]
        self.assertIn("| 1 | yes |", gpu_bars.table(rows))
        rows[gpu_bars.LONG_ROWS.index("layer_norm_4096x32768")]["of_copy"] = 0.84
        self.assertIn("| no: layer_norm_4096x32768 |", gpu_bars.table(rows))

    def test_long_rows_are_rows_that_are_measured(self):
        self.assertLessEqual(set(gpu_bars.LONG_ROWS), set(gpu_rows.ROWS))

    def test_a_larger_error_shows_and_a_wrong_result_misses(self):
        one = measured("bf16_4096x4096x4096", error=2.5e-4)
        self.assertIn("| 1.25 | yes |", gpu_bars.table([one]))
        one["error"] = 5e-4
        self.assertIn("| 2.5 | no: bf16_4096x4096x4096 |", gpu_bars.table([one]))

    def test_ratios_where_a_peer_is_exact(self):
        self.assertEqual(gpu_bars.error_ratio(measured("x", error=0.0, torch_error=0.0)), 1)
        self.assertGreater(gpu_bars.error_ratio(measured("x", torch_error=0.0)), 1e20)


if __name__ == "__main__":
    unittest.main()
