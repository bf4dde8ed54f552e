# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs for GPUs, from Python, on a machine without one: the driver is the tests' own, which simulates the threads of
kernels (docs/devices.md). test_cuda.py is for a machine with a GPU."""
import os
from pathlib import Path

import pytest
import torch

import tilewright
from compare import mlp

BUILD = Path(tilewright.__file__).parents[2]  # of the source tree's package, which a wheel is not
DRIVER, COMPILER = BUILD / "unittests/Runtime/driver", BUILD / "lib/simulated_compiler.so"

PRELUDE = """
import ctypes
import numpy as np
import torch
import tilewright
import tilewright.kernel as tk

def close(ours, theirs):
    torch.testing.assert_close(torch.as_tensor(ours), torch.as_tensor(theirs), rtol=1e-4, atol=1e-5)

net = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.ReLU(), torch.nn.Linear(32, 8))
x = torch.randn(4, 16)
"""


@pytest.fixture
def run_simulated(run_python, tmp_path):
    if not COMPILER.exists() or not DRIVER.exists():
        pytest.skip("the simulated driver is built with the source tree's tests alone")

    def run(code, prelude=PRELUDE, **environment):
        return run_python(prelude + code, LD_LIBRARY_PATH=str(DRIVER), TILEWRIGHT_COMPILER=str(COMPILER),
                          TILEWRIGHT_CACHE=str(tmp_path / "cache"), **environment)

    return run


def test_arrays_in_main_memory_are_copied_there_and_back(run_simulated):
    run_simulated("""
program = tilewright.compile(net, (x,), target="nvidia:sm_90a")
assert program.device == "cuda:0" and program.target == "nvidia:sm_90a"
close(program(x), net(x).detach())
assert isinstance(program(x.numpy()), np.ndarray)
memory = torch.empty(4, 8)
assert program(x, output_0=memory) is memory
close(memory, net(x).detach())
with program.profile() as profile:
    program(x)
assert len(profile.rows) == len(program.report.dispatches)
""")


ON_DEVICE = """
import ctypes
import numpy as np
import tilewright

pointer_in = ctypes.pythonapi.PyCapsule_GetPointer
pointer_in.restype, pointer_in.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]

class OnDevice:
    \"\"\"An array of NumPy's with other memory: 256 bytes of the driver's, on a GPU.\"\"\"

    def __init__(self, array, number):
        self.array, self.device, self.address = array, (2, number), ctypes.c_void_p()
        driver, context = ctypes.CDLL("libcuda.so.1"), ctypes.c_void_p()
        assert driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == driver.cuCtxPushCurrent_v2(context) == 0
        assert driver.cuMemAlloc_v2(ctypes.byref(self.address), ctypes.c_size_t(256)) == 0

    def __dlpack__(self, **_):
        capsule = self.array.__dlpack__()
        tensor = pointer_in(capsule, b"dltensor")
        ctypes.c_void_p.from_address(tensor).value = self.address.value
        (ctypes.c_int32 * 2).from_address(tensor + 8)[:] = self.device
        return capsule

    def __dlpack_device__(self):
        return self.device

def refused(call):
    try:
        call()
    except tilewright.Error as error:
        print(error.code, error.message, error.help, sep="; ")
"""


def test_what_is_said_of_memory_on_devices(run_simulated, tmp_path):
    """Of another device than the program's, and of results that there is no library for which has such memory."""
    path = str(tmp_path / "mlp.so")
    run_simulated(f"tilewright.compile_to_file(net, {path!r}, (x,), target='nvidia:sm_90a')")
    assert run_simulated(f"""
program, x = tilewright.load({path!r}, device="cuda"), np.ones((4, 16), np.float32)
program(x)
refused(lambda: program(OnDevice(x, 1)))
refused(lambda: program(OnDevice(x, 0)))
""", prelude=ON_DEVICE) == """\
TW-PYTHON-0002; input "input" is on cuda:1, but the program on cuda:0; move it there, or load the program on the other device
TW-PYTHON-0002; there is no memory on cuda:0 for the results; give memory for each of them by name, or import torch, \
whose memory is used
"""


def test_what_is_said_of_memory_in_two_places(run_simulated, tmp_path):
    path = str(tmp_path / "sum.so")
    run_simulated(f"""
class Sum(torch.nn.Module):
    def forward(self, x, y):
        return x + y
tilewright.compile_to_file(Sum(), {path!r}, (x, x), target="nvidia:sm_90a")
""")
    assert run_simulated(f"""
program, x = tilewright.load({path!r}, device="cuda"), np.ones((4, 16), np.float32)
assert (program(x, x) == 2).all()
refused(lambda: program(x, OnDevice(x, 0)))
refused(lambda: program(OnDevice(x, 0), x))
""", prelude=ON_DEVICE) == """\
TW-PYTHON-0002; input "y" is in cuda:0, but "x" in main memory; give all tensors of a call in the same memory
TW-PYTHON-0002; input "y" is in main memory, but "x" in cuda:0; give all tensors of a call in the same memory
"""


WITHOUT_MEMORY = """
import torch

Fail = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p)

@ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, Fail)
def allocate(prototype, out, context, fail):
    fail(context, b"MemoryError", b"CUDA out of memory")
    return -1

@ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int32, ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p))
def current_stream(kind, number, out):
    out[0] = None
    return 0

name = b"dlpack_exchange_api"
# The version, the table before, and five functions.
table = (ctypes.c_void_p * 7).from_buffer_copy(ctypes.string_at(pointer_in(torch.Tensor.__dlpack_c_exchange_api__, name), 56))
table[2], table[6] = (ctypes.cast(each, ctypes.c_void_p).value for each in (allocate, current_stream))
make = ctypes.pythonapi.PyCapsule_New
make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
torch.Tensor.__dlpack_c_exchange_api__ = make(ctypes.addressof(table), name, None)
"""


def test_what_is_said_when_torch_has_no_memory(run_simulated, tmp_path):
    """Its functions that know of GPUs are exchanged, as torch has none here."""
    path = str(tmp_path / "mlp.so")
    run_simulated(f"tilewright.compile_to_file(net, {path!r}, (x,), target='nvidia:sm_90a')")
    assert run_simulated(f"""
program, x = tilewright.load({path!r}, device="cuda"), np.ones((4, 16), np.float32)
program(x)
refused(lambda: program(OnDevice(x, 0)))
""", prelude=ON_DEVICE + WITHOUT_MEMORY) == """\
TW-RUNTIME-0017; there is no memory for output "output_0": CUDA out of memory; give smaller inputs, such as fewer rows at once, release memory that is no longer used, or take a \
machine with more
"""


def test_torch_compile_for_a_target_with_a_device(run_simulated):
    run_simulated("""
fast = torch.compile(net, backend="tilewright", options={"target": "nvidia:sm_90a"})
close(fast(x).detach(), net(x).detach())
ours = torch.autograd.grad(fast(x).square().sum(), net.parameters())
theirs = torch.autograd.grad(net(x).square().sum(), net.parameters())
for mine, other in zip(ours, theirs):
    close(mine, other)
frozen = torch.compile(net.requires_grad_(False), backend="tilewright",
                       options={"target": "nvidia:sm_90a", "freeze": True})
close(frozen(x), net(x))
net[0].weight.mul_(2)
close(frozen(x), net(x))
""")


def test_products_in_tf32(run_simulated):
    run_simulated("""
import tempfile, pathlib
linear, wide = torch.nn.Linear(64, 64, bias=False).requires_grad_(False), torch.randn(128, 64)
rounded = tilewright.compile(linear, (wide,), target="nvidia:sm_90a", precision="tf32")
exact = tilewright.compile(linear, (wide,), target="nvidia:sm_90a")
theirs, ours = linear(wide), rounded(wide)
assert 1e-6 < (ours - theirs).abs().max() < 3e-3, (ours - theirs).abs().max()
close(exact(wide), theirs)
options = {"target": "nvidia:sm_90a", "precision": "tf32"}
torch.testing.assert_close(torch.compile(linear, backend="tilewright", options=options)(wide), ours, rtol=3e-3, atol=3e-3)
""")


def test_compile_to_file_needs_no_device(tmp_path, refusal):
    path = tmp_path / "mlp.so"
    report = tilewright.compile_to_file(mlp(), path, (torch.randn(4, 16),), target="nvidia:sm_90a")
    assert report.dispatches and path.exists()
    if not torch.cuda.is_available():
        with refusal("TW-RUNTIME-0008"):
            tilewright.load(path)
    with refusal("TW-RUNTIME-0008", "nvidia:sm_90a", 'device "cpu"', "cuda"):
        tilewright.load(path, device="cpu")


def test_a_warning_says_that_there_is_no_ptxas(run_python, tmp_path):
    run_python(PRELUDE + f"""
import os, warnings
os.environ.pop("TILEWRIGHT_PTXAS", None)
os.environ["PATH"] = "/nowhere"
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    tilewright.compile_to_file(net, {str(tmp_path / "mlp.so")!r}, (x,), target="nvidia:sm_90a")
said = [str(one.message) for one in said if "ptxas" in str(one.message)]
assert len(said) == 1 and "TILEWRIGHT_PTXAS" in said[0], said
""")


def test_compile_to_file_for_this_machine(tmp_path):
    net, x, path = mlp(), torch.randn(4, 16), tmp_path / "mlp.so"
    tilewright.compile_to_file(net, path, (x,))
    program = tilewright.load(path, library="torch")
    assert program.device == "cpu"
    torch.testing.assert_close(program(x), net(x))


def test_odd_devices_are_refused(tmp_path, refusal):
    path = tmp_path / "mlp.so"
    tilewright.compile_to_file(mlp(), path, (torch.randn(4, 16),))
    for device in ("gpu", "cuda:x", "cuda"):
        with refusal("TW-RUNTIME-0008"):
            tilewright.load(path, device=device)
    with refusal("TW-PYTHON-0005"):
        tilewright.load(path, device=3)
    with refusal("TW-PYTHON-0005"):
        tilewright.compile(mlp(), (torch.randn(4, 16),), device=b"cpu")
    assert os.path.exists(path)
