# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arguments of kinds that nobody expects, for every argument of every public function: what is refused is refused with a
code and a text of ours. What Python says of operators (tile + "x") and of what callbacks do stays Python's."""
import inspect
import re
from itertools import chain

import numpy as np
import pytest
import torch

import tilewright
import tilewright.kernel as tk

M, N = tk.symbols("M N")


class NoText:
    def __repr__(self):
        raise ValueError("it has no text")


ODD = [2**63, -2**70, 10**5000, "x", "", "\0", "\ud800", b"y", None, 1.5, float("nan"), 1j, NoText(), [2**70], (), {}, True,
       np.int64(3), torch.ones(2), int]


def refused_well(call):
    """Whether it was refused."""
    try:
        call()
    except tilewright.Error as error:
        assert not isinstance(error, tilewright.InternalError), error.text
        assert error.code and error.message and error.text
        return True
    return False


def traced(body):
    @tk.kernel
    def kernel(x: tk.In[tk.f32, M, N], y: tk.Out[tk.f32, M, N]):
        m, = tk.grid(M)
        t = tk.load(x, [m, 0], [1, 8])
        body(x, y, m, t)
        tk.store(y, [m, 0], t)
    kernel.text()


def fitting(name, x, y, m, t):
    """Arguments for each name of an argument."""
    return {"x": t, "a": t, "b": t, "c": t, "buffer": y if name in ("store", "scatter") else x, "positions": [m, 0],
            "extents": [1, 8], "value": t, "shape": [1, 8], "axis": 1, "dtype": tk.f32, "size": 5, "message": "m",
            "condition": t > 0, "dimension": 0, "name": "n", "values": [1], "offsets": [0, 0], "comparison": "ult"}


def arguments(function):
    if inspect.isfunction(function):
        return list(inspect.signature(function).parameters)
    return re.findall(r"(\w+): ", function.__doc__.splitlines()[0])


OWN_TESTS = {"branch", "dtype", "filled", "grid", "kernel", "symbol", "symbols"}
FUNCTIONS = [name for name in tk.__all__
             if callable(getattr(tk, name)) and not isinstance(getattr(tk, name), type) and name not in OWN_TESTS]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_the_language(name):
    names = arguments(getattr(tk, name))
    assert names
    for argument in names:
        for odd in ODD:
            def body(x, y, m, t):
                given = {each: value for each, value in fitting(name, x, y, m, t).items() if each in names}
                getattr(tk, name)(**{**given, argument: odd})
            refused_well(lambda: traced(body))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_counts_and_names(name):
    function = getattr(tk, name)
    for call in (lambda: function(), lambda: function(*[1] * 9), lambda: function(1, 2, 3, unknown=4)):
        assert refused_well(lambda: traced(lambda x, y, m, t: call())) and refused_well(call)


def declarations(odd):
    return [lambda: tk.symbol(odd), lambda: tk.symbol("S", min=odd), lambda: tk.symbol("S", max=odd),
                        lambda: tk.symbol("S", multiple=odd), lambda: tk.symbols(odd), lambda: tk.dtype(odd, tk.f32),
                        lambda: tk.dtype("T", odd), lambda: tk.kernel(odd), lambda: tk.kernel(name=odd)(plain).text(),
                        lambda: tk.cdiv(M, odd), lambda: tk.cdiv(odd, M), lambda: tk.In[tk.f32, M, tk.filled(odd)],
                        lambda: filled_with(odd)]


def filled_with(odd):
    @tk.kernel
    def kernel(x: tk.In[tk.f32, M], y: tk.Out[tk.f32, M, tk.filled(odd)]):
        tk.grid(M)
    return kernel.text()


def plain(x: tk.In[tk.f32, M, N], y: tk.Out[tk.f32, M, N]):
    m, = tk.grid(M)
    tk.store(y, [m, 0], tk.load(x, [m, 0], [1, 8]))


def carries(first, next_one, *bounds, **options):
    def body(x, y, m, t):
        for _, s in tk.loop(*bounds, a=first(t), **options):
            s.a = next_one(s.a)
    traced(body)


def in_kernels(odd):
    def same(t):
        return t

    return [lambda: traced(lambda x, y, m, t: t.size(odd)), lambda: traced(lambda x, y, m, t: x.size(odd)),
            lambda: traced(lambda x, y, m, t: tk.grid(odd)), lambda: traced(lambda x, y, m, t: tk.when(odd).__enter__()),
            lambda: traced(lambda x, y, m, t: tk.branch(odd, lambda: t, lambda: t)),
            lambda: traced(lambda x, y, m, t: tk.branch(m == 0, lambda: odd, lambda: t)),
            lambda: traced(lambda x, y, m, t: tk.branch(m == 0, lambda: t, lambda: odd)),
            lambda: carries(same, same, odd), lambda: carries(same, same, 0, 4, odd),
            lambda: carries(lambda t: odd, same, 4), lambda: carries(same, lambda t: odd, 4)]


@pytest.mark.parametrize("number", range(len(ODD)))
def test_declarations_and_control(number):
    odd = ODD[number]
    for call in declarations(odd) + in_kernels(odd):
        refused_well(call)
    if not callable(odd):
        assert refused_well(lambda: traced(lambda x, y, m, t: tk.branch(m == 0, odd, lambda: t)))
        assert odd is None or refused_well(lambda: carries(lambda t: t, lambda t: t, 4, combine=odd))
    if type(odd) in (int, list):  # beyond 64 bits
        for operation in (lambda a: a + odd, lambda a: odd * a, lambda a: a < odd, lambda a: a // odd):
            assert type(odd) is list or refused_well(lambda: operation(M))
            assert type(odd) is list or refused_well(lambda: traced(lambda x, y, m, t: operation(m)))


@tk.kernel
def doubled(x: tk.In[tk.f32, M, N], y: tk.Out[tk.f32, M, N], n: tk.i64, *, B=8):
    m, = tk.grid(M)
    tk.store(y, [m, 0], tk.load(x, [m, 0], [1, B]) * 2.0)


class Counts(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("n", torch.zeros(3))

    def forward(self, x, k: int = 2):
        self.n.add_(1)
        return x * k + self.n.sum()


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    program = tilewright.compile(Counts(), (torch.ones(2, 3),))
    path = tmp_path_factory.mktemp("saved") / "counts.so"
    program.save(path)
    return program, path


def calls_of_kernels(odd):
    x = np.ones((2, 8), np.float32)
    yield lambda: doubled(odd, 1)
    yield lambda: doubled(x, odd)
    for name in ("B", "y", "z"):
        yield lambda: doubled(x, 1, **{name: odd})
    for name in ("M", "B", "x"):
        yield lambda: doubled.text(**{name: odd})
    for name in ("as_", "target"):
        yield lambda: doubled.print(**{name: odd})
    for name in ("target", "f64", "rtol", "atol", "B"):
        yield lambda: doubled.check(x, 1, **{name: odd})
    yield lambda: doubled.interpret(x, 1, f64=odd)
    yield lambda: doubled.register(odd)
    if odd is not None and not callable(odd):
        yield lambda: doubled.register("odd::doubled", backward=odd)


def calls_of_programs(odd, program, path):
    def compiled(**options):
        given = {"model": torch.nn.ReLU(), "example_inputs": (torch.ones(2),), **options}
        return tilewright.compile(given.pop("model"), given.pop("example_inputs"), **given)

    names = ["model", "example_inputs", "dynamic_shapes", "target", "kernels", "threads", "device", "precision"]
    if not isinstance(odd, (str, bytes)):  # these name a folder and a file
        names.append("dump_to")
        yield lambda: program.save(odd)
    for name in names:
        yield lambda: compiled(**{name: odd})
    yield lambda: tilewright.load(odd)
    yield lambda: tilewright.Program(odd)
    for name in ("threads", "library", "device"):
        yield lambda: tilewright.load(path, **{name: odd})
        yield lambda: tilewright.Program(path, **{name: odd})
    yield lambda: program.state[odd]
    yield lambda: program.state.reset(odd)
    yield lambda: program.state.__setitem__(odd, torch.ones(3))
    yield lambda: program.state.__setitem__("n", odd)
    yield lambda: program(odd)
    yield lambda: program(torch.ones(2, 3), odd)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("number", range(len(ODD)))
def test_calls(number, saved, capsys):
    for call in chain(calls_of_kernels(ODD[number]), calls_of_programs(ODD[number], *saved)):
        refused_well(call)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("number", range(len(ODD)))
def test_options_of_the_backend(number):
    for name in ("target", "threads", "kernels", "freeze", "precision", "unknown"):
        def compiled():
            torch._dynamo.reset()
            try:
                torch.compile(torch.nn.ReLU(), backend="tilewright", options={name: ODD[number]})(torch.ones(2))
            except torch._dynamo.exc.BackendCompilerFailed as error:
                raise error.inner_exception from None
        refused_well(compiled)


BEYOND = "integers of kernels are from -2**63 to 2**63 - 1"
WORDS = [
    (lambda: tk.symbol("N", min=2**70), "min of a symbol is 1180591620717411303424", BEYOND),
    (lambda: tk.symbol("N", max=10**5000), "max of a symbol is an integer of 16610 bits", BEYOND),
    (lambda: tk.symbol("N", multiple=1.5), "multiple of a symbol is a float", "give an integer"),
    (lambda: tk.symbol(5), "the name of a symbol is 5", "give a text"),
    (lambda: M + 2**63, "9223372036854775808 is no value of a kernel", BEYOND),
    (lambda: tk.cdiv(M, 2**63), "9223372036854775808 is no value of a kernel", BEYOND),
    (lambda: traced(lambda x, y, m, t: tk.sum(t, 2**63)), "9223372036854775808 is no value of a kernel", BEYOND),
    (lambda: traced(lambda x, y, m, t: t.size(2**63)), "axis of size is 9223372036854775808", BEYOND),
    (lambda: traced(lambda x, y, m, t: tk.sum(t, 1, keepdim=2)), "keepdim is 2", "give True or False"),
    (lambda: carries(lambda t: "x", lambda t: t, 4), "a str is no value of a kernel",
     "values are tiles, scalars, indices, sizes and numbers; tensors are arguments of the kernel"),
    (lambda: doubled.text(B=2**63), "B is set to 9223372036854775808", "parameters and symbols are integers from -2**63 to 2**63 - 1"),
]


@pytest.mark.parametrize("number", range(len(WORDS)))
def test_words(number):
    call, message, advice = WORDS[number]
    with pytest.raises(tk.KernelError) as caught:
        call()
    assert (caught.value.code, caught.value.message, caught.value.help) == ("TW-KERNEL-0003", message, advice)
    assert caught.value.file == __file__ and message in caught.value.text


def test_words_of_programs(saved, refusal):
    with refusal("TW-RUNTIME-0015", "the program has no state named 5", "it has: n"):
        saved[0].state[5]
    with refusal("TW-PYTHON-0005", "threads is an integer of 16610 bits"):
        tilewright.load(saved[1], threads=10**5000)
    with refusal("TW-PYTHON-0001", "input \"k\" is an integer of 16610 bits of type int"):
        tilewright.compile(Takes(), (torch.ones(2), 3), dynamic_shapes=(None, torch.export.Dim.DYNAMIC))(torch.ones(2), 10**5000)


class Takes(torch.nn.Module):
    def forward(self, x, k: int):
        return x * k
