# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rows that are looked up are prefetched ahead, by indices that lie further on: of none that are not there."""
import pytest
import tilewright
import torch
import torch.nn.functional as F
from torch import nn


class Lookups(nn.Module):
    def forward(self, table, indices, offsets):
        return F.embedding(indices, table), F.embedding_bag(indices, table, offsets, mode="sum")


@pytest.fixture(scope="module", params=[16, 70])
def program(request):
    rows, count, bags = (torch.export.Dim(name, min=low, max=1 << 20) for name, low in (("rows", 1), ("count", 2), ("bags", 2)))
    given = torch.randn(50, request.param), torch.randint(0, 50, (40,)), torch.tensor([0, 3, 3, 20])
    return request.param, tilewright.compile(Lookups(), given, dynamic_shapes=({0: rows}, {0: count}, {0: bags}))


@pytest.mark.parametrize("rows, count", [(1, 2), (7, 15), (7, 16), (7, 17), (100, 33), (40000, 3001)])
def test_lookups_of_any_number_of_rows(program, rows, count):
    width, lookups = program
    table, indices = torch.randn(rows, width), torch.randint(0, rows, (count,))
    offsets = torch.tensor([0, count // 3, count // 3, count - 1])
    got, expected = lookups(table, indices, offsets), Lookups()(table, indices, offsets)
    for ours, theirs in zip(got, expected, strict=True):
        torch.testing.assert_close(ours, theirs)


def test_an_index_that_is_out_of_range_is_an_error_where_it_is_used(program):
    width, lookups = program
    indices = torch.zeros(40, dtype=torch.int64)
    indices[39] = 1 << 60
    with pytest.raises(tilewright.Error, match="1152921504606846976"):
        lookups(torch.randn(50, width), indices, torch.tensor([0, 3, 3, 20]))
