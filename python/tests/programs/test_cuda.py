# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs, kernels and torch.compile on tensors that are on a GPU. test_device.py tests what needs none."""
import numpy as np
import pytest
import torch
from torch import nn

import tilewright
import tilewright.kernel as tk
from compare import mlp
from tilewright.torch import explain

pytestmark = [pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU that torch can use"),
              pytest.mark.usefixtures("fresh")]
TARGET = "nvidia:sm_90a"


@pytest.fixture(autouse=True)
def exact():
    """f32 products are f32, as ours are."""
    before = torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    yield
    torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32 = before


def close(ours, theirs, **tolerance):
    torch.testing.assert_close(ours, theirs, **(tolerance or {"rtol": 1e-4, "atol": 1e-5}))


def check(function, *args, gradients=False, **options):
    """Compiled and eager give the same, where it is, with the same strides; and one program is all of each graph."""
    fast = torch.compile(function, backend="tilewright", options=options or None)
    for _ in range(2):
        ours, theirs = fast(*args), function(*args)
        close(ours, theirs)
        assert ours.device == theirs.device and ours.stride() == theirs.stride()
    if gradients:
        wanted = [each for each in (*args, *function.parameters()) if each.requires_grad]
        for mine, other in zip(torch.autograd.grad(fast(*args).square().sum(), wanted),
                               torch.autograd.grad(function(*args).square().sum(), wanted)):
            close(mine, other, rtol=1e-3, atol=1e-4)
    return fast


def test_program_reads_and_gives_tensors_on_the_device():
    net, x = mlp().cuda(), torch.randn(4, 16, device="cuda")
    program = tilewright.compile(net, (x,), target=TARGET)
    assert program.device == "cuda:0"
    close(program(x), net(x))
    assert program(x).is_cuda
    memory = torch.empty(4, 8, device="cuda")
    assert program(x, output_0=memory) is memory
    close(memory, net(x))
    close(program(x[:, torch.arange(15, -1, -1)].flip(1)), net(x))  # a copy that is contiguous
    close(program(torch.randn(16, 4, device="cuda").copy_(x.T).T), net(x))


def test_tensors_in_main_memory_are_copied_there_and_back(refusal):
    net, x = mlp().cuda(), torch.randn(4, 16, device="cuda")
    program = tilewright.compile(net, (x,), target=TARGET)
    close(program(x.cpu()), net(x).cpu())
    assert isinstance(program(x.cpu().numpy()), np.ndarray)
    two = tilewright.compile(Sum(), (x, x.clone()), target=TARGET)
    with refusal("TW-PYTHON-0002", 'is in main memory, but "x" in cuda:0', "same memory"):
        two(x, x.cpu())


def test_a_program_for_cpus_refuses_tensors_on_the_device(refusal):
    program = tilewright.compile(mlp(), (torch.randn(4, 16),))
    with refusal("TW-PYTHON-0002", "is on cuda:0, not in main memory", ".cpu()"):
        program(torch.randn(4, 16, device="cuda"))


class Sum(nn.Module):
    def forward(self, x, y):
        return x + y


def test_work_is_in_the_order_of_the_current_stream():
    x = torch.zeros(1 << 22, device="cuda")
    program = tilewright.compile(Sum(), (x, x.clone()), target=TARGET)
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        y = torch.ones_like(x)
        for _ in range(50):
            y = program(y, x + 1)
    stream.synchronize()
    assert (y == 51).all()


class Exporter:
    """An array of another library."""

    def __init__(self, tensor):
        self.tensor = tensor

    def __dlpack_device__(self):
        return self.tensor.__dlpack_device__()

    def __dlpack__(self, **named):
        return self.tensor.__dlpack__(**named)


def test_arrays_of_other_libraries():
    x, y = torch.randn(1000, device="cuda"), torch.randn(1000, device="cuda")
    program = tilewright.compile(Sum(), (x, y), target=TARGET)
    close(program(Exporter(x), Exporter(y)), x + y)


def test_an_index_out_of_bounds_is_told_by_the_call(refusal):
    table = nn.Embedding(10, 4).cuda()
    program = tilewright.compile(table, (torch.tensor([1, 2], device="cuda"),), target=TARGET)
    close(program(torch.tensor([9, 0], device="cuda")), table.weight[[9, 0]])
    with refusal("TW-RUNTIME-0013"):
        program(torch.tensor([9, 10], device="cuda"))
    close(program(torch.tensor([3, 3], device="cuda")), table.weight[[3, 3]])


def test_state_is_kept_on_the_device():
    class Counter(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("count", torch.zeros(3))

        def forward(self, x):
            return x + self.count.add_(1)

    program = tilewright.compile(Counter().cuda(), (torch.ones(3, device="cuda"),), target=TARGET)
    for count in (1, 2, 3):
        close(program(torch.zeros(3, device="cuda")), torch.full((3,), float(count), device="cuda"))
    assert program.state["count"].tolist() == [3, 3, 3]


def test_torch_compile():
    check(mlp().cuda(), torch.randn(4, 16, device="cuda"), gradients=True)
    found = explain(mlp().cuda(), torch.randn(4, 16, device="cuda"))
    assert "0 run eagerly" in str(found)


def test_sizes_that_change():
    net = mlp().cuda()
    fast = torch.compile(net, backend="tilewright", dynamic=True)
    for rows in (3, 64, 200, 1):
        x = torch.randn(rows, 16, device="cuda")
        close(fast(x), net(x))


def test_norms_convolutions_and_their_gradients():
    net = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
                        nn.Linear(8 * 64, 10), nn.LayerNorm(10)).cuda()
    other = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
                          nn.Linear(8 * 64, 10), nn.LayerNorm(10)).cuda()
    other.load_state_dict(net.state_dict())
    fast, x = torch.compile(net, backend="tilewright"), torch.randn(4, 3, 16, 16, device="cuda")
    for _ in range(3):
        ours, theirs = fast(x), other(x)
        close(ours, theirs, rtol=1e-3, atol=1e-4)
        ours.square().sum().backward()
        theirs.square().sum().backward()
    close(net[1].running_var, other[1].running_var)
    for mine, parameter in zip(net.parameters(), other.parameters()):
        close(mine.grad, parameter.grad, rtol=1e-3, atol=2e-3)


def test_channels_last():
    net = nn.Conv2d(4, 8, 3, padding=1).cuda().to(memory_format=torch.channels_last)
    check(net, torch.randn(2, 4, 8, 8, device="cuda").to(memory_format=torch.channels_last))


def test_autocast():
    net, x = mlp().cuda(), torch.randn(4, 16, device="cuda")
    fast = torch.compile(net, backend="tilewright")
    with torch.autocast("cuda", torch.bfloat16):
        ours, theirs = fast(x), net(x)
    assert ours.dtype == torch.bfloat16
    close(ours, theirs, rtol=2e-2, atol=2e-2)


def test_random_numbers_are_those_of_eager_pytorch():
    def noisy(x):
        return nn.functional.dropout(x, 0.3) + torch.rand_like(x) + torch.randn(x.shape[1], device=x.device)

    x = torch.randn(64, 100, device="cuda")
    fast = torch.compile(noisy, backend="tilewright")
    for _ in range(3):
        torch.cuda.manual_seed(7)
        ours = fast(x), torch.rand(5, device="cuda")
        torch.cuda.manual_seed(7)
        theirs = noisy(x), torch.rand(5, device="cuda")
        close(ours, theirs, rtol=1e-6, atol=1e-6)


def test_unsupported_operators_run_eagerly_between_programs():
    def spectrum(x):
        return torch.fft.rfft(x * 2).abs().sum(-1) + 1

    x = torch.randn(4, 32, device="cuda")
    close(torch.compile(spectrum, backend="tilewright")(x), spectrum(x), rtol=1e-4, atol=1e-4)
    assert "fft" in str(explain(spectrum, x))


def test_tensors_on_two_devices():
    def both(x, scale):
        return (x * 2).cpu() * scale

    x, scale = torch.randn(8, device="cuda"), torch.randn(8)
    close(torch.compile(both, backend="tilewright")(x, scale), both(x, scale))


def test_a_target_for_cpus_runs_eagerly_and_says_why():
    net, x = mlp().cuda(), torch.randn(4, 16, device="cuda")
    close(torch.compile(net, backend="tilewright", options={"target": "cpu"})(x), net(x))
    assert "which programs for cpu do not read" in str(explain(net, x, options={"target": "cpu"}))


def test_frozen_weights_follow_their_changes():
    net, x = mlp().cuda().requires_grad_(False), torch.randn(4, 16, device="cuda")
    fast = torch.compile(net, backend="tilewright", options={"freeze": True})
    close(fast(x), net(x))
    net[0].weight.mul_(2)
    close(fast(x), net(x))


M, N = tk.symbols("M N")


@tk.kernel
def doubled(x: tk.In[tk.f32, M, N], y: tk.Out[tk.f32, M, N]):
    m, = tk.grid(M)
    tk.store(y, [m, 0], 2 * tk.load(x, [m, 0], [1, N]))


@tk.kernel
def doubled_in_place(x: tk.InOut[tk.f32, M, N]):
    m, = tk.grid(M)
    tk.store(x, [m, 0], 2 * tk.load(x, [m, 0], [1, N]))


def test_kernels_run_where_their_tensors_are():
    x = torch.randn(5, 300, device="cuda")
    for _ in range(2):
        close(doubled(x), 2 * x)
        close(doubled(x.cpu()), 2 * x.cpu())
    assert doubled(x).is_cuda
    expected = 2 * x
    doubled_in_place(x)
    close(x, expected)


def test_a_registered_kernel():
    op = doubled.register("test_cuda::doubled", backward=lambda saved, gradient: 2 * gradient)
    x = torch.randn(5, 300, device="cuda", requires_grad=True)
    close(op(x), 2 * x)
    close(op(x.detach().cpu()), 2 * x.detach().cpu())
    fast = torch.compile(lambda x: op(x).relu() + 1, backend="tilewright")
    close(fast(x), (2 * x).relu() + 1)
    gradient, = torch.autograd.grad(fast(x).sum(), x)
    close(gradient, 2.0 * (x > 0))
