#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of how gpu_spaces.py puts blocks into configurations."""
import unittest

import gpu
import gpu_spaces

CHOSEN = [{"kernels": [
    {"kind": "contraction", "rows": 128, "columns": 160, "row_programs": 16, "target": {"ping_pong": False, "stages": 5, "warp_groups": 2}},
    {"kind": "loops", "parts": 1, "rows": 1},
]}]


class Fields(unittest.TestCase):
    def test_fields_go_where_all_of_them_are(self):
        product, loops = gpu.with_fields(CHOSEN, {"rows": 64, "stages": 4})[0]["kernels"]
        self.assertEqual((product["rows"], product["target"]["stages"]), (64, 4))
        self.assertEqual(loops, CHOSEN[0]["kernels"][1])

    def test_the_given_configuration_stays_as_it_is(self):
        gpu.with_fields(CHOSEN, {"rows": 64})
        self.assertEqual(CHOSEN[0]["kernels"][0]["rows"], 128)

    def test_what_is_true_or_false_stays_so(self):
        product = gpu.with_fields(CHOSEN, {"ping_pong": 1, "warp_groups": 1})[0]["kernels"][0]
        self.assertIs(product["target"]["ping_pong"], True)
        self.assertIs(type(product["target"]["warp_groups"]), int)

    def test_the_best_is_told_by_its_fields(self):
        self.assertEqual(gpu_spaces.fields_of({"best": {}}), "the compiler's choice")
        self.assertEqual(gpu_spaces.fields_of({"best": {"configurations": CHOSEN}}),
                         "rows=128 columns=160 row_programs=16 ping_pong=0 stages=5 warp_groups=2")


if __name__ == "__main__":
    unittest.main()
