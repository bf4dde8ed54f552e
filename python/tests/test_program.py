# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""tilewright.compile, load and Program: what is given, what comes back, what is said of it."""
import copy
import ctypes
import json
import os
import pickle
import shutil
import subprocess
import threading
import time
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.export import Dim

import tilewright


def close(a, b, tolerance=1e-5):
    torch.testing.assert_close(torch.as_tensor(a), torch.as_tensor(b), rtol=tolerance, atol=tolerance)


# Importing


def test_import_loads_neither_torch_nor_llvm(run_python):
    out = run_python("""
        import sys, tilewright
        maps = open("/proc/self/maps").read()
        print([m for m in ("torch", "numpy", "json", "typing") if m in sys.modules], "LLVM" in maps, "tilewright-compiler" in maps)
    """)
    assert out == "[] False False\n"


def test_import_is_fast(run_python):
    for module in ("tilewright", "tilewright.kernel"):
        out = run_python(f"""
            import time; begin = time.perf_counter(); import {module}; print(time.perf_counter() - begin)
        """)
        assert float(out) < 0.25  # 50 ms on a machine with nothing else to do


# Kinds of arrays


def test_torch_in_torch_out(mlp):
    module, program = mlp
    x = torch.randn(4, 16)
    y = program(x)
    assert type(y) is torch.Tensor and not y.requires_grad
    close(y, module(x).detach())
    close(program(input=x), y)
    close(program(torch.nn.Parameter(x)), y)


def test_numpy_in_numpy_out(mlp):
    module, program = mlp
    x = np.random.randn(4, 16).astype(np.float32)
    y = program(x)
    assert type(y) is np.ndarray and y.dtype == np.float32 and y.flags.writeable
    close(y, module(torch.from_numpy(x)).detach())
    x.flags.writeable = False  # it is only read
    close(program(x), y)


class Exporter:
    """Somebody else's tensor, which has nothing but DLPack."""

    def __init__(self, array, device=(1, 0)):
        self.array, self.device = array, device

    def __dlpack__(self, **_):
        return self.array.__dlpack__()

    def __dlpack_device__(self):
        return self.device


def test_dlpack_in(mlp):
    _, program = mlp
    x = torch.randn(4, 16)
    close(program(Exporter(x)), program(x))
    close(program(Exporter(x.numpy())), program(x))
    assert type(program(Exporter(x))) is np.ndarray


@pytest.mark.parametrize("make", [lambda x: x.t().contiguous().t(), lambda x: x.repeat(1, 2)[:, ::2],
                                  lambda x: torch.cat([x, x])[1:5], lambda x: x[:1].expand(4, 16),
                                  lambda x: torch.cat([torch.zeros(1), x.flatten()])[1:].view(4, 16)])
def test_strided_and_unaligned_inputs(mlp, make):
    module, program = mlp
    x = make(torch.randn(4, 16))
    close(program(x), module(x).detach())
    close(program(x.numpy()), module(x).detach())


def test_results_do_not_share_memory(mlp):
    _, program = mlp
    a, b = torch.randn(4, 16), torch.randn(4, 16)
    first = program(a)
    kept = first.clone()
    program(b)
    assert torch.equal(first, kept)


def test_aligned_memory_is_not_copied():
    program = tilewright.compile(torch.nn.ReLU(), (torch.randn(1 << 16),), threads=1)
    x = torch.randn(1 << 16)
    program(x)
    assert program._memory()[2] < x.nbytes  # neither a copy of the input, nor an output of its own


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.int8, torch.int16,
                                   torch.int32, torch.int64, torch.uint8, torch.bool])
def test_dtypes(dtype):
    class Flip(torch.nn.Module):
        def forward(self, x):
            return x.flip(0), x.t()

    x = torch.arange(6).reshape(2, 3).to(dtype)
    program = tilewright.compile(Flip(), (x,))
    flipped, turned = program(x)
    assert flipped.dtype == dtype and torch.equal(flipped, x.flip(0)) and torch.equal(turned, x.t())
    if dtype is not torch.bfloat16:
        array = program(x.numpy())[0]
        assert array.dtype == x.numpy().dtype and np.array_equal(array, x.flip(0).numpy())


def test_numpy_has_no_bf16(refusal):
    program = tilewright.compile(torch.nn.ReLU(), (torch.ones(3, dtype=torch.bfloat16),))
    try:
        import ml_dtypes
    except ImportError:
        with refusal("TW-PYTHON-0008", "bf16", "ml_dtypes", kind=NotImplementedError):
            program(Exporter(torch.ones(3, dtype=torch.bfloat16)))
    else:
        assert program(Exporter(torch.ones(3, dtype=torch.bfloat16))).dtype == ml_dtypes.bfloat16


def test_scalars_and_several_outputs():
    class Scale(torch.nn.Module):
        def forward(self, x, n):
            return x * n, n * 2, x.shape[0]

    program = tilewright.compile(Scale(), (torch.ones(3), 4), dynamic_shapes={"x": {0: Dim.DYNAMIC}, "n": Dim.DYNAMIC})
    y, twice, rows = program(torch.ones(5), 7)
    assert torch.equal(y, torch.full((5,), 7.0)) and twice == 14 and rows == 5 and type(twice) is int
    assert program(torch.ones(2), np.int64(3))[1] == 6


def test_none_and_texts_are_results(tmp_path):
    """They have their places among the others, in memory and in a file."""
    class Many(torch.nn.Module):
        def forward(self, x):
            return None, x + 1, "fine", {"k": None, "n": 7}, [2.5, True]

    x = torch.ones(2)
    program = tilewright.compile(Many(), (x,))
    program.save(tmp_path / "many.so")
    for each in program, tilewright.load(tmp_path / "many.so", library="torch"):
        results = each(x)
        assert torch.equal(results[1], x + 1) and results[:1] + results[2:] == (None, "fine", None, 7, 2.5, True)
        assert [type(result) for result in results[3:]] == [type(None), int, float, bool]
        assert [value.kind for value in each.outputs] == ["None", "tensor", "str", "None", "int", "float", "bool"]
        assert [value.value for value in each.outputs][:3] == [None, None, "fine"]
        assert "output_0: None, output_1: f32[2], output_2: 'fine'" in repr(each)
    memory = torch.empty(2)
    assert program(x, output_1=memory)[1] is memory and torch.equal(memory, x + 1)


@pytest.mark.parametrize("value", [None, "text", 5])
def test_a_result_that_needs_no_inputs(value):
    class Fixed(torch.nn.Module):
        def forward(self, x):
            return value

    assert tilewright.compile(Fixed(), (torch.ones(2),))(torch.ones(2)) == value


def test_results_that_programs_cannot_give(refusal):
    class Gives(torch.nn.Module):
        def __init__(self, value):
            super().__init__()
            self.value = value

        def forward(self, x):
            return x + 1, self.value

    with refusal("TW-IMPORT-0016", "the text output_1 has a zero in it"):
        tilewright.compile(Gives("a\0b"), (torch.ones(2),))
    with refusal("TW-PYTHON-0007", "Gives has an integer beyond 64 bits in it"):
        tilewright.compile(Gives(2**70), (torch.ones(2),))


# Sizes


def test_dynamic_sizes(refusal):
    class Model(torch.nn.Module):
        def forward(self, x, y):
            return torch.cat([x, y]) @ y.t()

    rows = Dim("rows", min=1, max=64)
    program = tilewright.compile(Model(), (torch.randn(3, 8), torch.randn(5, 8)),
                                 dynamic_shapes={"x": {0: rows}, "y": {0: Dim.DYNAMIC}})
    for m, n in ((3, 5), (1, 2), (64, 7), (2, 1)):
        x, y = torch.randn(m, 8), torch.randn(n, 8)
        close(program(x, y), torch.cat([x, y]) @ y.t(), 1e-4)
    assert any(most == 64 for _, most in program.symbols.values())
    assert isinstance(program.inputs[0].sizes[0], str) and program.inputs[0].sizes[1] == 8
    with refusal("TW-RUNTIME-0012", "65", "64"):
        program(torch.randn(65, 8), torch.randn(5, 8))
    with refusal("TW-RUNTIME-0011", "9", "8"):
        program(torch.randn(3, 9), torch.randn(5, 8))


def test_heads_that_cannot_be_shared(refusal):
    class Attention(torch.nn.Module):
        def forward(self, q, k):
            return torch.nn.functional.scaled_dot_product_attention(q, k, k, enable_gqa=True)

    open_heads = {1: Dim.DYNAMIC}
    program = tilewright.compile(Attention(), (torch.randn(2, 6, 5, 8), torch.randn(2, 3, 5, 8)),
                                 dynamic_shapes=(open_heads, open_heads))
    q, k = torch.randn(2, 8, 5, 8), torch.randn(2, 4, 5, 8)
    torch.testing.assert_close(program(q, k), Attention()(q, k))
    with refusal("TW-RUNTIME-0013", "the heads of the query are not a multiple of the key's: 6 of 7 can be shared"):
        program(torch.randn(2, 7, 5, 8), torch.randn(2, 3, 5, 8))


def test_empty_tensors():
    program = tilewright.compile(torch.nn.ReLU(), (torch.randn(4, 3),), dynamic_shapes={"input": {0: Dim.DYNAMIC}})
    assert program(torch.randn(0, 3)).shape == (0, 3)
    assert program(np.zeros((0, 3), np.float32)).shape == (0, 3)


# Refusals


def test_calls_that_do_not_fit(mlp, refusal):
    _, program = mlp
    x = torch.randn(4, 16)
    with refusal("TW-PYTHON-0003", "2 were given", "f32[4, 16]", kind=ValueError):
        program(x, x)
    with refusal("TW-PYTHON-0003", '"input" is missing'):
        program()
    with refusal("TW-PYTHON-0003", 'no input "y"'):
        program(x, y=x)
    with refusal("TW-PYTHON-0003", "given twice"):
        program(x, input=x)
    with refusal("TW-RUNTIME-0010", "f64", "f32"):
        program(x.double())
    with refusal("TW-RUNTIME-0011", "[4, 15]"):
        program(torch.randn(4, 15))
    with refusal("TW-RUNTIME-0011"):
        program(torch.randn(64))


@pytest.mark.parametrize("make, code, words", [
    (lambda x: 3.0, "TW-PYTHON-0001", "is a float"),
    (lambda x: None, "TW-PYTHON-0001", "NoneType"),
    (lambda x: x.tolist(), "TW-PYTHON-0001", "is a list"),
    (lambda x: x.to_sparse(), "TW-PYTHON-0001", "sparse"),
    (lambda x: torch.nested.nested_tensor([x]), "TW-PYTHON-0001", "is nested"),
    (lambda x: torch.quantize_per_tensor(x, 0.1, 0, torch.qint8), "TW-PYTHON-0001", "quantized"),
    (lambda x: np.zeros((4, 16), "M8[s]"), "TW-PYTHON-0001", "cannot be exported"),
    (lambda x: Exporter(x, None), "TW-PYTHON-0001", "__dlpack_device__ gives None"),
    (lambda x: x.to("meta"), "TW-PYTHON-0002", "meta"),
    (lambda x: torch.complex(x, x), "TW-PYTHON-0001", "complex64"),
    (lambda x: torch.complex(x, x).conj(), "TW-PYTHON-0001", ""),
    (lambda x: x.as_subclass(type("Sub", (torch.Tensor,), {})), "TW-PYTHON-0001", "subclass"),
    (lambda x: x.numpy().astype(">f4"), "TW-PYTHON-0001", "byte order"),
    (lambda x: x.numpy().astype("S4"), "TW-PYTHON-0001", ""),
    (lambda x: np.ma.masked_array(x.numpy(), mask=x.numpy() > 0), "TW-PYTHON-0001", "has a mask"),
    (lambda x: torch.ones(1).expand(2**40, 16), "TW-PYTHON-0001", "cannot be copied"),
    (lambda x: np.array([object()]), "TW-PYTHON-0001", ""),
    (lambda x: Exporter(x, (2, 0)), "TW-PYTHON-0002", "(2, 0)"),
    (lambda x: Exporter(x.t().contiguous().t()), "TW-PYTHON-0001", "not contiguous"),
])
def test_what_is_no_tensor(mlp, refusal, make, code, words):
    with refusal(code, words, '"input"', "f32[4, 16]"):
        mlp[1](make(torch.randn(4, 16)))


def test_negated_tensors(mlp):
    _, program = mlp
    z = torch.randn(4, 16, dtype=torch.complex64)
    negated = z.conj().imag
    assert negated.is_neg()
    close(program(negated), program(negated.clone()))
    one = tilewright.compile(torch.nn.ReLU(), (torch.randn(1),))
    minus = torch.complex(torch.ones(1), -torch.ones(1)).conj().imag
    assert minus.is_neg() and one(minus).item() == minus.clamp(min=0).item() == 1.0


class Counter(torch.nn.Module):
    """Writes to its input, and counts."""

    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(3))

    def forward(self, x, cache):
        self.count.add_(x)
        cache.add_(1)
        return x + self.count


def test_mutation_and_state(refusal):
    program = tilewright.compile(Counter(), (torch.ones(3), torch.zeros(3)))
    assert [value.mutated for value in program.inputs] == [False, True]
    cache = torch.zeros(3)
    program(torch.ones(3), cache)
    y = program(torch.ones(3), cache)
    assert torch.equal(y, torch.full((3,), 3.0)) and torch.equal(cache, torch.full((3,), 2.0))
    assert list(program.state) == ["count"] and "count" in program.state and len(program.state) == 1
    assert torch.equal(program.state["count"], torch.full((3,), 2.0))
    program.state["count"] = np.array([5, 6, 7], np.float32)
    assert program(torch.zeros(3), cache).tolist() == [5, 6, 7]
    program.state.reset("count")
    assert program.state["count"].tolist() == [0, 0, 0]
    with refusal("TW-RUNTIME-0015", "count", "none"):
        program.state["none"]
    with refusal("TW-RUNTIME-0015"):
        program.state.reset("none")
    with refusal("TW-RUNTIME-0014", "f32[3]", "f32[4]"):
        program.state["count"] = torch.zeros(4)
    with refusal("TW-RUNTIME-0014", "f64"):
        program.state["count"] = torch.zeros(3, dtype=torch.float64)


def test_memory_that_cannot_be_written(refusal):
    program = tilewright.compile(Counter(), (torch.ones(3), torch.zeros(3)))
    x = torch.ones(3)
    locked = np.zeros(3, np.float32)
    locked.flags.writeable = False
    with refusal("TW-PYTHON-0004", "cache", "read-only"):
        program(x, locked)
    for cache in (torch.zeros(6)[::2], torch.zeros(1).expand(3), np.zeros(6, np.float32)[::2]):
        with refusal("TW-PYTHON-0004", "cache", "not contiguous"):
            program(x, cache)
    memory = torch.zeros(5)
    with refusal("TW-PYTHON-0004", '"', "overlaps other memory"):
        program(memory[:3], memory[2:])


def test_what_cannot_be_compiled(refusal, tmp_path):
    with refusal("TW-PYTHON-0007", "is no model"):
        tilewright.compile(3, (1,))
    with refusal("TW-PYTHON-0007", "example_inputs"):
        tilewright.compile(torch.nn.ReLU())
    with refusal("TW-PYTHON-0005", "a kernel is a int"):
        tilewright.compile(torch.nn.ReLU(), (torch.ones(1),), kernels=[3])
    with refusal("TW-PYTHON-0005", "give a list"):
        tilewright.compile(torch.nn.ReLU(), (torch.ones(1),), kernels="softmax.cpp")
    with refusal("TW-PYTHON-0005", "threads"):
        tilewright.compile(torch.nn.ReLU(), (torch.ones(1),), threads=-1)
    with refusal("TW-IO-0001", "none.pt2"):
        tilewright.compile(str(tmp_path / "none.pt2"))

    class Branches(torch.nn.Module):
        def forward(self, x):
            return x if x.sum() > 0 else -x

    with refusal("TW-PYTHON-0007", "Branches") as refused:
        tilewright.compile(Branches(), (torch.ones(3),))
    assert refused.error.__cause__ is not None

    class Complex(torch.nn.Module):
        def forward(self, x):
            return torch.fft.fft(x).abs()

    with refusal("TW-LOWER-0001", "_fft", "test_program.py", kind=NotImplementedError) as refused:
        tilewright.compile(Complex(), (torch.ones(4),))
    assert refused.error.help
    with refusal("TW-DRIVER-0002", "gpu"):
        tilewright.compile(torch.nn.ReLU(), (torch.ones(1),), target="gpu")


class Squeeze(torch.nn.Module):
    def forward(self, x):
        return x.squeeze(0) * 2


def test_a_size_that_would_be_squeezed_is_refused(refusal):
    """The exported program has one rank for all sizes, eager PyTorch another one for 1."""
    program = tilewright.compile(Squeeze(), (torch.ones(3, 4),), dynamic_shapes=({0: Dim("b", min=1, max=9)},))
    close(program(torch.ones(2, 4)), torch.full((2, 4), 2.0), 0)
    with refusal("TW-RUNTIME-0013", "of size 1 would be squeezed"):
        program(torch.ones(1, 4))


# Files


def test_save_and_load(mlp, tmp_path, refusal, run_python):
    _, program = mlp
    x = torch.randn(4, 16)
    path = tmp_path / "mlp.so"
    program.save(path)
    loaded = tilewright.load(path, threads=1)
    close(loaded(x), program(x), 0)
    assert [repr(value) for value in loaded.inputs] == ["input: f32[4, 16]"]
    assert sorted(os.listdir(tmp_path)) == ["mlp.so"]
    out = run_python(f"""
        import sys, numpy as np, tilewright
        y = tilewright.load({str(path)!r})(np.ones((4, 16), np.float32))
        print(y.shape, "torch" in sys.modules, "LLVM" in open("/proc/self/maps").read())
    """)
    assert out == "(4, 8) False False\n"
    with refusal("TW-RUNTIME-0001", "none.so"):
        tilewright.load(tmp_path / "none.so")
    damaged = tmp_path / "damaged.so"
    damaged.write_bytes(path.read_bytes()[:3000])
    with pytest.raises(tilewright.InputError):
        tilewright.load(damaged)
    with refusal("TW-PYTHON-0005", "library"):
        tilewright.load(path, library="jax")
    with pytest.raises(OSError):
        program.save(tmp_path / "none" / "mlp.so")


def test_save_loses_no_file(tmp_path, monkeypatch, refusal):
    monkeypatch.chdir(tmp_path)
    model = Path(__file__).parents[2] / "e2e/models/small_mlp/small_mlp.pt2"
    shutil.copyfile(model, "m.pt2")
    program = tilewright.compile("m.pt2")
    os.symlink("m.pt2", "link.pt2")
    for name in ("m.pt2", tmp_path / "link.pt2"):
        with refusal("TW-IO-0018", "compiled from that file"):
            program.save(name)
    assert Path("m.pt2").read_bytes() == model.read_bytes()
    os.symlink("real.so", "link.so")
    Path(".real.so.tilewright").write_bytes(b"left by a process that was killed")
    program.save("link.so")
    assert os.path.islink("link.so") and sorted(os.listdir()) == ["link.pt2", "link.so", "m.pt2", "real.so"]
    x = np.ones((5, 16), np.float32)
    assert np.array_equal(tilewright.load("real.so")(x), program(x))


def test_save_keeps_pairs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model = Path(__file__).parents[2] / "e2e/models/small_mlp/small_mlp.pt2"
    tool = (Path(tilewright.__file__).parent / "lib").resolve().parent / "bin/tilewright"
    if not tool.exists():
        pytest.skip("no command-line tool")
    subprocess.run([tool, "compile", model, "-o", "a.so", "--weights=external"], check=True)
    loaded = tilewright.load("a.so")
    loaded.save("b.so")
    os.unlink("a.so.weights")
    x = np.ones((5, 16), np.float32)
    assert np.array_equal(tilewright.load("b.so")(x), loaded(x))
    assert sorted(os.listdir()) == ["a.so", "b.so", "b.so.weights"]


def test_weights_go_to_no_file(tmp_path, run_python):
    """Transposed and folded weights included: nothing that is written has their bytes in it."""
    out = run_python(f"""
        import os, torch, tilewright
        from torch import nn
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.conv, self.norm, self.head = nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.Linear(8, 4)
            def forward(self, x):
                return self.head(self.norm(self.conv(x)).relu().mean((2, 3)))
        os.environ["TMPDIR"] = {str(tmp_path)!r}
        written = []
        def watch(event, args):
            pass
        net = Net().eval()
        x = torch.randn(2, 3, 8, 8)
        program = tilewright.compile(net, (x,))
        torch.testing.assert_close(program(x), net(x).detach(), rtol=1e-4, atol=1e-5)
        print(os.listdir({str(tmp_path)!r}))
    """)
    assert out == "[]\n"


def test_files_are_models_too(tmp_path):
    module = torch.nn.Linear(4, 2)
    torch.export.save(torch.export.export(module, (torch.ones(3, 4),)), tmp_path / "linear.pt2")
    program = tilewright.compile(tmp_path / "linear.pt2")
    x = np.ones((3, 4), np.float32)
    close(program(x), module(torch.from_numpy(x)).detach())
    assert "linear" in repr(program)


def test_memory_and_files_give_the_same_program(tmp_path):
    """Our JSON says what torch's says."""
    model = torch.nn.TransformerEncoderLayer(16, 2, 32, batch_first=True).eval()
    exported = torch.export.export(model, (torch.randn(2, 5, 16),), dynamic_shapes={"src": {1: Dim("n", max=64)}})
    torch.export.save(exported, tmp_path / "layer.pt2")
    ours, theirs = tilewright.compile(exported), tilewright.compile(tmp_path / "layer.pt2")
    assert ours.report.dispatches == [dict(each, source=each["source"].replace("layer.pt2", "ExportedProgram"))
                                      for each in theirs.report.dispatches]
    assert ours.symbols == theirs.symbols and repr(ours.inputs) == repr(theirs.inputs)
    x = torch.randn(2, 7, 16)
    assert torch.equal(ours(x), torch.as_tensor(theirs(x.numpy())))


# Kernels


TOOL = Path(os.path.realpath(Path(tilewright.__file__).parent / "lib")).parent / "bin" / "tilewright"


@pytest.mark.skipif(not TOOL.exists(), reason="an installed package has neither the tool nor a C++ compiler")
def test_kernels_as_text_and_file(refusal):
    source = Path(__file__).parents[2] / "examples" / "kernels" / "softmax.cpp"

    @torch.library.custom_op("twtest::softmax", mutates_args=())
    def softmax(x: torch.Tensor) -> torch.Tensor:
        return torch.softmax(x, 1)

    softmax.register_fake(torch.empty_like)

    class Head(torch.nn.Module):
        def forward(self, x):
            return torch.ops.twtest.softmax(x * 2)

    x = torch.randn(3, 20)
    with refusal("TW-LOWER-0001", "twtest.softmax", "kernel"):
        tilewright.compile(Head(), (x,))
    program = tilewright.compile(Head(), (x,), kernels=[source])
    close(program(x), torch.softmax(x * 2, 1))
    text = subprocess.run([TOOL, "kernel", "print", source], capture_output=True, text=True, check=True).stdout
    close(tilewright.compile(Head(), (x,), kernels=[text])(x), torch.softmax(x * 2, 1))
    with pytest.raises(tilewright.Error) as error:
        tilewright.compile(Head(), (x,), kernels=["no kernel\n"])
    assert "kernel text 1" in error.value.text


# What is said


def test_descriptions(mlp):
    _, program = mlp
    assert program.inputs[0].dtype == "f32" and program.inputs[0].kind == "tensor"
    assert program.outputs[0].sizes == (4, 8) and program.target == "cpu"
    assert "f32[4, 16]" in repr(program)
    report = program.report
    assert report.dispatches and "kernels" in str(report)
    assert all({"name", "ops", "source", "calls", "target"} <= set(each) for each in report.dispatches)
    for text in (tilewright.Program.__doc__, tilewright.compile.__doc__, tilewright.load.__doc__):
        assert "Errors: TW-" in text
    assert "InputError" in tilewright.State.__doc__


class StackedCaches(torch.nn.Module):
    """Keys and values of several layers are one tensor."""

    def __init__(self):
        super().__init__()
        self.register_buffer("caches", torch.randn(3, 2, 2, 4, 32, 16))

    def forward(self, x, position):
        for layer in range(3):
            self.caches[layer, 0].index_copy_(2, position, x)
            self.caches[layer, 1].index_copy_(2, position, 2 * x)
            x = torch.nn.functional.scaled_dot_product_attention(x, self.caches[layer, 0], self.caches[layer, 1])
        return x, self.caches[1, 0].sum(), self.caches[0][:, 1]


def test_stacked_caches_are_updated_and_read_in_place():
    model = StackedCaches()
    inputs = [(torch.randn(2, 4, 1, 16), torch.tensor([step])) for step in (3, 4, 31)]
    program = tilewright.compile(torch.export.export(copy.deepcopy(model), inputs[0]), threads=2)
    assert "state caches is updated in place" in str(program.report)
    for given in inputs:
        for ours, theirs in zip(program(*given), model(*given)):
            torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(program.state["caches"], model.caches, rtol=1e-4, atol=1e-5)
    assert program._memory()[0] < model.caches.nbytes / 3  # no layer of them is copied


def test_profile(mlp, tmp_path):
    _, program = mlp
    x = torch.randn(4, 16)
    with program.profile() as profile:
        for _ in range(3):
            program(x)
    program(x)  # is not seen
    assert profile.rows and all(row["calls"] == 3 for row in profile.rows)
    assert abs(sum(row["percent"] for row in profile.rows) - 100) < 1e-6
    assert profile.rows[0]["name"] in str(profile)
    profile.save_trace(tmp_path / "trace.json")
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    assert len(events) == 3 * len(profile.rows) and all(event["dur"] >= 0 for event in events)
    (tmp_path / "link").symlink_to("trace.json")
    profile.save_trace(tmp_path / "link")
    assert (tmp_path / "link").is_symlink() and sorted(os.listdir(tmp_path)) == ["link", "trace.json"]
    profile.save_trace(os.devnull)


def test_errors_have_parts(mlp):
    with pytest.raises(tilewright.InputError) as caught:
        mlp[1](torch.randn(4, 15))
    error = caught.value
    assert error.code == "TW-RUNTIME-0011" and error.message in error.text and str(error) == error.text
    assert isinstance(error, ValueError) and isinstance(error, tilewright.Error)
    assert isinstance(error.help, str)


# Threads and processes


def test_threads(mlp):
    module, program = mlp
    xs = [torch.randn(4, 16) for _ in range(8)]
    wrong = []

    def work(x):
        expected = module(x).detach()
        for _ in range(50):
            if not torch.allclose(program(x), expected, atol=1e-5):
                wrong.append(x)

    threads = [threading.Thread(target=work, args=(x,)) for x in xs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_fork(run_python):
    run_python("""
        import os, sys, torch, tilewright
        model = torch.nn.Linear(256, 256)
        x = torch.randn(512, 256)
        program = tilewright.compile(model, (x,), threads=3)
        y = program(x)
        for _ in range(3):
            child = os.fork()
            if child == 0:
                same = all(torch.equal(program(x), y) for _ in range(3))
                del program
                os._exit(0 if same else 1)
            assert os.waitpid(child, 0)[1] == 0
        assert torch.equal(program(x), y)
    """)


def test_compiling_in_the_child_of_a_fork(run_python):
    """Threads that compiled in the parent are not there."""
    run_python("""
        import os, signal, torch, tilewright
        model, x = torch.nn.Linear(3, 4), torch.randn(2, 3)
        tilewright.compile(model, (x,))
        child = os.fork()
        if child == 0:
            signal.alarm(60)  # ends a child that hangs
            os._exit(0 if tilewright.compile(model, (x,))(x).shape == (2, 4) else 1)
        assert os.waitpid(child, 0)[1] == 0
    """)


def test_interrupt_does_not_break_the_program(mlp):
    import signal

    program = tilewright.compile(torch.nn.Linear(1024, 1024), (torch.randn(1024, 1024),), threads=1)
    x = torch.randn(1024, 1024)
    expected = program(x)
    timer = threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT))
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # shells let what runs in the background ignore it
    try:
        with pytest.raises(KeyboardInterrupt):
            timer.start()
            end = time.monotonic() + 60
            while time.monotonic() < end:
                program(x)
    finally:
        signal.signal(signal.SIGINT, before)
    assert torch.equal(program(x), expected)


# Careless use


def test_arrays_without_strides(refusal):
    """Those of ctypes say none."""
    program = tilewright.compile(torch.nn.ReLU(), (torch.randn(2, 3),))
    given = ((ctypes.c_float * 3) * 2)((1, -2, 3), (-4, 5, -6))
    assert program(given).tolist() == [[1, 0, 3], [0, 5, 0]]
    with refusal("TW-RUNTIME-0010", "convert it to f32"):
        program(((ctypes.c_double * 3) * 2)())


@pytest.mark.parametrize("use", [copy.copy, copy.deepcopy, pickle.dumps])
def test_programs_are_neither_copied_nor_pickled(mlp, refusal, use):
    with refusal("TW-PYTHON-0003", "copied or pickled", "program.save(path)", kind=tilewright.InputError):
        use(mlp[1])


def test_a_program_that_was_never_loaded(refusal):
    with refusal("TW-PYTHON-0003", "never loaded", "tilewright.load"):
        tilewright.Program.__new__(tilewright.Program)(torch.randn(4, 16))


@pytest.mark.parametrize("path, words", [(5, "the path is a int"), ("a\0b", "has a zero in it"), ("/tmp/\udcff", "not UTF-8")])
def test_paths_that_are_none(refusal, path, words):
    with refusal("TW-PYTHON-0005", words):
        tilewright.load(path)


def test_a_target_that_is_no_text(refusal):
    with refusal("TW-PYTHON-0005", "target is 5"):
        tilewright.compile(torch.nn.ReLU(), (torch.randn(2, 3),), target=5)


def test_paths_may_be_bytes(mlp, tmp_path):
    mlp[1].save(tmp_path / "mlp.so")
    assert tilewright.load(os.fsencode(tmp_path / "mlp.so")).inputs
