# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""options={"freeze": True}: parameters and buffers are laid out once, and again when one changes."""
import pytest
import torch
from torch import nn

import tilewright.torch
from tilewright.torch import _backend

pytestmark = pytest.mark.usefixtures("fresh")


@pytest.fixture
def graphs(monkeypatch):
    """The graphs that are compiled."""
    seen = []

    def compiled(*arguments):
        run = _backend.compile_graph_unwatched(*arguments)
        seen.append(run.graph if hasattr(run, "graph") else run)
        return run

    monkeypatch.setattr(_backend, "compile_graph_unwatched", _backend.compile_graph, raising=False)
    monkeypatch.setattr(_backend, "compile_graph", compiled)
    return seen


def frozen(module, **options):
    return torch.compile(module, backend="tilewright", options={"freeze": True, **options})


def mlp():
    return nn.Sequential(nn.Linear(48, 64), nn.ReLU(), nn.Linear(64, 8)).eval()


class Blocks(nn.Module):
    """A chain of equal blocks."""

    class Block(nn.Module):
        def __init__(self, size):
            super().__init__()
            self.a, self.b = nn.Linear(size, size), nn.Linear(size, size)

        def forward(self, x):
            return x + self.b(self.a(x).relu())

    def __init__(self, count, size):
        super().__init__()
        self.blocks = nn.ModuleList(self.Block(size) for _ in range(count))
        self.eval()

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


@torch.no_grad()
def agree(fast, module, x):
    torch.testing.assert_close(fast(x), module(x), rtol=1e-4, atol=1e-5)


def test_weights_are_prepared_once(graphs):
    module = mlp()
    fast = frozen(module)
    for _ in range(3):
        agree(fast, module, torch.randn(32, 48))
    assert [graph.preparations for graph in graphs] == [1]


@pytest.mark.parametrize("target", ["cpu", "reference"])
def test_writes_and_replaced_weights_are_seen(graphs, target):
    module = mlp()
    fast = frozen(module, target=target)
    x = torch.randn(32, 48)
    agree(fast, module, x)
    with torch.no_grad():
        module[0].weight.mul_(2)
    agree(fast, module, x)
    module[2].bias = nn.Parameter(torch.randn(8))
    agree(fast, module, x)
    module[2].weight.data = torch.randn(8, 64)  # other memory
    agree(fast, module, x)
    module.load_state_dict(mlp().state_dict())
    agree(fast, module, x)
    assert [graph.preparations for graph in graphs] == [5]


def test_an_optimizer_between_calls(graphs):
    module = mlp()
    fast = frozen(module)
    optimizer = torch.optim.AdamW(module.parameters(), lr=0.1)
    x = torch.randn(32, 48)
    for _ in range(3):
        agree(fast, module, x)
        fast(x).square().sum().backward()  # with gradients nothing is frozen
        optimizer.step()
        optimizer.zero_grad()
    agree(fast, module, x)
    assert sorted(graph.preparations for graph in graphs if hasattr(graph, "preparations")) == [0, 0, 4]


def test_shared_weights():
    class Tied(nn.Module):
        def __init__(self):
            super().__init__()
            self.table = nn.Embedding(40, 16)
            self.head = nn.Linear(16, 40, bias=False)
            self.head.weight = self.table.weight

        def forward(self, x):
            return self.head(self.table(x).relu())

    module = Tied().eval()
    fast = frozen(module)
    x = torch.randint(40, (32, 5))
    agree(fast, module, x)
    with torch.no_grad():
        module.head.weight.add_(1)
    agree(fast, module, x)


def test_what_depends_on_weights_alone_is_computed_once(graphs):
    class Folded(nn.Module):
        def __init__(self):
            super().__init__()
            self.v = nn.Parameter(torch.randn(8, 16))
            self.register_buffer("scale", torch.rand(8, 1) + 1)
            self.register_buffer("shift", torch.randn(4, 8, dtype=torch.float64).t())

        def forward(self, x):
            return x @ (self.v / self.v.norm(dim=1, keepdim=True) * self.scale).t() + self.shift.float().sum(1)

    module = Folded().eval()
    fast = frozen(module)
    x = torch.randn(3, 16)
    agree(fast, module, x)
    module.scale.mul_(3)
    agree(fast, module, x)
    assert [graph.preparations for graph in graphs] == [2]


def test_convolutions_and_buffers_that_are_written(graphs):
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU())
            self.register_buffer("count", torch.zeros((), dtype=torch.long))

        def forward(self, x):
            self.count.add_(1)
            return self.net(x), self.count + 0

    module = Net().eval()
    theirs = Net().eval()
    theirs.load_state_dict(module.state_dict())
    fast = frozen(module)
    x = torch.randn(2, 3, 9, 9).to(memory_format=torch.channels_last)
    with torch.no_grad():
        for _ in range(3):
            for mine, expected in zip(fast(x), theirs(x)):
                torch.testing.assert_close(mine, expected, rtol=1e-4, atol=1e-5)
                assert mine.stride() == expected.stride()
    assert [graph.preparations for graph in graphs] == [1]


def test_weights_in_any_memory(graphs):
    class Odd(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("turned", torch.randn(16, 48).t())
            self.register_buffer("part", torch.randn(3, 33)[1:, 1:17])
            self.register_buffer("unaligned", torch.randn(17)[1:])
            self.register_buffer("wide", torch.randn(1, 16).expand(5, 16))
            self.register_buffer("bytes", torch.arange(16, dtype=torch.uint8))
            self.register_buffer("none", torch.randn(0, 16))

        def forward(self, x):
            return (x @ self.turned) * self.part.sum(0) + self.unaligned + self.wide.sum(0) + self.bytes + self.none.sum(0)

    module = Odd().eval()
    fast = frozen(module)
    for _ in range(2):
        agree(fast, module, torch.randn(5, 48))
    assert [graph.preparations for graph in graphs] == [1]


def test_dynamic_sizes_share_nothing_but_weights(graphs):
    module = mlp()
    fast = torch.compile(module, backend="tilewright", dynamic=True, options={"freeze": True})
    for batch in (2, 5, 64):
        agree(fast, module, torch.randn(batch, 48))
    assert [graph.preparations for graph in graphs] == [1]


def test_frozen_graphs_come_from_the_cache(graphs):
    from tilewright.torch import _cache

    x = torch.randn(32, 48)
    files = []
    for _ in range(2):
        torch._dynamo.reset()
        module = mlp()
        agree(frozen(module), module, x)
        files.append(_cache.entries())
    assert sum(name.endswith(".prepare.so") for name in files[0]) == 1 and len(files[0]) == 2
    assert files[1] == files[0] and [graph.preparations for graph in graphs] == [1, 1]


@pytest.mark.parametrize("damage", [
    lambda own, other: b"no artifact", lambda own, other: own[:len(own) // 2],
    lambda own, other: own[:1000] + bytes([own[1000] ^ 1]) + own[1001:], lambda own, other: other, None,
], ids=["text", "half", "a bit", "another program", "missing"])
def test_damaged_preparations_are_made_again(graphs, damage, tmp_path):
    """The program beside it is whole, and is made again with it."""
    module, x = mlp(), torch.randn(32, 48)
    agree(frozen(module), module, x)
    file, = (tmp_path / "cache" / "torch").glob("*.prepare.so")
    own, other = file.read_bytes(), file.with_name(file.name.replace(".prepare", "")).read_bytes()
    file.unlink()
    if damage:
        file.write_bytes(damage(own, other))
    torch._dynamo.reset()
    agree(frozen(module), module, x)
    assert file.stat().st_size > 1000 and file.read_bytes() != (damage(own, other) if damage else b"")
    assert [graph.preparations for graph in graphs] == [1, 1]


def test_inference_tensors_have_no_versions():
    with torch.inference_mode():
        module = mlp()
        fast = frozen(module)
        x = torch.randn(4, 48)
        torch.testing.assert_close(fast(x), module(x), rtol=1e-4, atol=1e-5)
        module[0].weight.mul_(2)
        torch.testing.assert_close(fast(x), module(x), rtol=1e-4, atol=1e-5)


def test_pieces_between_eager_operators_are_frozen(graphs):
    class Cut(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Linear(16, 32), nn.Linear(17, 8)

        def forward(self, x):
            return self.b(torch.fft.rfft(self.a(x)).abs())

    module = Cut().eval()
    fast = frozen(module)
    for _ in range(2):
        agree(fast, module, torch.randn(6, 16))
    with torch.no_grad():
        module.b.weight.mul_(-1)
    agree(fast, module, torch.randn(6, 16))
    assert tilewright.torch.explain(module, torch.randn(6, 16), options={"freeze": True}).eager


def test_calls_from_several_threads():
    from concurrent.futures import ThreadPoolExecutor

    module = mlp()
    fast = frozen(module, threads=1)
    inputs = [torch.randn(4, 48) for _ in range(40)]
    with torch.no_grad():
        fast(inputs[0])
        module[0].weight.neg_()
        expected = [module(x) for x in inputs]

    def call(x):
        with torch.no_grad():
            return fast(x)

    with ThreadPoolExecutor(4) as pool:
        for mine, theirs in zip(pool.map(call, inputs), expected):
            torch.testing.assert_close(mine, theirs, rtol=1e-4, atol=1e-5)


def test_threads_that_call_two_models_of_one_class(graphs):
    from concurrent.futures import ThreadPoolExecutor

    modules = [Blocks(1, 256), Blocks(1, 256)]
    fast = [frozen(module, threads=1) for module in modules]
    x = torch.randn(8, 256)
    with torch.no_grad():
        expected = [module(x) for module in modules]
        for run in fast:
            run(x)

    def differ(which):
        with torch.no_grad():
            for _ in range(100):
                if not torch.allclose(fast[which](x), expected[which], rtol=1e-3, atol=1e-4):
                    return True
                modules[which].blocks[0].a.weight.mul_(1)  # prepared again
        return False

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(differ, (0, 1))) == [False, False]
    assert len(graphs) == 1 and graphs[0].preparations > 100 and graphs[0].prepared_sets == 2


@torch.no_grad()
def test_weights_replaced_while_a_thread_prepares(graphs):
    import threading
    import time

    module = Blocks(1, 512)
    fast = frozen(module, threads=1)
    x = torch.randn(8, 512)
    agree(fast, module, x)

    @torch.no_grad()
    def call():
        fast(x)

    for trial in range(20):
        module.blocks[0].a.weight = nn.Parameter(torch.randn(512, 512) / 30)
        thread = threading.Thread(target=call)
        thread.start()
        time.sleep(0.0003 * trial)
        module.blocks[0].a.weight = nn.Parameter(torch.randn(512, 512) / 30)
        agree(fast, module, x)
        thread.join()
        agree(fast, module, x)
    assert graphs[0].prepared_sets == 1  # those of the replaced weights went with them


@torch.no_grad()
def test_equal_blocks_that_share_a_graph_keep_a_set_each(graphs):
    import gc

    module = Blocks(6, 32)
    for block in module.blocks:
        block.compile(backend="tilewright", options={"freeze": True})
    plain = Blocks(6, 32)
    plain.load_state_dict(module.state_dict())
    x = torch.randn(4, 32)
    for _ in range(3):
        torch.testing.assert_close(module(x), plain(x), rtol=1e-4, atol=1e-5)
    graph, = graphs
    assert (graph.preparations, graph.prepared_sets) == (6, 6)
    module.blocks[2].a.weight.mul_(2)
    plain.blocks[2].a.weight.mul_(2)
    torch.testing.assert_close(module(x), plain(x), rtol=1e-4, atol=1e-5)
    assert (graph.preparations, graph.prepared_sets) == (7, 6)
    del module, block
    gc.collect()
    assert graph.prepared_sets == 0


def test_the_number_of_sets_is_bounded(graphs):
    module = nn.Linear(16, 8).eval()
    fast = frozen(module)
    x, all_of_them = torch.randn(4, 16), []
    for _ in range(140):
        all_of_them.append(module.weight)
        agree(fast, module, x)
        module.weight = nn.Parameter(torch.randn(8, 16))
    assert (graphs[0].preparations, graphs[0].prepared_sets) == (140, 128)
    module.weight = all_of_them[-1]
    agree(fast, module, x)
    module.weight = all_of_them[0]
    agree(fast, module, x)
    assert graphs[0].preparations == 141


def test_what_freeze_may_say(refusal):
    with pytest.raises(Exception) as caught:
        torch.compile(mlp(), backend="tilewright", options={"freeze": "yes"})(torch.randn(4, 48))
    assert "TW-PYTHON-0005" in str(caught.value) and "give True or False" in str(caught.value)
