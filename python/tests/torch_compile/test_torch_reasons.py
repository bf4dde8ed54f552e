# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Why graphs, or operators of them, run eagerly: the reasons that no other test makes, whole; and that the results are
those of eager PyTorch then, too."""
import logging
import operator

import pytest
import torch
from torch._subclasses import FakeTensorMode
from torch.fx.experimental import symbolic_shapes

import tilewright
import tilewright.kernel as tk
import tilewright.torch
from compare import check
from tilewright.torch import _backend, _cache, _layout, _options, _place, _sizes, _strides, _support, backend

pytestmark = pytest.mark.usefixtures("fresh")
aten = torch.ops.aten
RANDOM = "its random numbers are to be those of eager PyTorch, and"


def reasons(said):
    """Without the user's lines."""
    return [line.partition(" (")[0] for line in said.eager]


class Graph:
    """A graph by hand, of one argument: a tensor of ones, f32[4]."""

    def __init__(self):
        self.graph, self.fake = torch.fx.Graph(), FakeTensorMode()
        self.x = self.graph.placeholder("x")
        self.x.meta["val"] = self.fake.from_tensor(torch.ones(4))

    def call(self, target, *args, val=None, **kwargs):
        """A node, of which the graph says that it gives what is `val`, or else what is like x."""
        node = self.graph.call_function(target, args, kwargs)
        node.meta["val"] = self.x.meta["val"] if val is None else val
        return node

    def run(self, *results, **options):
        """What the graph gives for ones, and what is said of it."""
        self.graph.output(tuple(results))
        seen = []
        run = _backend.compile_graph(torch.fx.GraphModule(torch.nn.Module(), self.graph), "inference",
                                     _options.read(None, options), seen.append, _strides.InEager())
        return run([torch.ones(4)]), seen[0]


def test_what_is_no_operator():
    made = Graph()
    y = made.call(torch.relu, made.call(aten.mul.Tensor, made.x, 2))
    (got,), said = made.run(made.call(aten.add.Tensor, y, 1))
    assert said.eager == ["torch.relu: it is no operator"] and len(said.programs) == 2
    assert got.tolist() == [3.0] * 4


def test_fractions_of_sizes():
    """Are computed in each of the programs that use them, of the sizes; what data gives is no argument of a program."""
    def f(x):
        return torch.fft.fft(x * (x.shape[0] / 3)).real.exp() * (x.shape[0] / 3 + 1)

    def of_data(x):
        half = x.sum().item() / 2
        return torch.fft.fft(x * half).real, half

    x = torch.arange(24.0).view(4, 6) / 8  # whose sum is exact
    check(f, x, eager=["fft"], dynamic=True, again=[(torch.rand(5, 7),)])
    said = tilewright.torch.explain(f, x, dynamic=True)
    assert [line.partition(".default")[0] for line in said.eager] == ["aten._fft_r2c", "aten.view_as_real"], said
    assert len(said.graphs[0].programs) == 2
    with torch._dynamo.config.patch(capture_scalar_outputs=True):
        check(of_data, x, eager=["fft"])
        assert "aten.select.int: it has an argument that is a SymFloat" in reasons(tilewright.torch.explain(of_data, x))


def test_results_that_are_no_ints():
    """They are computed beside the programs, as a program gives tensors and ints."""
    made = Graph()
    half = made.call(operator.truediv, 3, 2, val=symbolic_shapes.ShapeEnv().create_unbacked_symfloat())
    (got, number), said = made.run(made.call(aten.mul.Tensor, made.x, 2), half)
    assert (said.eager, said.beside, len(said.programs)) == ([], 1, 1)
    assert got.tolist() == [2.0] * 4 and number == 1.5
    with pytest.raises(_sizes.Unplannable, match="^a result that is a SymFloat$") as caught:
        _layout.Layout(torch.fx.GraphModule(torch.nn.Module(), made.graph))
    assert caught.value.names == [half.name]


def test_tensors_on_gpus_that_programs_are_not_for(monkeypatch):
    """A GPU that torch here need not have: its tensors are fake ones."""
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda _: (7, 5))
    for options, why in (({}, "of compute capability 7.5, which no target is for"),
                         ({"target": "cpu"}, "which programs for cpu do not read")):
        made = Graph()
        with made.fake:
            made.x.meta["val"] = torch.empty(4, device="cuda")
        (got,), said = made.run(made.call(aten.mul.Tensor, made.x, 2), **options)
        assert said.eager == [f"aten.mul.Tensor: a tensor is on the device cuda:0{',' if options else ''} {why}"]
        assert got.tolist() == [2.0] * 4 and not said.programs


def test_draws_from_a_state_that_is_computed():
    made = Graph()
    state = made.call(aten.clone.default, made.call(aten._to_copy.default, made.x, dtype=torch.uint8),
                      val=made.fake.from_tensor(torch.get_rng_state()))
    drawn = made.call(torch.ops.higher_order.run_with_rng_state, state, aten.rand_like.default, made.x)
    state.target, state.args = torch.get_rng_state, ()  # such as the state that the generator has then
    expected = torch.rand_like(torch.ones(4))
    torch.manual_seed(0)
    (got,), said = made.run(made.call(aten.mul.Tensor, drawn, 2))
    assert f"higher_order.run_with_rng_state: {RANDOM} begins from a state that the graph computes" in said.eager
    assert torch.equal(got, expected * 2)


def test_draws_in_branches():
    def f(x):
        return torch.cond(x.sum() > 0, lambda x: x * torch.rand_like(x), lambda x: x - 1, (x,)) + 1

    check(f, torch.rand(6), eager=["cond"])
    assert reasons(tilewright.torch.explain(f, torch.rand(6))) == [
        f"higher_order.cond: {RANDOM} are drawn in a branch or loop"]


def test_results_to_be_negated():
    for f, programs in ((torch._neg_view, 0), (lambda x: torch._neg_view(x + 1), 1)):
        said = tilewright.torch.explain(f, torch.ones(2, 3))
        assert reasons(said) == ["aten._neg_view.default: it has a result that is to be negated when it is read"], said
        assert len(said.graphs[0].programs) == programs


def test_tensors_on_other_devices():
    def f(x):
        return x * 2 + 1

    x = torch.ones(3, device="meta")
    said = tilewright.torch.explain(f, x)
    assert reasons(said) == [f"aten.{name}.Tensor: a tensor is on the device meta" for name in ("mul", "add")]
    got = torch.compile(f, backend=backend)(x)
    assert got.device.type == "meta" and got.shape == (3,)
    on_a_gpu = _place.Place(torch.device("cuda", 0), "nvidia:sm_90a", "cuda:0")
    assert _support.foreign([torch.ones(3)], on_a_gpu) == "a tensor is on the device cpu, and others on cuda:0"


def test_arguments_on_the_meta_device_beside_others():
    def f(x, y):
        return x * 2, y + 1

    x, y = torch.ones(3), torch.ones(3, device="meta")
    said = tilewright.torch.explain(f, x, y)
    assert reasons(said) == ["aten.add.Tensor: a tensor is on the device meta"] and len(said.graphs[0].programs) == 1
    got = torch.compile(f, backend=backend)(x, y)
    assert got[0].tolist() == [2.0] * 3 and got[1].device.type == "meta"


def failing(kind, code, message):
    def compile_(*_):
        error = kind(message)
        error.code, error.message, error.text = code, message, f"error[{code}]: {message}"
        raise error

    return compile_


def test_mistakes_of_ours(monkeypatch, caplog):
    """An internal error of the compiler is told with its text, and the graph runs eagerly."""
    monkeypatch.setattr(_cache, "compile", failing(tilewright.InternalError, "TW-LOWER-0009", "a pass gave up"))
    x = torch.randn(4)
    with caplog.at_level(logging.WARNING, "tilewright.torch"):
        got = torch.compile(lambda x: x.sin() * 2, backend=backend)(x)
    torch.testing.assert_close(got, x.sin() * 2)
    assert [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING][0] == (
        "a graph runs eagerly because of a mistake of Tilewright, please report it: error[TW-LOWER-0009]: a pass gave up")
    assert reasons(tilewright.torch.explain(lambda x: x.sin() * 2, x)) == [
        "aten.sin.default: a pass gave up", "aten.mul.Tensor: a pass gave up"]


@pytest.mark.parametrize("kind, code", [(tilewright.InternalError, "TW-RUNTIME-0099"), (tilewright.UnsupportedError, "TW-IO-0099")])
def test_what_is_wrong_with_the_machine_is_raised(kind, code, monkeypatch):
    """No graph is at fault for it, so none runs eagerly because of it."""
    monkeypatch.setattr(_cache, "compile", failing(kind, code, "the disk is gone"))
    with pytest.raises(Exception, match="the disk is gone"):
        torch.compile(lambda x: x.sin() * 2, backend=backend)(torch.randn(4))


K, M = tk.symbols("K M")


@tk.kernel
def folded(K: K, x: tk.In[tk.f32, K * M], y: tk.Out[tk.f32, M]):
    m, = tk.grid(M)
    tk.store(y, [m], tk.load(x, [m], [1]) * 2)


def test_sizes_that_do_not_follow():
    """A factor that only a call knows, and that is 0 there."""
    library = folded.register("tilewright_reasons_test::folded")
    with FakeTensorMode():
        assert library(2, torch.empty(6)).shape == (3,)
        with pytest.raises(RuntimeError, match=r"kernel folded: symbol M does not follow from (K \* M|M \* K) = 0, where its "
                                               "factor is 0"):
            library(0, torch.empty(0))


# Data-dependent sizes

def positive(x):
    return (x[(x > 0).nonzero()[:, 0]] * 2).exp() + 1


def test_sizes_that_depend_on_data_cut_the_function():
    """As Dynamo does without its option for them, with every backend."""
    x = torch.tensor([1.0, -2.0, 3.0])
    said = tilewright.torch.explain(positive, x)
    assert len(said.graphs) == 2 and not said.eager and len(said.breaks) == 1, said
    assert "aten.nonzero.default" in said.breaks[0] and "graph break: " in str(said)
    compiled = torch.compile(positive, backend=backend)
    for given in (x, -x, torch.ones(4), -torch.ones(4)):
        torch.testing.assert_close(compiled(given), positive(given))


@torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True)
def test_sizes_that_depend_on_data_in_one_graph():
    x = torch.tensor([1.0, -2.0, 3.0])
    said = tilewright.torch.explain(positive, x)
    assert len(said.graphs) == 1 and said.breaks == [] and len(said.graphs[0].programs) >= 1, said
    assert len(said.eager) == 1 and said.eager[0].startswith("aten.nonzero.default: "), said
    assert "test_torch_reasons.py:" in said.eager[0]
    compiled = torch.compile(positive, backend=backend, fullgraph=True)
    for given in (x, -x, torch.ones(4), -torch.ones(4)):
        torch.testing.assert_close(compiled(given), positive(given))


def test_sizes_that_no_argument_says():
    sizes = _sizes.Sizes([Graph().x])
    count = symbolic_shapes.ShapeEnv().create_unbacked_symint()
    with pytest.raises(_sizes.Unplannable, match=f"^no argument says what the size {count.node.expr} is$"), sizes.all_known():
        sizes.number(count)
    assert sizes.expressions == []


def test_nodes_beside_the_programs():
    """Views of which no program is made, and writes, are counted: no reason is given for them, but they are no program's."""
    def writes(x, y):
        y.add_(1)
        return torch.fft.fft(x.t())

    def views(x):
        return torch.fft.fft(x.t()[0])

    more = "more beside the programs (views, sizes, writes to arguments)"
    for f, given, said in ((writes, (torch.ones(2, 3), torch.ones(3)), f"4 operators, 1 program, 1 runs eagerly, 1 {more}"),
                           (views, (torch.ones(2, 3),), f"3 operators, 0 programs, 1 runs eagerly, 2 {more}")):
        assert str(tilewright.torch.explain(f, *given)).splitlines()[0] == f"inference graph: {said}"
    assert "beside" not in str(tilewright.torch.explain(lambda x: x + 1, torch.ones(2)))


def test_scatters_into_memory_that_overlaps():
    """A write to one element is one to all of them, in eager PyTorch."""
    made = Graph()
    made.x.meta["val"] = made.fake.from_tensor(torch.ones(1).expand(4))
    one = made.call(aten.select.int, made.x, 0, 0, val=made.fake.from_tensor(torch.ones(())))
    _, said = made.run(made.call(aten.select_scatter.default, made.x, one, 0, 1))
    assert reasons(said) == ["aten.select_scatter.default: elements of its result share memory"]
