# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The arrays that programs take and give: kinds, dtypes, strides, memory, and what is no array."""
import ctypes

import numpy as np
import pytest
import torch
from torch.export import Dim

import tilewright
import tilewright.kernel as tk
from compare import close
from dlpack_memory import BFLOAT, BOOL, COMPLEX, FLOAT, INT, OPAQUE, UINT, OnlyDLPack


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


def test_arrays_without_strides(refusal):
    """Those of ctypes say none."""
    program = tilewright.compile(torch.nn.ReLU(), (torch.randn(2, 3),))
    given = ((ctypes.c_float * 3) * 2)((1, -2, 3), (-4, 5, -6))
    assert program(given).tolist() == [[1, 0, 3], [0, 5, 0]]
    with refusal("TW-RUNTIME-0010", "convert it to f32"):
        program(((ctypes.c_double * 3) * 2)())


def test_bytes():
    class Twice(torch.nn.Module):
        def forward(self, x):
            return x * 2

    program = tilewright.compile(Twice(), (torch.arange(3, dtype=torch.uint8),), dynamic_shapes=({0: Dim.DYNAMIC},))
    assert program(b"abc").tolist() == [194, 196, 198] and program(bytearray(7)).tolist() == [0] * 7
    N = tk.symbol("N")

    @tk.kernel
    def twice(x: tk.In[tk.u8, N], y: tk.Out[tk.u8, N]):
        tk.grid(1)
        tk.store(y, [0], tk.load(x, [0], [N]) * 2)

    assert twice(b"abc").tolist() == twice.interpret(b"abc").tolist() == [194, 196, 198]


def test_tensors_without_memory(mlp, refusal):
    x = torch.randn(4, 16)
    x.untyped_storage().resize_(0)
    M, N = tk.symbols("M N")

    @tk.kernel
    def kernel(x: tk.In[tk.f32, M, N], y: tk.Out[tk.f32, M, N]):
        tk.grid(1)
        tk.store(y, [0, 0], tk.load(x, [0, 0], [M, N]))

    for call in (mlp[1], kernel, kernel.interpret, kernel.check):
        with refusal("TW-RUNTIME-0014", "has no data, but its sizes need 256 bytes"):
            call(x)


@pytest.mark.parametrize("make", [lambda x: x.t().contiguous().t(), lambda x: x.repeat(1, 2)[:, ::2],
                                  lambda x: torch.cat([x, x])[1:5], lambda x: x[:1].expand(4, 16),
                                  lambda x: x.as_strided((4, 16), (1, 1)), lambda x: x.as_strided((4, 16), (5, 2)),
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


def test_empty_tensors():
    program = tilewright.compile(torch.nn.ReLU(), (torch.randn(4, 3),), dynamic_shapes={"input": {0: Dim.DYNAMIC}})
    assert program(torch.randn(0, 3)).shape == (0, 3)
    assert program(np.zeros((0, 3), np.float32)).shape == (0, 3)


def test_negated_tensors(mlp):
    _, program = mlp
    z = torch.randn(4, 16, dtype=torch.complex64)
    negated = z.conj().imag
    assert negated.is_neg()
    close(program(negated), program(negated.clone()))
    one = tilewright.compile(torch.nn.ReLU(), (torch.randn(1),))
    minus = torch.complex(torch.ones(1), -torch.ones(1)).conj().imag
    assert minus.is_neg() and one(minus).item() == minus.clamp(min=0).item() == 1.0


class Plain(torch.Tensor):
    """A subclass without a behaviour of its own."""


class Dispatching(torch.Tensor):
    """One whose elements are those of another tensor."""

    @staticmethod
    def __new__(cls, inner):
        return torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype)

    @classmethod
    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
        raise NotImplementedError


def test_what_is_said_of_a_plain_subclass(mlp):
    """Its advice works."""
    x = torch.randn(4, 16)
    with pytest.raises(tilewright.InputError) as caught:
        mlp[1](x.as_subclass(Plain))
    assert caught.value.help == "give a plain tensor: x.as_subclass(torch.Tensor) is one on the same memory"
    close(mlp[1](x.as_subclass(Plain).as_subclass(torch.Tensor)), mlp[1](x))


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
    (lambda x: torch.complex(x, x).conj(), "TW-PYTHON-0001", "has dtype torch.complex64"),
    (lambda x: x.as_subclass(Plain), "TW-PYTHON-0001", "which may mean something else by what is in its memory"),
    (lambda x: Dispatching(x), "TW-PYTHON-0001", "whose elements need not be in its memory"),
    (lambda x: x.numpy().astype(">f4"), "TW-PYTHON-0001", "byte order"),
    (lambda x: x.numpy().astype("S4"), "TW-PYTHON-0001", ""),
    (lambda x: np.ma.masked_array(x.numpy(), mask=x.numpy() > 0), "TW-PYTHON-0001", "has a mask"),
    (lambda x: torch.ones(1).expand(2**40, 16), "TW-PYTHON-0001", "cannot be copied"),
    (lambda x: np.array([object()]), "TW-PYTHON-0001", ""),
    (lambda x: Exporter(x, (2, 0)), "TW-PYTHON-0002", "is on cuda:0, not in main memory"),
    (lambda x: Exporter(x, (2**70, 0)), "TW-PYTHON-0002", "(1180591620717411303424, 0)"),
    (lambda x: Exporter(x.t().contiguous().t()), "TW-PYTHON-0001", "not contiguous"),
])
def test_what_is_no_tensor(mlp, refusal, make, code, words):
    with refusal(code, words, '"input"', "f32[4, 16]"):
        mlp[1](make(torch.randn(4, 16)))


@pytest.mark.parametrize("make, code, words", [
    (lambda y: y.tolist(), "TW-PYTHON-0001", "is a list, not a tensor"),
    (lambda y: y.to_sparse(), "TW-PYTHON-0001", "is not strided"),
    (lambda y: y.to("meta"), "TW-PYTHON-0002", "is on device meta"),
    (lambda y: y.t().contiguous().t(), "TW-PYTHON-0004", "is written by the program, but it is not contiguous"),
    (lambda y: np.frombuffer(bytes(y.nbytes), np.float32).reshape(y.shape), "TW-PYTHON-0004",
     "is written by the program, but its memory is read-only"),
    (lambda y: y[:2], "TW-RUNTIME-0011", "is f32[2, 8], but the output f32[4, 8]"),
    (lambda y: y.double(), "TW-RUNTIME-0010", "is f64[4, 8], but the output f32[4, 8]"),
])
def test_what_is_no_memory_for_a_result(mlp, refusal, make, code, words):
    module, program = mlp
    x = torch.randn(4, 16)
    with refusal(code, f'the memory for output "output_0" {words}'):
        program(x, output_0=make(torch.empty(4, 8)))
    memory = torch.empty(4, 8)
    assert program(x, output_0=memory) is memory
    close(memory, module(x).detach())


PARTS = "give an array with another dimension for real and imaginary parts"
VECTORS = "give an array with another dimension for the elements of each vector"
CONVERT = "convert it to a dtype that programs have: f16, bf16, f32, f64, i8, i16, i32, i64, u8 or bool"
REFUSED = [
    ((COMPLEX, 64), "complex64", PARTS), ((COMPLEX, 128), "complex128", PARTS), ((COMPLEX, 32), "complex32", PARTS),
    ((OPAQUE, 64), "opaque64", CONVERT), ((INT, 4), "int4", CONVERT), ((UINT, 4), "uint4", CONVERT),
    ((INT, 128), "int128", CONVERT), ((UINT, 128), "uint128", CONVERT), ((FLOAT, 128), "float128", CONVERT),
    ((UINT, 16), "uint16", CONVERT), ((UINT, 64), "uint64", CONVERT), ((BOOL, 1), "bool1", CONVERT),
    ((FLOAT, 32, 4), "float32x4", VECTORS), ((BFLOAT, 16, 2), "bfloat16x2", VECTORS), ((INT, 8, 0), "int8x0", VECTORS),
    ((COMPLEX, 64, 2), "complex64x2", VECTORS), ((10, 8), "float8_e4m3fn", CONVERT), ((12, 8), "float8_e5m2", CONVERT),
    ((17, 4), "float4_e2m1fn", CONVERT), ((17, 4, 2), "float4_e2m1fnx2", VECTORS), ((99, 8), "99:8", CONVERT)]


@pytest.mark.parametrize(("dtype", "said", "advice"), REFUSED, ids=[said for _, said, _ in REFUSED])
def test_dtypes_of_dlpack_that_programs_have_not(mlp, dtype, said, advice):
    _, program = mlp
    for where, what in (("input", "input"), ("output_0", "the memory for output")):
        given = {"input": np.zeros((4, 16), np.float32), where: OnlyDLPack(bytes(256), *dtype)}
        with pytest.raises(tilewright.InputError) as caught:
            program(**given)
        error = caught.value
        assert (error.code, error.message, error.help) == (
            "TW-PYTHON-0001", f'{what} "{where}" has the DLPack dtype {said}', advice)


RELU = """func.func @main(%x: !torch.vtensor<[2],f32>) -> !torch.vtensor<[2],f32> {
  %0 = torch.aten.relu %x : !torch.vtensor<[2],f32> -> !torch.vtensor<[2],f32>
  return %0 : !torch.vtensor<[2],f32>
}
"""


def test_dtypes_of_dlpack_that_programs_have(tmp_path, refusal):
    (tmp_path / "relu.mlir").write_text(RELU)
    program, values = tilewright.compile(tmp_path / "relu.mlir"), np.float32([1, 2])
    assert np.asarray(program(OnlyDLPack(values, FLOAT, 32))).tolist() == [1, 2]
    with refusal("TW-PYTHON-0001", f'input "arg0" is a {OnlyDLPack.__module__}.OnlyDLPack that is not contiguous'):
        program(OnlyDLPack(np.tile(values, 2), FLOAT, 32, has_gaps=True))
    for code, bits, ours in ((FLOAT, 64, "f64"), (FLOAT, 16, "f16"), (BFLOAT, 16, "bf16"), (INT, 8, "i8"), (INT, 16, "i16"),
                             (INT, 32, "i32"), (INT, 64, "i64"), (UINT, 8, "u8"), (BOOL, 8, "bool")):
        with refusal("TW-RUNTIME-0010", f'input "arg0" is {ours}, but the program takes f32', "convert it to f32"):
            program(OnlyDLPack(bytes(bits // 4), code, bits))
