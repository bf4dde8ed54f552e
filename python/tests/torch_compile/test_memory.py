# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is called or compiled again and again leaves no memory behind."""
import gc
import os
import weakref

import pytest
import torch
from torch import nn

import tilewright
import tilewright.kernel as tk
from tilewright.torch import backend

pytestmark = pytest.mark.usefixtures("fresh")
MIB = 1 << 20
N = tk.symbol("N")


@tk.kernel
def doubled(x: tk.In[tk.f32, N], y: tk.Out[tk.f32, N]):
    n, = tk.grid(tk.cdiv(N, 1024))
    tk.store(y, [n * 1024], tk.load(x, [n * 1024], [1024]) * 2)


def growth(step, times, before=20):
    """Bytes by which the process's memory has grown over so many steps, after some to grow to its size."""
    def resident():
        gc.collect()
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    for _ in range(before):
        step()
    begun = resident()
    for _ in range(times):
        step()
    return resident() - begun


def of_a_program():
    program = tilewright.compile(nn.ReLU(), (torch.ones(MIB // 4),), threads=1)
    x = torch.ones(MIB // 4)
    return lambda: (program(x), program(x.numpy()))


def of_a_program_that_refuses():
    program, x = tilewright.compile(nn.ReLU(), (torch.ones(MIB // 4),), threads=1), torch.ones(MIB // 4 + 1)

    def call():
        with pytest.raises(tilewright.InputError):
            program(x[::2].clone())

    return call


def of_a_kernel():
    x = torch.ones(MIB // 4)
    return lambda: doubled(x)


def of_inference():
    f, x = torch.compile(lambda x: (x * 2, x.t() + 1), backend=backend), torch.ones(512, 512)
    return lambda: f(x)


def of_pieces():
    f, x = torch.compile(lambda x: torch.fft.fft(x * 2).abs() + 1, backend=backend), torch.ones(512, 512)
    return lambda: f(x)


def of_training():
    net = nn.Sequential(nn.Linear(512, 512), nn.ReLU(), nn.Dropout(0.5), nn.Linear(512, 512))
    f, x = torch.compile(net, backend=backend), torch.ones(64, 512)

    def step():
        f(x).sum().backward()
        net.zero_grad()

    return step


@pytest.mark.parametrize("calls", [of_a_program, of_a_program_that_refuses, of_a_kernel, of_inference, of_pieces, of_training])
def test_calls(calls):
    """Each has results of at least 1 MiB, of which one in four would be seen."""
    assert growth(calls(), 100) < 25 * MIB


def program():
    module = nn.Linear(256, 256)
    with torch.no_grad():
        tilewright.compile(module, (torch.ones(2, 256),), threads=1)(torch.ones(2, 256))
    return module


def inference():
    module = nn.Linear(256, 256).requires_grad_(False)
    torch.compile(module, backend=backend, options={"freeze": True})(torch.ones(2, 256))
    torch._dynamo.reset()
    return module


def training():
    module = nn.Linear(256, 256)
    torch.compile(module, backend=backend)(torch.ones(2, 256)).sum().backward()
    torch._dynamo.reset()
    return module


@pytest.mark.parametrize("made", [program, inference, training])
def test_compilations(made):
    """Neither models nor their weights live longer than what was compiled of them, and little else is left."""
    kept = []

    def step():
        module = made()
        kept.append(weakref.ref(module.weight))

    grown = growth(step, 20, before=5)
    assert [each() for each in kept] == [None] * 25
    assert grown < 10 * MIB
