# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch.compile(backend="tilewright"): results, strides, aliases, mutation, random numbers, sizes, and what is
said of operators that run eagerly, all against eager PyTorch."""
import copy
import logging
import os
import stat
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils import _pytree as pytree

import tilewright
import tilewright.torch
from tilewright.torch import backend


pytestmark = pytest.mark.usefixtures("fresh")


def tensors(tree):
    return [leaf for leaf in pytree.tree_leaves(tree) if isinstance(leaf, torch.Tensor)]


def check(f, *args, dynamic=False, tolerance=1e-5, eager=(), again=(), **options):
    """Compares results, strides and arguments after the call; `eager` are operators that fall back."""
    compiled = torch.compile(f, backend=backend, dynamic=dynamic, options=options or None, fullgraph=not eager)
    for given in (args, args, *again):
        ours, theirs = copy.deepcopy(given), copy.deepcopy(given)
        state = torch.get_rng_state()
        got = compiled(*ours)
        after = torch.get_rng_state()
        torch.set_rng_state(state)
        expected = f(*theirs)
        assert torch.equal(after, torch.get_rng_state())
        for a, b in zip(tensors((got, ours)), tensors((expected, theirs)), strict=True):
            torch.testing.assert_close(a, b, rtol=tolerance, atol=tolerance)
            assert a.stride() == b.stride() and a.storage_offset() == b.storage_offset()
            assert (a._base is None) == (b._base is None)
        assert [x for x in pytree.tree_leaves(got) if not isinstance(x, torch.Tensor)] == \
               [x for x in pytree.tree_leaves(expected) if not isinstance(x, torch.Tensor)]
    return compiled


def check_training(module, *args, loss=lambda y: y.square().sum(), steps=2, tolerance=1e-4, dynamic=False, **options):
    """Compares losses, gradients, buffers and the generator over steps of training."""
    theirs = copy.deepcopy(module)
    compiled = torch.compile(module, backend=backend, dynamic=dynamic, options=options or None, fullgraph=True)
    for step in range(steps):
        state = torch.get_rng_state()
        ours = loss(compiled(*args))
        ours.backward()
        after = torch.get_rng_state()
        torch.set_rng_state(state)
        expected = loss(theirs(*args))
        expected.backward()
        assert torch.equal(after, torch.get_rng_state()), "the generator's state differs"
        torch.testing.assert_close(ours, expected, rtol=tolerance, atol=tolerance)
        for (name, a), b in zip(module.named_parameters(), theirs.parameters(), strict=True):
            assert (a.grad is None) == (b.grad is None), name
            if b.grad is not None:
                scale = max(b.grad.abs().max().item(), 1e-2)
                assert (a.grad - b.grad).abs().max().item() <= tolerance * scale * 10, (step, name)
                assert a.grad.stride() == b.grad.stride()
        for a, b in zip(module.buffers(), theirs.buffers(), strict=True):
            torch.testing.assert_close(a, b, rtol=tolerance, atol=tolerance)


def mlp():
    return nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 8))


def test_is_found_by_name():
    net, x = mlp(), torch.randn(4, 16)
    torch.testing.assert_close(torch.compile(net, backend="tilewright")(x), net(x))
    assert list(Path(os.environ["TILEWRIGHT_CACHE"], "torch").glob("*.so"))
    project = (Path(__file__).parents[2] / "pyproject.toml").read_text()
    assert '[project.entry-points.torch_dynamo_backends]\ntilewright = "tilewright.torch:backend"' in project


# Strides and aliases


@pytest.mark.parametrize("f", [
    lambda x: x, lambda x: x.t(), lambda x: x[1:, 2:], lambda x: (x + 1).t(), lambda x: (x + 1, (x + 1).t()),
    lambda x: x.view(2, 2, 6), lambda x: (x * 2).unsqueeze(0).expand(3, 4, 6), lambda x: (x.t(), x * 2, x.shape[0]),
    lambda x: x.chunk(2), lambda x: (x * 3).split(2), lambda x: torch.empty_like(x.t()).fill_(2.0) + x.t(),
    lambda x: (x[0], x[:, 1], x.sum(), None, 3, "text"), lambda x: x.t().contiguous().t() + 1,
    lambda x: (y := x + 1, y, y.view(-1)), lambda x: x.as_strided((2, 3), (1, 2)) * 2, lambda x: x.diagonal() + 1,
    lambda x: x.detach(), lambda x: torch.ones(3), lambda x: torch.tensor([1.0, 2.0]) + x[0, :2],
])
def test_outputs(f):
    check(f, torch.randn(4, 6))


@pytest.mark.parametrize("make", [lambda x: x.t(), lambda x: x[::2], lambda x: x.expand(2, 6, 6)[0],
                                  lambda x: x[:, :1].expand(6, 6), lambda x: x[1:4, 1:4],
                                  lambda x: x.view(1, 6, 6, 1).to(memory_format=torch.channels_last)])
def test_strided_inputs(make):
    check(lambda x: (x * 2, x.transpose(0, 1), x.sum(0)), make(torch.randn(6, 6)))


def test_as_strided_of_open_sizes():
    """The mean over positions of a turned tensor is an as_strided of a tensor whose outermost size alone is open."""
    check(lambda x: nn.functional.adaptive_avg_pool2d(x.transpose(1, 2).unsqueeze(-2), 1)[..., 0, 0] + 1, torch.randn(3, 5, 4),
          dynamic=True, again=[(torch.randn(2, 7, 4),)])


@pytest.mark.parametrize("f", [lambda x, n: x.new_ones(n + (4 - n % 4) % 4, 5), lambda x, n: x.new_ones(7 - 2 * (-n % 4)),
                               lambda x, n: x.new_ones(n // 2 * 3 % 5, (n + 1) ** 2 % 7 + max(n, 6))])
def test_sizes_are_computed(f):
    """Views, whose sizes are evaluated outside of the program."""
    check(lambda x: (y := f(x, x.shape[0]) * 2, y.unsqueeze(0), y.t() if y.dim() == 2 else y.view(1, -1)), torch.randn(6, 5),
          dynamic=True, again=[(torch.randn(7, 5),), (torch.randn(8, 5),)])


@pytest.mark.parametrize("p", [0.0, 0.3, 1.0])
def test_dropout_between_draws(p):
    """All of a tensor is dropped without a draw, so what comes after is as in eager PyTorch."""
    check(lambda x: (nn.functional.dropout(x, p) + 1, nn.functional.dropout(x, 0.5), torch.rand_like(x)), torch.randn(6, 7))
    check_training(nn.Sequential(nn.Linear(5, 6), nn.Dropout(p), nn.Linear(6, 7), nn.Dropout(0.5)), torch.randn(4, 5))


def test_channels_last():
    net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Conv2d(8, 4, 1)).requires_grad_(False)
    x = torch.randn(2, 3, 8, 8)
    check(net, x)
    check(net.to(memory_format=torch.channels_last), x.to(memory_format=torch.channels_last))
    check_training(nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU()).to(memory_format=torch.channels_last),
                   x.to(memory_format=torch.channels_last))


@pytest.mark.parametrize("f,argument,words", [
    (lambda x, n: torch.segment_reduce(x, "sum", lengths=n), torch.tensor([1, 3]), "sum to the 6 elements along the axis"),
    (lambda x, n: torch.segment_reduce(x, "sum", lengths=n), torch.tensor([-1, 7]), "lengths must not be negative"),
    (lambda x, n: torch.segment_reduce(x, "sum", lengths=n, unsafe=True), torch.tensor([1, 300]), "offset 301 is not below 7"),
    (lambda x, y: torch.histogram(x + y, 3), torch.tensor(torch.nan), "the range of the values is not finite"),
], ids=["sum", "negative", "unsafe", "range"])
def test_segments_and_ranges_that_cannot_be(f, argument, words, refusal):
    with refusal("TW-RUNTIME-0013", words):
        torch.compile(f, backend=backend, fullgraph=True)(torch.arange(6.0), argument)


@pytest.mark.parametrize("shape,dynamic", [((2, 3, 6, 8), False), ((2, 3, 6, 8), True), ((1, 2, 2, 6), False),
                                           ((2, 3, 2, 2), False)])
def test_strides_that_fake_tensors_have_otherwise(shape, dynamic):
    """Eager PyTorch's result of unpooling has the order of its input, that of its fake tensors is row-major."""
    def unpool(x):
        values, places = nn.functional.max_pool2d(x, 2, return_indices=True)
        y = nn.functional.max_unpool2d(values, places, 2)
        return y, y + 1

    x = torch.randn(shape)
    check(unpool, x, dynamic=dynamic)
    with torch.no_grad():
        last = x.to(memory_format=torch.channels_last)
        y = torch.compile(lambda v: unpool(v)[0], backend=backend, dynamic=dynamic, fullgraph=True)(last)
        expected = unpool(last)[0]
    assert torch.equal(y, expected) and y.stride() == expected.stride()


def test_results_may_be_written_to():
    net = nn.Conv2d(3, 4, 3).to(memory_format=torch.channels_last)
    compiled = torch.compile(net, backend=backend)
    y = compiled(torch.randn(1, 3, 5, 5).to(memory_format=torch.channels_last))
    y.add_(1).sum().backward()
    assert torch.equal(net.bias.grad, torch.full((4,), 9.0))


def test_empty_and_scalar_tensors():
    check(lambda x: (x * 2, x.sum(0), x.t()), torch.randn(0, 3))
    check(lambda x: x * 2 + 1, torch.tensor(3.0))


# Mutation


def mutates(x, y):
    x.add_(1)
    y[1:].mul_(2)
    x.t()[0].zero_()
    return x * y.sum(), x.t()


def test_mutation():
    check(mutates, torch.randn(3, 4), torch.randn(5))
    check(mutates, torch.randn(4, 3).t(), torch.randn(10)[::2])  # what is not row-major


def test_mutation_raises_the_version():
    x = torch.randn(3)
    before = x._version
    torch.compile(lambda x: x.add_(1), backend=backend)(x)
    assert x._version > before


def test_old_values_of_mutated_inputs():
    def f(x):
        old = x.clone()
        x.add_(1)
        return old, x * old

    check(f, torch.randn(3))


def test_buffers():
    class Count(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("count", torch.zeros(()))

        def forward(self, x):
            self.count += 1
            return x * self.count

    module = Count()
    compiled = torch.compile(module, backend=backend)
    for i in range(1, 4):
        assert torch.equal(compiled(torch.ones(2)), torch.full((2,), float(i)))
    assert module.count == 3


# Sizes


def test_dynamic_sizes():
    net = mlp().requires_grad_(False)
    check(lambda x: (net(x), x.t(), x.shape[0] * 2, x.view(-1)), torch.randn(5, 16), dynamic=True,
          again=[(torch.randn(n, 16),) for n in (7, 64, 3, 1, 0)])


def test_shared_heads_of_attention_that_only_calls_count():
    """Heads of the query that share one of the key: how many of either is open, and the operator has no flag."""
    def attention(q, k, v):
        return torch.nn.functional.scaled_dot_product_attention(q, k, v, enable_gqa=True)

    def tensors(queries, keys):
        torch.manual_seed(0)
        return [torch.randn(2, heads, length, 8, requires_grad=True)
                for heads, length in ((queries, 5), (keys, 7), (keys, 7))]

    compiled = torch.compile(attention, backend=backend, dynamic=True)
    for heads in (8, 2), (6, 3), (4, 4), (12, 6):
        mine, theirs = tensors(*heads), tensors(*heads)
        got, expected = compiled(*mine), attention(*theirs)
        torch.testing.assert_close(got, expected)
        got.sum().backward()
        expected.sum().backward()
        for x, y in zip(mine, theirs):
            torch.testing.assert_close(x.grad, y.grad, rtol=1e-4, atol=1e-4)


def test_sizes_that_become_dynamic():
    counted = []

    def counting(module, inputs, **_):
        counted.append(module)
        return backend(module, inputs)

    net = mlp().requires_grad_(False)
    compiled = torch.compile(net, backend=counting)
    for n in (2, 5, 7, 64, 3):
        x = torch.randn(n, 16)
        torch.testing.assert_close(compiled(x), net(x))
    assert len(counted) == 2


def test_numbers_of_python():
    check(lambda x, n, s: x * n + s, torch.randn(3), 4, 0.5, dynamic=True)


# Random numbers


@pytest.mark.parametrize("f", [
    lambda x: nn.functional.dropout(x, 0.3) * 2, lambda x: x + torch.rand(4, 6),
    lambda x: torch.randn_like(x) + torch.rand_like(x), lambda x: x.clone().uniform_(-1, 1),
    lambda x: torch.randint(0, 9, (x.shape[0],)), lambda x: torch.bernoulli(torch.full_like(x, 0.4)) + x,
    lambda x: nn.functional.dropout(torch.rand(4, 6) + x, 0.5) + torch.randn(6),
])
def test_random_numbers_are_those_of_eager(f):
    check(f, torch.randn(4, 6), eager=["maybe"])


def test_random_numbers_with_dynamic_sizes():
    check(lambda x: nn.functional.dropout(x, 0.3) + torch.rand(x.shape[0], 1), torch.randn(5, 3), dynamic=True,
          again=[(torch.randn(7, 3),)])


# What is not supported


def spectrum(x):
    y = torch.fft.rfft(x * 2).abs()
    return y + 1, x * 3


def test_unsupported_operators_run_eagerly(caplog):
    with caplog.at_level(logging.INFO, "tilewright.torch"):
        check(spectrum, torch.randn(8), eager=["fft"])
    said = [record.getMessage() for record in caplog.records]
    assert any("_fft_r2c" in line and "complex64" in line and "test_torch_compile.py" in line for line in said), said


def test_explain():
    said = tilewright.torch.explain(spectrum, torch.randn(8))
    assert len(said.graphs) == 1 and len(said.graphs[0].programs) == 2
    assert any("_fft_r2c" in line and "test_torch_compile.py:" in line and "spectrum" in line for line in said.eager)
    net = mlp()
    whole = tilewright.torch.explain(net, torch.randn(4, 16))
    assert [graph.kind for graph in whole.graphs] == ["forward", "backward"] and not whole.eager
    assert all(parameter.grad is None for parameter in net.parameters())
    assert "2 programs" not in str(whole) and "0 operators run eagerly" in str(whole)


def test_mutation_between_pieces():
    def f(x, y):
        x.add_(1)
        z = torch.fft.fft(x).abs()
        y.mul_(z.sum())
        return z * 2, x + y

    check(f, torch.randn(6), torch.randn(6), eager=["fft"])


def test_other_dtypes_run_eagerly():
    check(lambda x: (x * 2, x.real + 1), torch.randn(4, dtype=torch.complex64), eager=["complex"])


# Options


def test_unknown_options_are_refused():
    def failing(**keywords):
        with pytest.raises(Exception) as caught:
            torch.compile(lambda x: x + 1, backend=backend, **keywords)(torch.ones(1))
        return str(caught.value)

    assert "TW-PYTHON-0005" in failing(options={"thread": 1}) and "threads" in failing(options={"thread": 1})
    assert "TW-PYTHON-0005" in failing(options={"threads": 0})
    assert "TW-PYTHON-0005" in failing(options={"target": 3})
    assert "TW-PYTHON-0005" in failing(options={"kernels": "k.cpp"})
    assert "TW-DRIVER-0002" in failing(options={"target": "gpu"})
    assert "TW-PYTHON-0005" in failing(mode="max-autotune")


def test_options(tmp_path):
    check(mlp().requires_grad_(False), torch.randn(4, 16), threads=1, target="reference",
          dump_to=str(tmp_path / "ir"))
    assert os.listdir(tmp_path / "ir")


def test_parts_of_constants_stay_in_their_kernels(fresh):
    def lower_triangle(x):
        i, j = torch.tril_indices(4, 4, -1)
        return x[:, i, j]

    x = torch.randn(2, 4, 4)
    assert tilewright.torch.explain(lower_triangle, x).eager == []
    torch.testing.assert_close(torch.compile(lower_triangle, backend=backend)(x), lower_triangle(x))


# The cache


def cache_files(tmp_path):
    return sorted((tmp_path / "cache" / "torch").glob("*.so"))


def test_cache(tmp_path, caplog):
    net, x = mlp().requires_grad_(False), torch.randn(4, 16)
    expected = net(x)

    def run():
        torch._dynamo.reset()
        torch.testing.assert_close(torch.compile(net, backend=backend)(x), expected)

    run()
    files = cache_files(tmp_path)
    assert len(files) == 1 and stat.S_IMODE(os.stat(files[0].parent).st_mode) == 0o700
    assert files[0].stat().st_size < 300_000
    made = files[0].stat().st_mtime_ns
    run()
    assert cache_files(tmp_path) == files and files[0].stat().st_mtime_ns == made
    torch._dynamo.reset()
    files[0].unlink()
    files[0].write_bytes(b"no artifact")
    run()
    assert files[0].stat().st_size > 1000
    files[0].unlink()
    files[0].mkdir()
    run()
    assert files[0].is_file() and next(files[0].parent.glob("*.folder")).is_dir()
    os.chmod(files[0].parent, 0o777)
    files[0].unlink()
    with caplog.at_level(logging.WARNING, "tilewright.torch"):
        run()
    assert any("TW-PYTHON-0006" in record.getMessage() for record in caplog.records) and not cache_files(tmp_path)


def test_a_cache_whose_name_is_no_text(tmp_path, monkeypatch, caplog):
    monkeypatch.setenv("TILEWRIGHT_CACHE", str(tmp_path) + "/\udcff")
    torch._dynamo.reset()
    with caplog.at_level(logging.WARNING, "tilewright"):
        assert torch.compile(lambda x: x + 2, backend=backend)(torch.ones(2)).tolist() == [3, 3]
    assert any("TW-PYTHON-0006" in record.getMessage() for record in caplog.records)


# Training


def test_training():
    check_training(mlp(), torch.randn(4, 16))
    check_training(mlp(), torch.randn(4, 16), steps=3, dynamic=True)


def test_dropout_in_training():
    check_training(nn.Sequential(nn.Linear(16, 32), nn.Dropout(0.3), nn.Linear(32, 8), nn.Dropout(0.5)),
                   torch.randn(4, 16), steps=3)


def test_batch_norm():
    check_training(nn.Sequential(nn.Conv2d(3, 8, 3, bias=False), nn.BatchNorm2d(8), nn.ReLU(), nn.Flatten(),
                                 nn.Linear(8 * 36, 4)), torch.randn(4, 3, 8, 8), steps=3, tolerance=1e-3)


def test_autocast():
    net = mlp()

    def f(x):
        with torch.autocast("cpu", torch.bfloat16):
            return net(x).float().square().mean()

    x = torch.randn(4, 16)
    ours = torch.compile(f, backend=backend, fullgraph=True)(x)
    ours.backward()
    got = [parameter.grad.clone() for parameter in net.parameters()]
    net.zero_grad()
    expected = f(x)
    expected.backward()
    torch.testing.assert_close(ours, expected, rtol=2e-2, atol=1e-2)
    for a, parameter in zip(got, net.parameters()):
        torch.testing.assert_close(a, parameter.grad, rtol=5e-2, atol=1e-2)


def test_activation_checkpointing():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = mlp(), nn.Linear(8, 4)

        def forward(self, x):
            return self.b(torch.utils.checkpoint.checkpoint(self.a, x, use_reentrant=False))

    check_training(Net(), torch.randn(4, 16))


def test_several_backward_calls():
    net = mlp()
    theirs = copy.deepcopy(net)
    compiled = torch.compile(net, backend=backend)
    x = torch.randn(4, 16)
    for module in (compiled, theirs):
        y = module(x)
        y.sum().backward(retain_graph=True)
        y.square().sum().backward()
        module(x[:4]).mean().backward()  # accumulation
    for a, b in zip(net.parameters(), theirs.parameters()):
        torch.testing.assert_close(a.grad, b.grad, rtol=1e-4, atol=1e-5)


def test_optimizer():
    net = mlp()
    theirs = copy.deepcopy(net)
    x, target = torch.randn(8, 16), torch.randint(0, 8, (8,))
    losses = []
    for module in (torch.compile(net, backend=backend), theirs):
        optimizer = torch.optim.Adam(module.parameters(), 1e-2)
        for _ in range(5):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(module(x), target)
            loss.backward()
            optimizer.step()
        losses.append(loss.item())
    assert losses[0] == pytest.approx(losses[1], rel=1e-4)


def test_threads_of_calls():
    import threading

    net = mlp().requires_grad_(False)
    compiled = torch.compile(net, backend=backend)
    compiled(torch.randn(4, 16))
    wrong = []

    def work():
        for _ in range(30):
            x = torch.randn(4, 16)
            if not torch.allclose(compiled(x), net(x), atol=1e-5):
                wrong.append(x)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_data_loader_workers():
    net = mlp().requires_grad_(False)
    compiled = torch.compile(net, backend=backend)
    compiled(torch.randn(4, 16))

    class Data(torch.utils.data.Dataset):
        def __len__(self):
            return 4

        def __getitem__(self, i):
            return compiled(torch.full((4, 16), float(i)))

    for i, batch in enumerate(torch.utils.data.DataLoader(Data(), num_workers=2)):
        torch.testing.assert_close(batch[0], net(torch.full((4, 16), float(i))))


def test_no_leaks(run_python):
    """Nothing is left at the interpreter's end of what was compiled for functions and tensors of __main__."""
    assert run_python("""
        import torch

        f = torch.compile(lambda x: (x * 2).relu(), backend="tilewright")
        x = torch.randn(4, requires_grad=True)
        f(x).sum().backward()
        pieces = torch.compile(lambda x: torch.fft.rfft(x).abs() * 2, backend="tilewright")
        pieces(torch.randn(8))
        print(x.grad is not None)
    """) == "True\n"


@pytest.mark.parametrize("then", ["", "y.sum().backward()", "torch.compile(lambda y: y * 2, backend='tilewright')(y)"])
def test_results_that_outlive_python(run_python, then):
    """torch releases nothing of the graphs of results that are left."""
    run_python(f"""
        import torch

        y = torch.compile(torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Dropout()), backend="tilewright")(torch.randn(2, 3))
        {then}
    """)


def test_backends_that_outlive_python(run_python):
    """torch keeps each backend that was used, and with it all that its module has: here symbols of kernels."""
    run_python("""
        import torch
        import tilewright.kernel as tk
        import tilewright.torch

        M, N = tk.symbols("M N")

        def backend(module, inputs):
            return module.forward

        torch.compile(torch.nn.ReLU(), backend=backend)(torch.ones(2))
    """)


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_other_backends_keep_nothing_of_ours(run_python, backend):
    """A function of __main__ that another backend compiled, beside kernels and programs of __main__."""
    run_python(f"""
        import torch
        import tilewright
        import tilewright.kernel as tk

        M, N = tk.symbols("M N")
        program = tilewright.compile(torch.nn.ReLU(), (torch.ones(2),))

        def f(x):
            return program, x + 1

        torch.compile(lambda x: x + 1, backend="{backend}")(torch.ones(2))
        torch.compile(lambda x: f(x)[1], backend="{backend}")(torch.ones(2))
    """)


# Arguments that are no plain memory


class Marked(torch.Tensor):
    """A subclass without a behaviour of its own."""


def complex_pair():
    return torch.complex(torch.arange(6.0).view(2, 3), torch.ones(2, 3))


@pytest.mark.parametrize("make", [
    lambda: complex_pair().conj().imag,                       # negated when it is read
    lambda: torch.randn(3).expand(2, 3),                      # stride 0
    lambda: torch.randn(8).as_strided((2, 3), (2, 1)),        # its rows overlap
    lambda: torch.randn(2, 0), lambda: torch.randn(0, 3)[:, 1:],
    lambda: torch.from_numpy(np.frombuffer(np.arange(6, dtype=np.float32).tobytes(), np.float32)).view(2, 3),
    lambda: torch.randn(2, 3).as_subclass(Marked), lambda: torch.nn.Parameter(torch.randn(2, 3)),
    lambda: torch.randn(2, 3).to_sparse(), complex_pair, lambda: complex_pair().conj(),
], ids=["negated", "stride0", "overlapping", "empty", "emptyslice", "readonly", "subclass", "parameter", "sparse", "complex",
        "conjugated"])
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
