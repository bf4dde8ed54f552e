# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of what bench/cpu.py measures: `python3 bench/test_cpu_workloads.py`, with torch. Nothing is measured."""
import collections
import pathlib
import sys
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

try:
    import cpu_workloads
    import full_models
    import torch
    import transformers  # noqa: F401
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

import cpu


class Workloads(unittest.TestCase):
    def setUp(self):
        self.table = cpu_workloads.workloads()

    def goals(self, name, threads, *features):
        return cpu.goals_of(self.table[name], threads, features)

    def test_names_are_of_one_workload(self):
        with mock.patch("cpu_workloads.rows", return_value={"BERT-base": cpu_workloads.Workload(None)}):
            with self.assertRaisesRegex(ValueError, "'BERT-base' is in the group models and in rows"):
                cpu_workloads.workloads()

    def test_other_rows_that_goals_are_of(self):
        others = {each.of_row[0] for each in self.table.values() if each.of_row}
        self.assertEqual(others - self.table.keys(), set())
        self.assertIn("copy of as many bytes", others)

    def test_few_rows_in_transformers_have_goals_of_both(self):
        """16 rows of static layers are in both lists of the goals."""
        for name in ("layers 16x768x3072", "layers 16x4096x4096", "layers 16x768x768"):
            self.assertEqual([self.goals(name, threads)["goal"] for threads in (1, 2)], [1.1, 1.05], name)
            self.assertEqual([self.goals(name, threads)["goal_of_limit"] for threads in (1, 2)], [0.9, 0.85], name)
        for name in ("layers 8x768x3072", "layers 16x768x3072, any rows", "layers 16x2048x2048 bf16"):
            self.assertEqual([self.goals(name, threads)["goal"] for threads in (1, 2)], [0, 0], name)
            self.assertEqual([self.goals(name, threads)["goal_of_limit"] for threads in (1, 2)], [0.9, 0.85], name)
        self.assertEqual([self.goals("layers 64x768x768", 1)["goal_of_limit"], self.goals("layers 128x768x768", 1)["goal_of_limit"]], [0, 0.9])

    def test_convolutions_are_those_of_the_models(self):
        """With padding at the ends that models have themselves: places are those without."""
        for model, (_, shapes) in zip(("ResNet-50", "MobileNetV2"), cpu_workloads.CONVOLUTIONS.items()):
            found = collections.Counter()

            def note(layer, given, result):
                channels, size = given[0].shape[1:3]
                unpadded = result.shape[2] * layer.stride[0] if not any(layer.padding) and layer.kernel_size[0] > 1 else size
                found[(channels, unpadded, layer.out_channels, layer.kernel_size[0], layer.stride[0], layer.groups)] += 1

            with torch.device("meta"):
                module, given = full_models.model(model)
                for layer in module.modules():
                    if isinstance(layer, torch.nn.Conv2d):
                        layer.register_forward_hook(note)
                module(*given)
            self.assertEqual({(*shape, *(1, 1, 1)[len(shape) - 3:]): times for times, *shape in shapes}, dict(found), model)

    def test_goals_of_tile_registers(self):
        names = [name for name, each in self.table.items() if each.group in ("bf16", "attention") and name.endswith("bf16")]
        self.assertEqual(len(names), 7)
        for name in names:
            self.assertEqual(self.goals(name, 1, "avx2", "avx512bf16")["goal"], 0, name)
            self.assertGreater(self.goals(name, 1, "amx-tile", "amx-bf16")["goal"], 1, name)

    def test_goals_of_one_thread_alone(self):
        for name in ("LSTM 2x512 b8 t64", "linear 1024x1024x1024 bf16 AVX2", "embedding bag 1Mx64"):
            self.assertGreaterEqual(self.goals(name, 1)["goal"], 1, name)
            self.assertEqual(self.goals(name, 2)["goal"], 0, name)
        for threads, share in ((1, 3.0), (2, 0)):
            self.assertEqual(self.goals("BERT-base as bf16", threads, *cpu_workloads.AMX)["goal_of_row"], ("BERT-base", share))


if __name__ == "__main__":
    unittest.main()
