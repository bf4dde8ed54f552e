# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels as operators of torch: eager, exported, compiled, trained."""
import itertools
from pathlib import Path

import pytest
import torch

import tilewright
import tilewright.kernel as tk
import tilewright.torch

M, N, K = tk.symbols("M N K")
T = tk.dtype("T", tk.f32 | tk.bf16)
close = torch.testing.assert_close
serial = itertools.count()
pytestmark = pytest.mark.usefixtures("fresh")


@tk.kernel
def softmax(x: tk.In[T, M, N], y: tk.Out[T, M, N], scale: tk.f64, *, BM=1):
    m, = tk.grid(tk.cdiv(M, BM))
    row = tk.cast(tk.load(x, [m * BM, 0], [BM, N]), tk.f32) * scale
    e = tk.exp(row - tk.max(row, 1))
    tk.store(y, [m * BM, 0], tk.cast(e / tk.sum(e, 1), T))


def softmax_backward(saved, gradient):
    y, scale = saved.outputs[0], saved.inputs[1]
    return y * (gradient - (gradient * y).sum(1, keepdim=True)) * scale, None


def name():
    """Operators live as long as the process."""
    return f"tilewright_kernels::op{next(serial)}"


@pytest.fixture(scope="module")
def op():
    return softmax.register(name(), backward=softmax_backward, BM=4)


def eager(x, scale):
    return torch.softmax(x * scale, 1)


def test_eager(op):
    for x in (torch.randn(5, 7), torch.randn(7, 5).t(), torch.randn(0, 3), torch.randn(3, 4).bfloat16()):
        close(op(x, 2.0), eager(x.float(), 2.0).to(x.dtype))
    x = torch.randn(5, 7, requires_grad=True)
    y = op(x, 2)
    gradient = torch.randn(5, 7)
    got, = torch.autograd.grad(y, x, gradient)
    expected, = torch.autograd.grad(eager(x, 2), x, gradient)
    close(got, expected)


def test_opcheck(op):
    for dtype in (torch.float32, torch.bfloat16):
        torch.library.opcheck(op.default, (torch.randn(5, 7, dtype=dtype), 0.5))
    torch.library.opcheck(op.default, (torch.randn(5, 7, requires_grad=True), 0.5))


def test_sizes_of_results():
    @tk.kernel
    def pairs(x: tk.In[tk.f32, M, 2 * N], K: K, y: tk.Out[tk.f32, K, M * (N + 1)], z: tk.Out[tk.i64, tk.cdiv(N, 2), N % 3],  # noqa: F821
              flag: tk.i1):
        tk.grid(1)
        tk.store(y, [0, 0], tk.full([K, M * (N + 1)], tk.select(flag, 1.0, 2.0), tk.f32))
        tk.store(z, [0, 0], tk.zeros([tk.cdiv(N, 2), N % 3], tk.i64))

    op = pairs.register(name())
    assert str(op.default._schema).endswith("(Tensor x, SymInt K, bool flag) -> (Tensor, Tensor)")
    x = torch.randn(3, 10)
    y, z = op(x, 4, False)
    assert y.shape == (4, 18) and (y == 2).all() and z.shape == (3, 2) and z.dtype is torch.int64
    torch.library.opcheck(op.default, (x, 4, True))
    with torch._subclasses.FakeTensorMode() as mode:
        fake = mode.from_tensor(x)
        assert [tuple(each.shape) for each in op(fake, 4, True)] == [(4, 18), (3, 2)]
        with pytest.raises(RuntimeError, match="argument x dimension 1 is 9, but must be N \\* 2 = 8"):
            op(mode.from_tensor(torch.randn(3, 9)), 4, True)
        with pytest.raises(RuntimeError, match="argument x has 1 dimension, but 2 are declared"):
            op(mode.from_tensor(torch.randn(9)), 4, True)


def test_ranges():
    R = tk.symbol("R", min=2, max=8, multiple=2)

    @tk.kernel
    def double(x: tk.In[tk.f32, R], y: tk.Out[tk.f32, R]):
        tk.grid(1)
        tk.store(y, [0], tk.load(x, [0], [R]) * 2)

    op = double.register(name())
    close(op(torch.ones(6)), torch.full((6,), 2.0))
    with torch._subclasses.FakeTensorMode() as mode:
        for size in (1, 3, 10):
            with pytest.raises(RuntimeError, match=f"symbol R is {size}, but must be from 2 to 8 and a multiple of 2"):
                op(mode.from_tensor(torch.ones(size)))


def test_in_an_exported_model(op):
    class Head(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = torch.nn.Linear(20, 16)

        def forward(self, x):
            return op(self.linear(x), 1) * 2.0

    module = Head().eval()
    rows = torch.export.Dim("rows", max=1000)
    program = tilewright.compile(module, (torch.randn(3, 20),), dynamic_shapes=({0: rows},))
    for n in (3, 8, 1):
        x = torch.randn(n, 20)
        close(program(x), torch.softmax(module.linear(x), 1) * 2)
    said = str(program.report)
    assert "calls the kernel" in said and "fused into its producer" in said
    assert len(program.report.dispatches) == 2


def test_in_torch_compile(op):
    linear = torch.nn.Linear(20, 16)

    def f(x):
        return (op(linear(x), 1.5) * x.sum()).sum(0)

    def expected(x):
        return (eager(linear(x), 1.5) * x.sum()).sum(0)

    found = tilewright.torch.explain(f, torch.randn(3, 20, requires_grad=True))
    assert not found.eager and len(found.graphs) == 2, found
    fast = torch.compile(f, backend="tilewright")
    for n in (3, 5, 9):
        x = torch.randn(n, 20, requires_grad=True)
        close(fast(x), expected(x))
        parameters = (x, linear.weight, linear.bias)
        for got, want in zip(torch.autograd.grad(fast(x).sum(), parameters),
                             torch.autograd.grad(expected(x).sum(), parameters)):
            close(got, want, rtol=1e-4, atol=1e-5)


def test_two_dtypes_in_one_graph(op):
    def f(x):
        return op(x, 1.0) + op(x.bfloat16(), 1.0).float()

    x = torch.randn(4, 8)
    fast = torch.compile(f, backend="tilewright", fullgraph=True)
    close(fast(x), eager(x, 1.0) + eager(x.bfloat16().float(), 1.0).bfloat16().float(), rtol=1e-2, atol=1e-2)
    assert not tilewright.torch.explain(f, x).eager


def test_in_place():
    @tk.kernel
    def add(x: tk.InOut[tk.f32, M, N], y: tk.In[tk.f32, N], scale: tk.f64):
        m, = tk.grid(M)
        tk.store(x, [m, 0], tk.load(x, [m, 0], [1, N]) + scale * tk.load(y, [0], [N]))

    op = add.register(name())
    assert "Tensor(a!) x" in str(op.default._schema)
    negated = torch.randn(3, 5, dtype=torch.complex64).conj().imag
    for x in (torch.randn(3, 5), torch.randn(5, 3).t(), negated, torch.randn(1, 1, dtype=torch.complex64).conj().imag):
        for y in (torch.randn(x.shape[1]), torch.randn(x.shape[1], dtype=torch.complex64).conj().imag):
            expected = x + 2 * y
            assert op(x, y, 2.0) is None
            close(x, expected)
    assert negated.is_neg()
    torch.library.opcheck(op.default, (torch.randn(3, 5), torch.ones(5), 2.0))

    def f(x, y):
        x = x * 2
        op(x, y, 3.0)
        return x + 1

    x, y = torch.randn(3, 5), torch.randn(5)
    close(torch.compile(f, backend="tilewright")(x, y), 2 * x + 3 * y + 1)


def test_a_model_is_trained():
    @tk.kernel
    def relu(x: tk.In[tk.f32, M, N], y: tk.Out[tk.f32, M, N]):
        m, = tk.grid(M)
        tk.store(y, [m, 0], tk.relu(tk.load(x, [m, 0], [1, N])))

    op = relu.register(name(), backward=lambda saved, gradient: gradient * (saved.inputs[0] > 0))
    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.Linear(16, 1))
    x = torch.randn(64, 4)
    goal = x.abs().sum(1, keepdim=True)
    step = torch.compile(lambda x: model[1](op(model[0](x))), backend="tilewright")
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    losses = []
    for _ in range(150):
        loss = torch.nn.functional.mse_loss(step(x), goal)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.1 * losses[0]


def test_refusals(refusal):
    @tk.kernel
    def plain(x: tk.In[tk.f32, N], y: tk.Out[tk.f32, N]):
        tk.grid(1)
        tk.store(y, [0], tk.load(x, [0], [N]))

    @tk.kernel
    def in_place(x: tk.InOut[tk.f32, N]):
        tk.grid(1)
        tk.store(x, [0], tk.load(x, [0], [N]))

    @tk.kernel
    def wrong(x: tk.In[tk.f32, N], y: tk.Out[tk.f32, N]):
        tk.grid(1)

    @tk.kernel
    def half(x: tk.In[tk.f32, N], s: tk.f32, y: tk.Out[tk.f32, N]):
        tk.grid(1)

    with refusal("TW-PYTHON-0005", "the operators of aten are PyTorch's own", 'register("mylib::softmax")'):
        plain.register("aten::softmax")
    with refusal("TW-PYTHON-0005", '"softmax" is no name of an operator', 'register("mylib::softmax")'):
        plain.register("softmax")
    for odd in ("é::ß", "tilewright_kernels::ß", "softmax::", "a::b::c"):
        with refusal("TW-PYTHON-0005", f'"{odd}" is no name of an operator', "torch has ASCII letters, digits and _ in names"):
            plain.register(odd)
    with refusal("TW-PYTHON-0005", r"the name of an operator is 'a::\ud800'"):
        plain.register("a::\ud800")
    for taken in ("tilewright_kernels::__init__", "tilewright_kernels::name", "loaded_libraries::f", "load_library::f"):
        with refusal("TW-PYTHON-0005", f"torch.ops.{taken.replace('::', '.')} cannot be an operator: torch has something else "
                     "there", "give another name"):
            plain.register(taken)
    for keyword in ("tilewright_kernels::class", "def::f"):
        with refusal("TW-PYTHON-0005", f"torch refuses the operator {keyword}(Tensor x) -> Tensor: expected ident"):
            plain.register(keyword)
    with refusal("TW-PYTHON-0005", "it has no parameter BM", "it has none"):
        plain.register(name(), BM=3)
    with refusal("TW-PYTHON-0005", "it writes to an argument"):
        in_place.register(name(), backward=lambda saved: None)
    with refusal("TW-PYTHON-0005", "argument s is", "numbers are tk.f64, tk.i64 or tk.i1"):
        half.register(name())
    with pytest.raises(tk.KernelError, match="nothing is ever stored to output y"):
        wrong.register(name())
    given = name()
    op = plain.register(given)
    with refusal("TW-PYTHON-0005", f"torch refuses the operator {given}"):
        plain.register(given)
    with refusal("TW-PYTHON-0005", "has no gradients", f'kernel.register("{given}", backward=...)'):
        op(torch.ones(3, requires_grad=True)).sum().backward()


@pytest.mark.parametrize(("gives", "said"), [
    (lambda saved, gradient: (gradient, gradient), "gives 2 gradients, but it has 1 argument"),
    (lambda saved, gradient: [], "gives 0 gradients, but it has 1 argument"),
    (lambda saved, gradient: "a", "gives 'a' for x, which is no tensor")])
def test_backwards_that_give_no_gradients(gives, said, refusal):
    @tk.kernel
    def plain(x: tk.In[tk.f32, N], y: tk.Out[tk.f32, N]):
        tk.grid(1)
        tk.store(y, [0], tk.load(x, [0], [N]))

    op = plain.register(name(), backward=gives)
    with refusal("TW-PYTHON-0005", said, "return one for each argument of plain"):
        op(torch.ones(3, requires_grad=True)).sum().backward()


def test_no_leaks(run_with_torch):
    folder = Path(__file__).parents[3] / "examples" / "kernels"
    assert run_with_torch(f"""
        import torch, tilewright, sys
        sys.path.insert(0, {str(folder)!r})
        from softmax import softmax
        op = softmax.register("tilewright_kernels::left", backward=lambda saved, gradient: gradient)
        x = torch.ones(2, 3, requires_grad=True)
        op(x).sum().backward()
        torch.compile(lambda x: op(x) + 1, backend="tilewright")(x)
        print("done")
    """) == "done\n"
