# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operators that run eagerly between programs, and what is said of them."""
import logging
import re
import threading

import pytest
import torch

import tilewright.torch
from compare import check, mlp
from tilewright.torch import backend

pytestmark = pytest.mark.usefixtures("fresh")


def spectrum(x):
    y = torch.fft.rfft(x * 2).abs()
    return y + 1, x * 3


def test_unsupported_operators_run_eagerly(caplog):
    with caplog.at_level(logging.INFO, "tilewright.torch"):
        check(spectrum, torch.randn(8), eager=["fft"])
    said = [record.getMessage() for record in caplog.records]
    assert any("_fft_r2c" in line and "complex64" in line and "test_torch_explain.py" in line for line in said), said


def test_explain():
    said = tilewright.torch.explain(spectrum, torch.randn(8))
    assert len(said.graphs) == 1 and len(said.graphs[0].programs) == 2
    assert any("_fft_r2c" in line and "test_torch_explain.py:" in line and "spectrum" in line for line in said.eager)
    net = mlp()
    whole = tilewright.torch.explain(net, torch.randn(4, 16))
    assert [graph.kind for graph in whole.graphs] == ["forward", "backward"] and not whole.eager
    assert all(parameter.grad is None for parameter in net.parameters())
    assert "operators, 1 program, 0 run eagerly" in str(whole) and "2 programs, 2 run eagerly" in str(said)


def test_explain_runs_backward():
    """Through parameters that only a closure has, complex results, and no further than to the arguments."""
    net, x = mlp(), torch.randn(4, 16, requires_grad=True)
    y = x.exp()
    kinds = [[graph.kind for graph in tilewright.torch.explain(f, given).graphs]
             for f, given in ((lambda v: net(v), x.detach()), (lambda v: torch.fft.fft(net(v)), y), (lambda v: v, x))]
    assert kinds[:2] == [["forward", "backward"]] * 2
    y.sum().backward()  # its graph is still there
    assert torch.equal(x.grad, y) and all(parameter.grad is None for parameter in net.parameters())


def test_explain_of_a_step_that_runs_backward_itself():
    net, x = mlp(), torch.randn(4, 16)

    def step(v):
        loss = net(v).sum()
        loss.backward()
        return loss

    said = tilewright.torch.explain(step, x)
    assert [graph.kind for graph in said.graphs] == ["forward", "backward"] and not said.eager


def test_mutation_between_pieces():
    def f(x, y):
        x.add_(1)
        z = torch.fft.fft(x).abs()
        y.mul_(z.sum())
        return z * 2, x + y

    check(f, torch.randn(6), torch.randn(6), eager=["fft"])


def test_other_dtypes_run_eagerly():
    check(lambda x: (x * 2, x.real + 1), torch.randn(4, dtype=torch.complex64), eager=["complex"])


@pytest.mark.filterwarnings("ignore")
def test_what_the_compiler_cannot_be_told_runs_eagerly(refusal):
    """Dtypes that its models do not know, and functions among arguments."""
    def quantized(x):
        return torch.quantize_per_tensor(x * 2, 0.1, 0, torch.qint8).dequantize() + 1

    def attention(x):
        return torch.nn.attention.flex_attention.flex_attention(x, x, x) + 1

    for f, x, words in ((quantized, torch.randn(4), "the dtype torch.qint8"),
                        (attention, torch.randn(1, 2, 8, 16), "the higher-order operator is not supported with a list of values of several kinds: graph,")):
        check(f, x, eager=["it"])
        said = tilewright.torch.explain(f, x)
        assert any(words in line and "test_torch_explain.py" in line for line in said.eager), said
    module = torch.nn.Module()
    module.forward = quantized
    with refusal("TW-PYTHON-0007", "the dtype torch.qint8"):
        tilewright.compile(module, (torch.randn(4),))


def test_parts_of_constants_stay_in_their_kernels(fresh):
    def lower_triangle(x):
        i, j = torch.tril_indices(4, 4, -1)
        return x[:, i, j]

    x = torch.randn(2, 4, 4)
    assert tilewright.torch.explain(lower_triangle, x).eager == []
    torch.testing.assert_close(torch.compile(lower_triangle, backend=backend)(x), lower_triangle(x))


def branch(x):
    y = torch.cond(x.sum() > 0, lambda x: x * 2, lambda x: x - 1, (x,))
    return torch.fft.fft(y).abs() + 1


def branch_with_unsupported(x):
    y = torch.fft.fft(x).abs()
    return torch.cond(x.sum() > 0, lambda y: torch.fft.fft(y).abs(), lambda y: y - 1, (y,)) * 3


def loop(x):
    _, y = torch._higher_order_ops.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * 2), (torch.tensor(0), x))
    return torch.fft.fft(y + 1).abs() * 2


def loop_with_unsupported(x):
    _, y = torch._higher_order_ops.while_loop(
        lambda i, x: i < 3, lambda i, x: (i + 1, torch.fft.fft(x).abs()), (torch.tensor(0), torch.fft.fft(x).abs()))
    return y * 2


@pytest.mark.parametrize("f, programs, words", [
    (branch, 2, []), (branch_with_unsupported, 2, ["cond: in it, aten._fft_r2c.default: a tensor has the dtype torch.complex64"]),
    (loop, 2, []), (loop_with_unsupported, 2, ["while_loop: in it, aten._fft_r2c.default: a tensor has the dtype"])])
def test_branches_and_loops_beside_what_runs_eagerly(f, programs, words):
    for sign in (1, -1):
        check(f, sign * torch.rand(8), eager=["fft"])
    said = tilewright.torch.explain(f, torch.rand(8))
    assert len(said.graphs) == 1 and len(said.graphs[0].programs) == programs, said
    assert all(any(each in line for line in said.eager) for each in words), said
    assert not any("getitem" in line for line in said.eager)


def test_sizes_of_pieces():
    """Tensors of which no size is a symbol alone."""
    check(lambda x: torch.fft.fft(torch.cat([x, x, x[:1]]) * 2, dim=0).abs().reshape(-1) + 1, torch.randn(5, 3), eager=["fft"],
          dynamic=True, again=[(torch.randn(7, 3),)])
    said = tilewright.torch.explain(lambda x: torch.fft.fft(torch.cat([x, x]) * 2, dim=0).abs() + 1, torch.randn(5, 3), dynamic=True)
    assert len(said.graphs[0].programs) == 2 and all("complex64" in line for line in said.eager), said


def test_graph_breaks_are_those_of_the_call():
    def broken(x):
        y = x * 2
        torch._dynamo.graph_break()
        return y + 1

    x = torch.randn(4)
    for _ in range(2):
        said = tilewright.torch.explain(broken, x)
        assert len(said.breaks) == 1 and len(said.graphs) == 2 and "graph break: " in str(said) and said.left_out == []
        assert f"test_torch_explain.py:{broken.__code__.co_firstlineno + 2} in broken: " in said.breaks[0]
    assert tilewright.torch.explain(lambda x: x + 3, x).breaks == []
    torch.compile(broken, backend="eager")(x)
    assert tilewright.torch.explain(lambda x: x + 4, x).breaks == []


def test_each_graph_break_has_its_line():
    """A branch by data among them, whose reason torch gives graphs in its own words alone."""
    def two(x):
        y = x.sin()
        torch._dynamo.graph_break()
        y = y.cos()
        torch._dynamo.graph_break()
        return y + 1

    def branches(x):
        if x.sum() > 0:
            return x.sin()
        return x.cos()

    first = two.__code__.co_firstlineno
    said = tilewright.torch.explain(two, torch.randn(4)).breaks
    assert [int(re.search(r"test_torch_explain.py:(\d+) in two: ", each)[1]) - first for each in said] == [2, 4]
    said, = tilewright.torch.explain(branches, torch.ones(4)).breaks
    assert f":{branches.__code__.co_firstlineno + 1} in branches: Data-dependent branching" in said


def test_what_dynamo_leaves_to_python():
    """Nothing of a function is compiled where a loop would have to be cut, and of generators."""
    def in_loop(x):
        for _ in range(2):
            x = x[x > 0]
        return x

    def calls(x):
        return in_loop(x) + 1

    def generates(x):
        yield x.sin()

    first, x = in_loop.__code__.co_firstlineno, torch.ones(4)
    for f, graphs in ((in_loop, 0), (calls, 1)):
        said = tilewright.torch.explain(f, x)
        left_out, = said.left_out
        assert re.match(rf"in_loop \(.*test_torch_explain.py:{first}\): .*test_torch_explain.py:{first + 2}: Dynamic shape operator", left_out)
        assert len(said.graphs) == graphs and said.breaks == [] and f"not compiled: {left_out}" in str(said)
    said = tilewright.torch.explain(generates, x)
    assert len(said.left_out) == 1 and "generator" in said.left_out[0] and said.breaks == [] and said.graphs == []
    assert str(tilewright.torch.explain(lambda x: 3, x)) == "no graph: there is nothing to compile"


def test_explain_hears_of_its_own_graphs():
    """And not of those that another thread compiles meanwhile."""
    other = torch.compile(lambda x: x.sinh() + 1, backend=backend)

    def f(x):
        thread = threading.Thread(target=other, args=(torch.randn(3),))
        thread.start()
        thread.join()
        return x * 2

    said = tilewright.torch.explain(lambda x: torch.compiler.disable(f)(x * 3), torch.randn(4))
    assert [graph.operators for graph in said.graphs] == [1], said


def test_what_only_compiling_finds(monkeypatch):
    """An error of the compiler that names a node: that one alone runs eagerly, for this reason."""
    from tilewright.torch import _cache

    compile_all = _cache.compile

    def refusing(json, *rest):
        if b'"torch.ops.aten.erf.default"' in json:
            name = re.search(rb'"torch.ops.aten.erf.default".*?"metadata": .*?\}, "name": "(\w+)"', json)[1].decode()
            error = tilewright.UnsupportedError("no erf today")
            error.code, error.message, error.text = "TW-LOWER-0001", "no erf today", f"no erf today\n --> node {name} (#1)"
            raise error
        return compile_all(json, *rest)

    monkeypatch.setattr(_cache, "compile", refusing)
    check(lambda x: ((x * 2).erf() + 1, x.exp().sin()), torch.randn(5), eager=["erf"])
    said = tilewright.torch.explain(lambda x: ((x * 2).erf() + 1, x.exp().sin()), torch.randn(5))
    assert len(said.eager) == 1 and "aten.erf.default: no erf today (" in said.eager[0] and len(said.graphs[0].programs) == 2, said


def test_checks_of_decompositions_have_effects():
    said = tilewright.torch.explain(lambda x: torch.linalg.inv(x * 2) + 1, torch.eye(3))
    assert any("with_effects: aten._linalg_check_errors.default has an effect outside of the graph" in line
               for line in said.eager), said
