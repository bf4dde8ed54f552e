# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls of programs: numbers, results of all kinds, sizes that are open, and calls that do not fit."""
import copy
import pickle

import numpy as np
import pytest
import torch
from torch.export import Dim

import tilewright
from compare import close


def test_scalars_and_several_outputs():
    class Scale(torch.nn.Module):
        def forward(self, x, n):
            return x * n, n * 2, x.shape[0]

    program = tilewright.compile(Scale(), (torch.ones(3), 4), dynamic_shapes={"x": {0: Dim.DYNAMIC}, "n": Dim.DYNAMIC})
    y, twice, rows = program(torch.ones(5), 7)
    assert torch.equal(y, torch.full((5,), 7.0)) and twice == 14 and rows == 5 and type(twice) is int
    assert program(torch.ones(2), np.int64(3))[1] == 6


def test_none_and_texts_are_results(tmp_path):
    """They have their places among the others, in memory and in a file."""
    class Many(torch.nn.Module):
        def forward(self, x):
            return None, x + 1, "fine", {"k": None, "n": 7}, [2.5, True]

    x = torch.ones(2)
    program = tilewright.compile(Many(), (x,))
    program.save(tmp_path / "many.so")
    for each in program, tilewright.load(tmp_path / "many.so", library="torch"):
        results = each(x)
        assert torch.equal(results[1], x + 1) and results[:1] + results[2:] == (None, "fine", None, 7, 2.5, True)
        assert [type(result) for result in results[3:]] == [type(None), int, float, bool]
        assert [value.kind for value in each.outputs] == ["None", "tensor", "str", "None", "int", "float", "bool"]
        assert [value.value for value in each.outputs][:3] == [None, None, "fine"]
        assert "output_0: None, output_1: f32[2], output_2: 'fine'" in repr(each)
    memory = torch.empty(2)
    assert program(x, output_1=memory)[1] is memory and torch.equal(memory, x + 1)


@pytest.mark.parametrize("value", [None, "text", 5])
def test_a_result_that_needs_no_inputs(value):
    class Fixed(torch.nn.Module):
        def forward(self, x):
            return value

    assert tilewright.compile(Fixed(), (torch.ones(2),))(torch.ones(2)) == value


def test_results_that_programs_cannot_give(refusal):
    class Gives(torch.nn.Module):
        def __init__(self, value):
            super().__init__()
            self.value = value

        def forward(self, x):
            return x + 1, self.value

    with refusal("TW-IMPORT-0016", "the text output_1 has a zero in it"):
        tilewright.compile(Gives("a\0b"), (torch.ones(2),))
    with refusal("TW-PYTHON-0007", "Gives has an integer beyond 64 bits in it"):
        tilewright.compile(Gives(2**70), (torch.ones(2),))


class WritesThroughStrides(torch.nn.Module):
    """Writes to the first row of a view of four elements."""

    def __init__(self, size, stride):
        super().__init__()
        self.size, self.stride = size, stride

    def forward(self, x):
        y = x + 1
        y.as_strided(self.size, self.stride)[0].fill_(9)
        return y


def test_writes_to_views_that_overlap_are_refused(refusal):
    x = torch.arange(4.0)
    for size, stride in (((2, 2), (2, 1)), ((2, 2), (1, 2)), ((2, 1), (1, 1)), ((2, 0), (0, 0))):
        model = WritesThroughStrides(size, stride)
        close(tilewright.compile(model, (x,))(x), model(x), 0)
    with refusal("TW-IMPORT-0015", "it writes through a view made by aten.as_strided"):
        tilewright.compile(WritesThroughStrides((2, 3), (1, 1)), (x,))


def test_dynamic_sizes(refusal):
    class Model(torch.nn.Module):
        def forward(self, x, y):
            return torch.cat([x, y]) @ y.t()

    rows = Dim("rows", min=1, max=64)
    program = tilewright.compile(Model(), (torch.randn(3, 8), torch.randn(5, 8)),
                                 dynamic_shapes={"x": {0: rows}, "y": {0: Dim.DYNAMIC}})
    for m, n in ((3, 5), (1, 2), (64, 7), (2, 1)):
        x, y = torch.randn(m, 8), torch.randn(n, 8)
        close(program(x, y), torch.cat([x, y]) @ y.t(), 1e-4)
    assert any(most == 64 for _, most in program.symbols.values())
    assert isinstance(program.inputs[0].sizes[0], str) and program.inputs[0].sizes[1] == 8
    with refusal("TW-RUNTIME-0012", "65", "64"):
        program(torch.randn(65, 8), torch.randn(5, 8))
    with refusal("TW-RUNTIME-0011", "9", "8"):
        program(torch.randn(3, 9), torch.randn(5, 8))


def test_heads_that_cannot_be_shared(refusal):
    class Attention(torch.nn.Module):
        def forward(self, q, k):
            return torch.nn.functional.scaled_dot_product_attention(q, k, k, enable_gqa=True)

    open_heads = {1: Dim.DYNAMIC}
    program = tilewright.compile(Attention(), (torch.randn(2, 6, 5, 8), torch.randn(2, 3, 5, 8)),
                                 dynamic_shapes=(open_heads, open_heads))
    q, k = torch.randn(2, 8, 5, 8), torch.randn(2, 4, 5, 8)
    torch.testing.assert_close(program(q, k), Attention()(q, k))
    with refusal("TW-RUNTIME-0013", "the heads of the query are not a multiple of the key's: 6 of 7 can be shared"):
        program(torch.randn(2, 7, 5, 8), torch.randn(2, 3, 5, 8))


class Squeeze(torch.nn.Module):
    def forward(self, x):
        return x.squeeze(0) * 2


def test_a_size_that_would_be_squeezed_is_refused(refusal):
    """The exported program has one rank for all sizes, eager PyTorch another one for 1."""
    program = tilewright.compile(Squeeze(), (torch.ones(3, 4),), dynamic_shapes=({0: Dim("b", min=1, max=9)},))
    close(program(torch.ones(2, 4)), torch.full((2, 4), 2.0), 0)
    with refusal("TW-RUNTIME-0013", "of size 1 would be squeezed"):
        program(torch.ones(1, 4))


def test_calls_that_do_not_fit(mlp, refusal):
    _, program = mlp
    x = torch.randn(4, 16)
    with refusal("TW-PYTHON-0003", "2 were given", "f32[4, 16]", kind=ValueError):
        program(x, x)
    with refusal("TW-PYTHON-0003", '"input" is missing'):
        program()
    with refusal("TW-PYTHON-0003", 'no input "y"'):
        program(x, y=x)
    with refusal("TW-PYTHON-0003", "given twice"):
        program(x, input=x)
    with refusal("TW-RUNTIME-0010", "f64", "f32"):
        program(x.double())
    with refusal("TW-RUNTIME-0011", "[4, 15]"):
        program(torch.randn(4, 15))
    with refusal("TW-RUNTIME-0011"):
        program(torch.randn(64))


def test_errors_have_parts(mlp):
    with pytest.raises(tilewright.InputError) as caught:
        mlp[1](torch.randn(4, 15))
    error = caught.value
    assert error.code == "TW-RUNTIME-0011" and error.message in error.text and str(error) == error.text
    assert isinstance(error, ValueError) and isinstance(error, tilewright.Error)
    assert error.help.startswith("give it the sizes that the program takes")


@pytest.mark.parametrize("use", [copy.copy, copy.deepcopy, pickle.dumps])
def test_programs_are_neither_copied_nor_pickled(mlp, refusal, use):
    with refusal("TW-PYTHON-0003", "copied or pickled", "program.save(path)", kind=tilewright.InputError):
        use(mlp[1])


def test_a_program_that_was_never_loaded(refusal):
    with refusal("TW-PYTHON-0003", "never loaded", "tilewright.load"):
        tilewright.Program.__new__(tilewright.Program)(torch.randn(4, 16))


def test_memory_that_there_is_not(refusal):
    """The refusal names the operator whose result is the largest."""
    class Squares(torch.nn.Module):
        def forward(self, x):
            y = x @ x.t()
            return (y @ y).sum(1)

    program = tilewright.compile(Squares(), (torch.randn(8, 1),), dynamic_shapes=({0: Dim("n")},), threads=1)
    with refusal("TW-RUNTIME-0017", "temporar", "the largest of", "takes 1125899906842624 bytes, by dispatch", "in Squares.forward"):
        program(np.zeros((1 << 24, 1), np.float32))
