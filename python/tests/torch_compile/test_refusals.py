# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is said of mistakes that no other test makes: code, message and advice, whole."""
import numpy as np
import pytest
import torch
from torch._functorch.aot_autograd import aot_function

import tilewright
import tilewright.kernel as tk
from tilewright import _native
from tilewright.torch import _backend, _explain, _options

M, N = tk.symbols("M N")
WRITABLE = "give a contiguous array of its own that can be written, or a copy"
UPDATE = "update the library it comes from"
IN_MAIN_MEMORY = "give plain tensors in main memory"
CALL_INSTEAD = "call what torch.compile gives, which calls its graphs"


class Counter(torch.nn.Module):
    """Writes to its argument `cache`, and gives a number."""

    def forward(self, x, cache):
        cache.add_(1)
        return x + cache, x.shape[0]


class Buffered(torch.nn.Module):
    def __init__(self, buffer):
        super().__init__()
        self.register_buffer("w", buffer)

    def forward(self, x):
        return x @ self.w


class Exporter:
    """Another library's tensor: a capsule, and where it says to be."""

    def __init__(self, capsule, device=(1, 0)):
        self.capsule, self.device = capsule, device

    def __dlpack__(self, **_):
        return self.capsule

    def __dlpack_device__(self):
        return self.device


@tk.kernel
def twice(x: tk.In[tk.f32, M, N], y: tk.Out[tk.f32, M, N]):
    m, = tk.grid(M)
    tk.store(y, [m, 0], tk.load(x, [m, 0], [1, N]) * 2)


@pytest.fixture(scope="module")
def counter():
    return tilewright.compile(Counter(), (torch.ones(3), torch.zeros(3)))


@pytest.fixture(scope="module")
def graph():
    """A compiled graph of torch.compile: of one argument, f32[3]."""
    made = []

    def compiler(module, _):
        run = _backend.compile_partition(module, _options.read(None, None), _explain.GraphRecord("inference", 1))
        made.append(run.graph)
        made.append(run)  # which holds it
        return run

    aot_function(torch.relu, fw_compiler=compiler)(torch.ones(3))
    return made[0]


def ended(graph):
    """The graph as a function that has let go of it."""
    function = _native.GraphFunction(graph)
    function.end()
    return function


def relu(**options):
    return tilewright.compile(torch.nn.ReLU(), (torch.ones(2),), **options)


def exported():
    return torch.export.export(torch.nn.ReLU(), (torch.ones(3),))


def z(n=3):
    return np.zeros(n, np.float32)


def refuses(calls, call):
    """What is said of `call`."""
    with pytest.raises(tilewright.Error) as caught:
        call(calls)
    return caught.value.code, caught.value.message, caught.value.help


ARGUMENTS = [
    (lambda c: c(z(), torch.complex(torch.ones(3), torch.ones(3)).conj().imag), "0004",
     'input "cache" is written by the program, but it is a negated view', WRITABLE),
    (lambda c: c(z(), z(), output_1=3), "0003", 'output "output_1" is a number, and given',
     "give each input once, by place or by name"),
    (lambda c: c(Exporter(z().__dlpack__(), ("a", 0)), z()), "0001",
     f"input \"x\" is a {__name__}.Exporter whose __dlpack_device__ gives ('a', 0)", UPDATE),
    (lambda c: c(Exporter("no capsule"), z()), "0001",
     f'input "x" is a {__name__}.Exporter whose __dlpack__ gives no tensor of DLPack 1', UPDATE),
    (lambda c: c(Exporter(z().__dlpack__(), (7, 0)), z()), "0002",
     'input "x" is on the DLPack device (7, 0), not in main memory', "copy it there first, as .cpu() does"),
    (lambda c: c(Exporter(torch.zeros(3, dtype=torch.complex64).__dlpack__()), z()), "0001",
     'input "x" has the DLPack dtype complex64',
     "give an array with another dimension for real and imaginary parts"),
    (lambda c: c(memoryview(b"abc").cast("c"), z()), "0001", 'input "x" has elements of the format "c"',
     "convert it with .astype(dtype)"),
    (lambda c: c(np.zeros(3, np.uint16), z()), "0001", 'input "x" has elements of the format "H"',
     "convert it with .astype(dtype)"),
    (lambda c: c(torch.zeros(3, dtype=torch.uint16), z()), "0001", 'input "x" has dtype torch.uint16',
     "convert it with .to(dtype)"),
    (lambda c: c(torch.quantize_per_tensor(torch.ones(3), 0.1, 0, torch.qint8), z()), "0001", 'input "x" is quantized',
     "call .dequantize() first"),
    (lambda c: c(torch.ones(3).to_sparse(), z()), "0001",
     'input "x" is not strided: its layout is sparse or another one', "call .to_dense() first"),
    (lambda c: c(np.ma.masked_array(z(), mask=[1, 0, 0]), z()), "0001",
     f'input "x" is a {np.ma.MaskedArray.__module__}.MaskedArray, and has a mask, which programs do not read', "call .filled(value) first"),
    (lambda c: c(5, z()), "0001", 'input "x" is an int, not a tensor',
     "give a torch tensor, a NumPy array, or anything else with __dlpack__"),
]
COMPILING = [
    (lambda _: tilewright.load("a.so", library="jax"), "0005", "library is 'jax'", 'it is "numpy" or "torch"'),
    (lambda _: tilewright.Program("a.so", -7), "0005", "descriptor is -7", "leave it out"),
    (lambda _: tilewright.compile("m.pt2", (z(),)), "0005", "example_inputs or dynamic_shapes are given with a file",
     "a file says itself what it takes: leave them out"),
    (lambda _: relu(kernels=5), "0005", "kernels is 5", "give a list: kernels=[...]"),
    (lambda _: relu(threads=2000), "0005", "threads is 2000", "give a number from 0 (all cores) to 1024"),
    (lambda _: tilewright.compile(exported(), dynamic_shapes=()), "0007",
     "dynamic_shapes are given with an exported program", "give them to torch.export.export"),
    (lambda _: tilewright.compile(torch.nn.ReLU(), torch.ones(3)), "0007", "example_inputs is a Tensor",
     "give a tuple of arguments, or a dict of them by name, to export the module with"),
    (lambda _: tilewright.compile(Buffered(torch.eye(3).to_sparse()), (torch.ones(3, 3),)), "0007",
     "weight w is a tensor of the layout torch.sparse_coo", "call .to_dense() first"),
    (lambda _: tilewright.compile(Buffered(torch.ones(3, 3, device="meta")), (torch.ones(3, 3, device="meta"),)), "0007",
     "weight w is a Tensor on meta", "weights are plain tensors in main memory: call .cpu() first"),
    (lambda _: _explain.explain(5, torch.ones(3)), "0007", "what is to be explained is an int",
     "give a function or a module, and its arguments behind it"),
    (lambda _: _options.read(None, 5), "0005", "options is 5", 'give a dict: options={"threads": 1}'),
    (lambda _: _options.read(None, {"thread": 5}), "0005", "the backend tilewright has no option 'thread'",
     "it has target, threads, kernels, dump_to, freeze, precision"),
    (lambda _: _options.read(None, {"threads": 0}), "0005", "the option threads is 0", "give a number from 1 to 1024"),
    (lambda _: _options.read(None, {"freeze": 1}), "0005", "the option freeze is 1", "give True or False"),
    (lambda _: _options.read(None, {"target": 1}), "0005", "the option target is 1", "give a text in UTF-8 without a zero"),
    (lambda _: _options.read(None, {"dump_to": 1}), "0005", "the option dump_to is an int", "give a str or a pathlib.Path"),
    (lambda _: _options.read("fast", None), "0005", "mode='fast' is given",
     "the backend tilewright has no modes: leave it out"),
]
KERNELS = [
    (lambda _: twice.register("a::b", backward=3), "0005", "kernel twice cannot be registered: backward is 3",
     "give a function backward(saved, *gradients)"),
    (lambda _: twice.interpret(z().reshape(1, 3), f64=3), "0005", "f64 is 3", "give True or False"),
    (lambda _: twice.check(z().reshape(1, 3), rtol=-1), "0005", "rtol is -1", "give a number from 0 on, or leave it out"),
    (lambda _: twice.interpret(z().reshape(1, 3), y=z().reshape(1, 3)), "0003", 'kernel twice: output "y" is given',
     "interpret and check give results in memory of their own"),
]
GRAPHS = [
    (lambda g: g([]), "0003", "a compiled graph takes 1 argument, but 0 were given", CALL_INSTEAD),
    (lambda g: g(torch.ones(3)), "0003", "a compiled graph takes one list", CALL_INSTEAD),
    (lambda g: g(["x"]), "0001", "argument 0 of a compiled graph is a str", IN_MAIN_MEMORY),
    (lambda g: g([torch.ones(3, device="meta")]), "0002",
     "argument 0 of a compiled graph is not in main memory, or of another dtype than it was compiled for", IN_MAIN_MEMORY),
    (lambda g: _native.GraphFunction(g)(torch.ones(3)), "0003", "a compiled graph takes one list", CALL_INSTEAD),
    (lambda g: _native.GraphFunction(g)([], []), "0003", "a compiled graph takes one list", CALL_INSTEAD),
    (lambda g: ended(g)([torch.ones(3)]), "0003", "a compiled graph is called when Python ends",
     "call it in no handler of atexit, or in one that is registered after the first use of torch.compile"),
]


@pytest.mark.parametrize("number", range(len(ARGUMENTS)))
def test_arguments(number, counter):
    call, code, *words = ARGUMENTS[number]
    assert refuses(counter, call) == (f"TW-PYTHON-{code}", *words)


@pytest.mark.parametrize("number", range(len(COMPILING)))
def test_compiling(number):
    call, code, *words = COMPILING[number]
    assert refuses(None, call) == (f"TW-PYTHON-{code}", *words)


@pytest.mark.parametrize("number", range(len(KERNELS)))
def test_kernels(number):
    call, code, *words = KERNELS[number]
    assert refuses(None, call) == (f"TW-PYTHON-{code}", *words)


@pytest.mark.parametrize("number", range(len(GRAPHS)))
def test_graphs(number, graph):
    call, code, *words = GRAPHS[number]
    assert refuses(graph, call) == (f"TW-PYTHON-{code}", *words)


def test_other_versions_of_torch(run_python):
    """One without the exchange API, one that is too old, and one that nobody has tried."""
    assert run_python("""
        import logging, torch
        import tilewright, tilewright.kernel as tk

        N = tk.symbol("N")

        @tk.kernel
        def twice(x: tk.In[tk.f32, N], y: tk.Out[tk.f32, N]):
            tk.grid(1)
            tk.store(y, [0], tk.load(x, [0], [N]) * 2)

        def refused(call):
            try:
                call()
            except tilewright.Error as error:
                print(error.code, error.message, error.help, sep="; ")

        api = torch.Tensor.__dlpack_c_exchange_api__
        del torch.Tensor.__dlpack_c_exchange_api__
        torch.__version__ = "2.9.1"
        refused(lambda: twice(torch.ones(3)))
        torch.Tensor.__dlpack_c_exchange_api__ = api
        refused(lambda: tilewright.compile(torch.nn.ReLU(), (torch.ones(3),)))
        torch.__version__ = "2.99.0a0+git"
        logging.basicConfig(format="%(name)s: %(message)s", stream=__import__("sys").stdout)
        import tilewright.torch
    """) == """\
TW-PYTHON-0009; torch 2.9.1 has no DLPack exchange API; use torch 2.10 or later, or give NumPy arrays
TW-PYTHON-0009; torch 2.9.1 is older than 2.13; install torch 2.13 or later
tilewright.torch: torch 2.99.0a0+git is later than those this version of tilewright was tested with (2.13)
"""
