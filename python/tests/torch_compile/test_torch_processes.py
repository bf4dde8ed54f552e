# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiled graphs in threads and in workers, and beyond the end of Python."""
import gc
import os
import textwrap
import threading
import weakref

import pytest
import torch

import tilewright.torch
from compare import mlp
from tilewright.torch import _backend, backend

pytestmark = pytest.mark.usefixtures("fresh")


def test_threads_of_calls():
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


@pytest.fixture
def function(monkeypatch):
    """What torch is given as a compiled graph."""
    made, compile_graph = [], _backend.compile_graph
    monkeypatch.setattr(_backend, "compile_graph", lambda *given: made.append(compile_graph(*given)) or made[-1])
    torch.compile(torch.relu, backend=backend)(torch.ones(3))
    torch._dynamo.reset()
    return made.pop()


def test_graphs_take_lists_and_are_collected(function):
    given = [torch.tensor([-1.0, 2.0, 3.0])]
    assert function._boxed_call and function(given)[0].tolist() == [0, 2, 3] and given == []
    function.itself = function
    graph, itself = weakref.ref(function.graph), weakref.ref(function)
    function.__dict__["list"] = [function]
    del function  # the fixture's value is pytest's, too
    assert graph() is not None
    itself().end()
    gc.collect()
    assert graph() is None and itself().graph is None


def test_a_graph_that_is_let_go_of_while_threads_call_it(function):
    """As at the end of Python: calls that run have it to their ends, and the next ones say so."""
    said, begun = [], threading.Barrier(4)

    def work():
        begun.wait(60)
        try:
            while True:
                assert function([torch.ones(3)])[0].tolist() == [1, 1, 1]
        except tilewright.Error as error:
            said.append(error.code)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    begun.wait(60)
    function.end()
    for thread in threads:
        thread.join(60)
    assert said == ["TW-PYTHON-0003"] * 3


def test_first_calls_of_threads():
    """Which compile, each of them one of two functions of which nothing has been compiled before."""
    nets = [mlp().requires_grad_(False) for _ in range(2)]
    compiled, begin, wrong = [torch.compile(net, backend=backend) for net in nets], threading.Barrier(6), []

    def work(number):
        x = torch.randn(4 + number, 16)
        begin.wait(60)
        try:
            torch.testing.assert_close(compiled[number % 2](x), nets[number % 2](x))
        except Exception as error:  # a thread's own are told by nobody
            wrong.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


# Threads that all name a backend as the first in the process.
NAMED_BY_THREADS = """
import threading, torch
{before}
start, said = threading.Barrier(6), []

def run(number):
    start.wait(60)
    try:
        compiled = torch.compile(lambda x: x * number + 1, backend={backend})
        said.append(compiled(torch.ones(3))[0] == number + 1)
    except AssertionError as error:
        said.append(str(error))

threads = [threading.Thread(target=run, args=(number,)) for number in range(6)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(*sorted({{str(each) for each in said}}))
"""


@pytest.mark.parametrize(("before", "backend"), [
    ("import tilewright.torch", "tilewright.torch.backend"),
    ('torch._dynamo.lookup_backend("tilewright")', '"tilewright"')], ids=["function", "looked up"])
def test_threads_that_use_the_backend_first(run_python, before, backend):
    """The ways around what torch does (below), as docs/python.md has them."""
    assert run_python(NAMED_BY_THREADS.format(before=before, backend=backend)) == "tensor(True)\n"


def test_threads_that_name_a_backend_of_another_package_first(run_python, tmp_path, monkeypatch):
    """torch registers what an entry point names behind an import that other threads wait for, and then register it
    again. Where this passes no longer, the ways around it can leave docs/python.md."""
    (tmp_path / "other.py").write_text("import time\ntime.sleep(1)\ndef backend(module, _):\n    return module.forward\n")
    facts = tmp_path / "other-1.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: other\nVersion: 1\n")
    (facts / "entry_points.txt").write_text("[torch_dynamo_backends]\nother = other:backend\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    assert "duplicate name: other" in run_python(NAMED_BY_THREADS.format(before="", backend='"other"'))


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


def test_leaks_are_seen(run_with_torch):
    """And the status that a program ends with."""
    with pytest.raises(AssertionError, match="nanobind: leaked 1 instances"):
        run_with_torch("""
            import ctypes, tilewright.kernel as tk

            ctypes.pythonapi.Py_IncRef(ctypes.py_object(tk.symbol("N")))
        """)
    with pytest.raises(AssertionError, match="ZeroDivisionError"):
        run_with_torch("1 / 0")


def test_no_leaks(run_with_torch):
    """Nothing is left at the interpreter's end of what was compiled for functions and tensors of __main__."""
    assert run_with_torch("""
        import torch

        f = torch.compile(lambda x: (x * 2).relu(), backend="tilewright")
        x = torch.randn(4, requires_grad=True)
        f(x).sum().backward()
        pieces = torch.compile(lambda x: torch.fft.rfft(x).abs() * 2, backend="tilewright")
        pieces(torch.randn(8))
        print(x.grad is not None)
    """) == "True\n"


@pytest.mark.parametrize("then", ["", "y.sum().backward()", "torch.compile(lambda y: y * 2, backend='tilewright')(y)"])
def test_results_that_outlive_python(run_with_torch, then):
    """torch releases nothing of the graphs of results that are left."""
    run_with_torch(f"""
        import torch

        y = torch.compile(torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Dropout()), backend="tilewright")(torch.randn(2, 3))
        {then}
    """)


def test_backends_that_outlive_python(run_with_torch):
    """torch keeps each backend that was used, and with it all that its module has: here symbols of kernels."""
    run_with_torch("""
        import torch
        import tilewright.kernel as tk
        import tilewright.torch

        M, N = tk.symbols("M N")

        def backend(module, inputs):
            return module.forward

        torch.compile(torch.nn.ReLU(), backend=backend)(torch.ones(2))
    """)


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_other_backends_keep_nothing_of_ours(run_with_torch, backend):
    """A function of __main__ that another backend compiled, beside kernels and programs of __main__."""
    run_with_torch(f"""
        import torch
        import tilewright
        import tilewright.kernel as tk

        M, N = tk.symbols("M N")
        program = tilewright.compile(torch.nn.ReLU(), (torch.ones(2),))

        def f(x):
            return program, x + 1

        torch.compile(lambda x: x + 1, backend="{backend}")(torch.ones(2))
        torch.compile(lambda x: f(x)[1], backend="{backend}")(torch.ones(2))

        class Layers(torch.nn.Sequential):  # a class of __main__, by which functions of torch have cached something
            def forward(self, x):
                for layer in self:
                    x = layer(x)
                return x

        torch.compile(Layers(torch.nn.ReLU()), backend="{backend}")(torch.ones(2))
    """)


OPERATOR = """
    import torch
    import tilewright.kernel as tk

    M, N = tk.symbols("M N")

    @tk.kernel
    def double(x: tk.In[tk.f32, M, N], y: tk.Out[tk.f32, M, N]):
        m, = tk.grid(M)
        tk.store(y, [m, 0], tk.load(x, [m, 0], [1, N]) * 2)

    @torch.library.custom_op("{name}", mutates_args=())
    def op(x: torch.Tensor) -> torch.Tensor:
        return double(x)

    op.register_autograd(lambda context, gradient: gradient * 2)
    op(torch.ones(2, 3, requires_grad=True)).sum().backward()
"""


def test_custom_operators_keep_nothing_of_ours(run_with_torch, tmp_path):
    """torch keeps the functions of its custom operators, and with them all that their modules have."""
    run_with_torch(OPERATOR.format(name="tilewright_end_test::of_main"))
    (tmp_path / "a_module_of_operators.py").write_text(textwrap.dedent(OPERATOR.format(name="tilewright_end_test::of_module")))
    run_with_torch(f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import a_module_of_operators")


def test_custom_operators_keep_no_closure_of_ours(run_with_torch):
    """... and with them the variables of the functions around them."""
    body = textwrap.indent(textwrap.dedent(OPERATOR.format(name="tilewright_end_test::of_function")), "    ")
    run_with_torch(f"""
import torch
import tilewright

def make():
{body}
    module = torch.nn.ReLU()
    program = tilewright.compile(module, (torch.ones(2),))
    later: int
    library = torch.library.Library("tilewright_end_test", "FRAGMENT")
    library.define("relu(Tensor x) -> Tensor")
    library.impl("relu", lambda x: program(x) if x.dim() else later, "CPU")
    return library

library = make()
torch.ops.tilewright_end_test.relu(torch.ones(2))
""")


@pytest.mark.parametrize("holder", ["{'kernels': [double]}", "Layer(double)", "Module(double)"])
def test_custom_operators_keep_nothing_that_holds_ours(run_with_torch, holder):
    """Containers, and objects of the user's classes."""
    run_with_torch(f"""
        import torch
        import tilewright.kernel as tk

        class Layer:
            def __init__(self, kernel):
                self.kernel = kernel

        class Module(torch.nn.Module):
            def __init__(self, kernel):
                super().__init__()
                self.kernels = [kernel]

        def make():
            M, N = tk.symbols("M N")

            @tk.kernel
            def double(x: tk.In[tk.f32, M, N], y: tk.Out[tk.f32, M, N]):
                m, = tk.grid(M)
                tk.store(y, [m, 0], tk.load(x, [m, 0], [1, N]) * 2)

            held = {holder}

            @torch.library.custom_op("tilewright_end_test::holds", mutates_args=())
            def op(x: torch.Tensor) -> torch.Tensor:
                kernel = held["kernels"][0] if type(held) is dict else held.kernel if type(held) is Layer else held.kernels[0]
                return kernel(x)

            return op

        assert make()(torch.ones(2, 3)).sum() == 12
    """)


@pytest.mark.parametrize("kept", ["kept = error", "raise"])
def test_errors_of_explain_that_outlive_python(run_with_torch, kept):
    """Their tracebacks have results of which torch releases nothing, and nothing of ours is in what those keep."""
    run_with_torch(f"""
        import sys, torch, tilewright, tilewright.torch

        class Pick(torch.autograd.Function):
            @staticmethod
            def forward(context, x, places):
                context.save_for_backward(places)
                return x * 2

            @staticmethod
            def backward(context, gradient):
                return gradient[context.saved_tensors[0]], None

        net, places = torch.nn.Linear(4, 4), torch.tensor([0, 9])
        sys.excepthook = lambda *_: sys.exit(0)  # the status of an error is 1
        try:
            tilewright.torch.explain(lambda x: Pick.apply(net(x), places), torch.randn(2, 4))
        except tilewright.InputError as error:
            assert "index 9 is out of range" in str(error)
            {kept}
        else:
            assert False, "nothing has failed"
    """)
