# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arguments of torch.compile that are no plain memory of their own, and values that cannot be."""
import threading

import numpy as np
import pytest
import torch

from compare import tensors
from tilewright.torch import backend

pytestmark = pytest.mark.usefixtures("fresh")


class Marked(torch.Tensor):
    """A subclass without a behaviour of its own."""


def complex_pair():
    return torch.complex(torch.arange(6.0).view(2, 3), torch.ones(2, 3))


@pytest.mark.parametrize("make", [
    lambda: complex_pair().conj().imag,                       # negated when it is read
    lambda: complex_pair().conj().imag[:1, :1],               # and dense: it has one element
    lambda: complex_pair().conj().imag[0, 0],
    lambda: torch._neg_view(torch.randn(2, 3)),               # negated and dense
    lambda: torch._neg_view(torch.randn(3, 2)).t(),
    lambda: torch.randn(3).expand(2, 3),                      # stride 0
    lambda: torch.randn(8).as_strided((2, 3), (2, 1)),        # its rows overlap
    lambda: torch.randn(2, 0), lambda: torch.randn(0, 3)[:, 1:],
    lambda: torch.from_numpy(np.frombuffer(np.arange(6, dtype=np.float32).tobytes(), np.float32)).view(2, 3),
    lambda: torch.randn(2, 3).as_subclass(Marked), lambda: torch.nn.Parameter(torch.randn(2, 3)),
    lambda: torch.randn(2, 3).to_sparse(), complex_pair, lambda: complex_pair().conj(),
], ids=["negated", "negated element", "negated scalar", "negated and dense", "negated and permuted", "stride0", "overlapping", "empty", "emptyslice", "readonly",
        "subclass", "parameter", "sparse", "complex", "conjugated"])
@pytest.mark.filterwarnings("ignore")
def test_arguments_of_any_kind(make):
    def f(x):
        return x * 2 + x

    given = make()
    for got in (torch.compile(f, backend=backend)(given) for _ in range(2)):
        expected = f(given)
        assert type(got) is type(expected) and got.layout == expected.layout
        got, expected = (each.to_dense() if each.is_sparse else each for each in (got, expected))
        torch.testing.assert_close(got, expected)


def test_many_arguments_and_results():
    """Of which lists are longer than those of most calls, by their places: each is another; in calls that overlap, too."""
    def f(xs):
        return [x.t() * (2 + number) for number, x in enumerate(xs)]

    compiled, wrong = torch.compile(f, backend=backend), []

    def call(first):
        xs = [torch.full((2, 3), float(first + number)).t() for number in range(150)]
        for got, expected in zip(compiled(xs), f(xs), strict=True):
            if not torch.equal(got, expected) or got.stride() != expected.stride():
                wrong.append((first, got, expected))

    call(0)
    threads = [threading.Thread(target=lambda first=first: [call(first) for _ in range(5)]) for first in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_arguments_that_share_memory_and_are_written_to():
    def f(x, y):
        x.add_(1)
        return x * 2 + y.sum()

    # One sharing at a time: torch itself guards none, so that AOTAutograd's graph for one runs for another.
    for first, second in ((slice(0, 3), slice(2, 5)), (slice(0, 3), slice(0, 3)), (slice(0, 3), slice(3, 6))):
        torch._dynamo.reset()
        compiled = torch.compile(f, backend=backend)
        for _ in range(2):
            ours, theirs = torch.arange(6.0), torch.arange(6.0)
            torch.testing.assert_close(compiled(ours[first], ours[second]), f(theirs[first], theirs[second]))
            assert torch.equal(ours, theirs)
    with pytest.raises(RuntimeError, match="single memory location"):
        compiled(torch.zeros(1).expand(3), torch.zeros(3))


@pytest.mark.parametrize("f", [
    lambda x: x.as_strided((2,), (1,), 1) * 2, lambda x: x.as_strided((2,), (1,), 0), lambda x: x.as_strided((2,), (1,)) * 2,
    lambda x: x[1:].as_strided((2,), (1,), 1) * 2, lambda x: x[1:].as_strided((2,), (1,)) * 2,
    lambda x: torch.as_strided_copy(x, (2,), (1,), 1) * 2,
], ids=["used", "a result", "its own", "of a view", "of a view, its own", "copied"])
@pytest.mark.parametrize("parts", [(slice(0, 4), slice(2, 6)), (slice(2, 6), slice(0, 4))], ids=["from 0", "from 2"])
def test_places_in_the_memory_of_arguments(f, parts):
    """Offsets of as_strided count from where a tensor's memory begins, of which Dynamo guards nothing."""
    compiled, x = torch.compile(f, backend=backend), torch.arange(10.0)
    for part in parts:
        torch.testing.assert_close(compiled(x[part]), f(x[part]))


@pytest.mark.parametrize("f", [
    lambda x: torch.as_strided_copy(x + 1, (2, 2), (1, 2)) * 2, lambda x: torch.as_strided_copy((x + 1).t(), (2, 2), (1, 2), 1) * 2,
    lambda x: torch.as_strided_scatter(x + 1, torch.ones(2), (2,), (2,)), lambda x: torch.as_strided_copy(x.t(), (2,), (1,)),
    lambda x: torch.as_strided_scatter((x + 1).t(), torch.ones(2), (2,), (1,), 1) * 1,
    lambda x: torch.as_strided_scatter(x, torch.ones(2), (2,), (1,)) * 1,
], ids=["copied", "copied, permuted", "written", "argument", "written, permuted", "written argument"])
@pytest.mark.parametrize("given", [torch.arange(12.0).view(3, 4), torch.arange(12.0).view(4, 3).t(), torch.arange(24.0).view(3, 8)[:, ::2]],
                         ids=["dense", "permuted", "gaps"])
def test_strides_of_memory_that_is_no_row_major(f, given):
    torch.testing.assert_close(torch.compile(f, backend=backend)(given), f(given))


def written(view):
    """Writes through a view of an argument, and reads what else is in its memory."""
    def f(x):
        view(x).mul_(2)
        return x[1] + 1, x * 1
    return f


def written_in_graph(x):
    y = x[0] + 0
    overlapping = y.as_strided((2, 2), (1, 1))
    overlapping[0].fill_(9)
    return y * 1, overlapping * 1


@pytest.mark.parametrize("f", [
    written(lambda x: x[0]), written(lambda x: x[:1]), written(lambda x: x.t()[0]), written(lambda x: x[0, :2]),
    written(lambda x: x.as_strided((3,), (1,))), written_in_graph,
    lambda x: torch.select_scatter(x, torch.ones(3), 0, 0) * 1, lambda x: torch.diagonal_scatter(x, torch.ones(3)) * 1,
], ids=["row", "slice", "column", "part", "strides", "in the graph", "select_scatter", "diagonal_scatter"])
def test_writes_to_memory_that_overlaps(f):
    """A write to one element is a write to those that share its memory."""
    ours, theirs = (torch.arange(24.0).as_strided((4, 3), (1, 1)) for _ in range(2))
    torch.testing.assert_close(torch.compile(f, backend=backend)(ours), f(theirs))
    assert torch.equal(ours, theirs)


@pytest.mark.parametrize("part", [..., (slice(1), slice(1)), (0, 0)], ids=["all", "element", "scalar"])
def test_negated_arguments_that_are_written_to(part):
    x = complex_pair().conj().imag
    expected = x.clone()
    expected[part] += 1
    torch.compile(lambda x: x.add_(1), backend=backend)(x[part])
    assert x.is_neg() and torch.equal(x, expected)


def negated_twice(x):
    y = torch._neg_view(x)
    return torch._neg_view(y + 1), y * 2, torch._neg_view(y)


@pytest.mark.parametrize("f", [
    lambda x: torch._neg_view(x) * 2, lambda x: torch._neg_view(x), lambda x: torch._neg_view(x).t(),
    lambda x: torch._neg_view(x + 1).t(), lambda x: (torch._neg_view(x).add_(1), x), negated_twice,
    lambda x: torch._neg_view_copy(x.exp()),
], ids=["used", "a result", "a view", "of a value", "written to", "twice", "copied"])
@pytest.mark.parametrize("given", [torch.ones(2, 3), torch._neg_view(torch.ones(2, 3))], ids=["plain", "negated"])
def test_negated_views_in_graphs(f, given):
    compiled = torch.compile(f, backend=backend)
    for _ in range(2):
        ours, theirs = given.clone(), given.clone()
        if given.is_neg():
            ours, theirs = torch._neg_view(ours), torch._neg_view(theirs)
        got, expected = (tensors((g(x), x)) for g, x in ((compiled, ours), (f, theirs)))
        for a, b in zip(got, expected, strict=True):
            assert a.is_neg() == b.is_neg() and a.stride() == b.stride()
            torch.testing.assert_close(a, b)


def test_negated_and_plain_arguments_in_turns():
    compiled = torch.compile(lambda x: x * 2 + 1, backend=backend)
    x = torch.randn(2, 3)
    for given in (x, torch._neg_view(x), x, torch._neg_view(x)):
        torch.testing.assert_close(compiled(given), given * 2 + 1)


def test_negated_gradients():
    x = torch.randn(2, 3, requires_grad=True)
    torch.compile(lambda x: x.exp() * 2, backend=backend)(x).backward(torch._neg_view(torch.ones(2, 3)))
    torch.testing.assert_close(x.grad, -2 * x.detach().exp())


@pytest.mark.parametrize("f,argument,words", [
    (lambda x, n: torch.segment_reduce(x, "sum", lengths=n), torch.tensor([1, 3]), "sum to the 6 elements along the axis"),
    (lambda x, n: torch.segment_reduce(x, "sum", lengths=n), torch.tensor([-1, 7]), "lengths must not be negative"),
    (lambda x, n: torch.segment_reduce(x, "sum", lengths=n, unsafe=True), torch.tensor([1, 300]), "offset 301 is not below 7"),
    (lambda x, y: torch.histogram(x + y, 3), torch.tensor(torch.nan), "the range of the values is not finite"),
], ids=["sum", "negative", "unsafe", "range"])
def test_segments_and_ranges_that_cannot_be(f, argument, words, refusal):
    with refusal("TW-RUNTIME-0013", words):
        torch.compile(f, backend=backend, fullgraph=True)(torch.arange(6.0), argument)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_products_without_elements(dtype):
    def f(a, b, c):
        return a @ b, b @ a, a @ c, c.t() @ b, torch.cat([c, b], 1).t() @ b

    given = [torch.ones(sizes, dtype=dtype) for sizes in ((0, 4), (4, 0), (4, 40))]
    for got, expected in zip(torch.compile(f, backend=backend)(*given), f(*given), strict=True):
        torch.testing.assert_close(got, expected)


@pytest.mark.parametrize("extreme", [lambda x: x.max(0), lambda x: x.min()], ids=["max", "min"])
def test_extremes_of_no_elements(extreme, refusal):
    """PyTorch's own kernels refuse them, but not what it traces."""
    compiled = torch.compile(extreme, backend=backend)
    with pytest.raises((IndexError, RuntimeError)):
        extreme(torch.ones(0, 3))
    with refusal("TW-RUNTIME-0013", "an extreme along dimension 0, which has size 0"):
        compiled(torch.ones(0, 3))


def test_no_extremes_of_elements():
    got, places = torch.compile(lambda x: x.max(0), backend=backend)(torch.ones(3, 0))
    assert got.shape == places.shape == (0,)
