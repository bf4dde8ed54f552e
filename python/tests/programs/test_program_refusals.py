# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is said of calls that cannot be: code, message and advice, whole."""
import ctypes
import platform
import signal

import numpy as np
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

import tilewright

RELU = """func.func @main(%x: !torch.vtensor<[3],f32>) -> !torch.vtensor<[3],f32> {
  %0 = torch.aten.relu %x : !torch.vtensor<[3],f32> -> !torch.vtensor<[3],f32>
  return %0 : !torch.vtensor<[3],f32>
}
"""


class Sum(torch.nn.Module):
    def forward(self, x, y):
        return x + y


class Exporter:
    """Another library's array of NumPy's memory. `inside`: the device that its capsule says, where that is another."""

    def __init__(self, array, inside=None):
        self.array, self.inside = array, inside

    def __dlpack__(self, **_):
        capsule = self.array.__dlpack__()
        if self.inside:
            pointer = ctypes.pythonapi.PyCapsule_GetPointer
            pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
            (ctypes.c_int32 * 2).from_address(pointer(capsule, b"dltensor") + 8)[:] = self.inside  # behind the data
        return capsule

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def z(n=3):
    return np.zeros(n, np.float32)


def released():
    view = memoryview(z())
    view.release()
    return view


class EverySecond(TorchDispatchMode):
    """Of what is copied in it, it gives every second element."""

    def __torch_dispatch__(self, operator, _, args=(), kwargs=None):
        made = operator(*args, **(kwargs or {}))
        return made[::2] if operator is torch.ops.aten.clone.default else made


def called_within(mode, program, x):
    with mode:
        return program(x, z())


CALLS = [
    (lambda p: called_within(EverySecond(), p, torch.ones(6)[::2]), "0001", 'input "x" cannot be made contiguous',
     "call .contiguous() first"),
    (lambda p: p(torch.complex(torch.ones(3), torch.ones(3)).conj(), z()), "0001", 'input "x" has dtype torch.complex64',
     "convert it with .to(dtype)"),
    (lambda p: torch.vmap(lambda x: p(x, z()))(torch.ones(2, 3)), "0001", 'input "x" has no memory of its own',
     "give a plain torch.Tensor"),
    (lambda p: torch.func.grad(lambda x: p(x, z()).sum())(torch.ones(3)), "0001", 'input "x" has no memory of its own',
     "give a plain torch.Tensor"),
    (lambda p: p(z(), z().astype(">f4")), "0001", 'input "y" has the byte order of another kind of machine: ">f"',
     "convert it with .astype(a.dtype.newbyteorder('='))"),
    (lambda p: p(released(), z()), "0001", 'input "x" is a memoryview without a plain buffer', "give an array of numbers"),
    (lambda p: p(z(), Exporter(z(), inside=(2, 0))), "0002",
     'input "y" is in cuda:0 by __dlpack__, but in main memory by __dlpack_device__', "update the library it comes from"),
]


@pytest.fixture(scope="module")
def total():
    return tilewright.compile(Sum(), (torch.ones(3), torch.ones(3)))


@pytest.mark.parametrize("number", range(len(CALLS)))
def test_calls(number, total):
    call, code, *words = CALLS[number]
    with pytest.raises(tilewright.InputError) as caught:
        call(total)
    assert (caught.value.code, caught.value.message, caught.value.help) == (f"TW-PYTHON-{code}", *words)
    assert total(z() + 1, Exporter(z() + 2)).tolist() == [3, 3, 3]


class Counted(torch.nn.Module):
    """Counts its calls, and gives x with 1 added until it is no longer less than the limit."""

    def __init__(self):
        super().__init__()
        self.register_buffer("calls", torch.zeros(1))

    def forward(self, x, limit):
        self.calls.add_(1)
        return torch._higher_order_ops.while_loop(lambda x: (x < limit).all(), lambda x: (x + 1,), (x,))[0]


def test_a_call_of_a_program_with_state_within_another(tmp_path):
    """That a handler of signals makes while the first one runs, which never ends by itself."""
    x, few, endless = torch.zeros(2), torch.tensor(3.0), torch.tensor(float("inf"))
    tilewright.compile(Counted(), (x, few)).save(tmp_path / "counted.so")
    program = tilewright.load(tmp_path / "counted.so", threads=1)

    def call_again(*_):
        program(x, few)

    before = signal.signal(signal.SIGALRM, call_again)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with pytest.raises(tilewright.Error) as caught:
            program(x, endless)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    error = caught.value
    assert (error.code, error.message, error.help) == (
        "TW-RUNTIME-0016", f"a call of {tmp_path / 'counted.so'} begins while another one runs",
        "let calls of one program with state follow each other, under a lock, or give each thread a program of its own: "
        "program.save(path), and tilewright.load(path) in each")
    assert 'it has state, "calls", which calls at one time would mix up' in error.text
    assert program(x, few).tolist() == [3, 3]


def test_a_process_without_descriptors(run_python, tmp_path):
    """Programs are in files in memory: where none can be opened that is said, and where it is the first one, which the
    compiler has for none, it is another one."""
    (tmp_path / "relu.mlir").write_text(RELU)
    assert run_python(f"""
        import os, resource
        import numpy as np
        import tilewright

        def relu():
            return tilewright.compile({str(tmp_path / "relu.mlir")!r})(np.float32([-1, 0, 1])).tolist()

        print(relu())
        most = resource.getrlimit(resource.RLIMIT_NOFILE)
        free = os.dup(0)
        os.close(free)
        resource.setrlimit(resource.RLIMIT_NOFILE, (free, most[1]))
        try:
            relu()
        except tilewright.Error as error:
            print(error.code, error.message, error.help, sep="; ")
        resource.setrlimit(resource.RLIMIT_NOFILE, most)
        os.close(0)
        print(relu())
    """) == """\
[0.0, 0.0, 1.0]
TW-IO-0002; there is no memory for the program: Too many open files; close files that this process holds open
[0.0, 0.0, 1.0]
"""


class Nested(torch.nn.Module):
    def forward(self, x, more):
        return x + more["a"]


def test_what_a_module_takes_as_one_argument(refusal):
    x = torch.ones(3)
    program = tilewright.compile(Nested(), (x, {"a": x}))
    assert program(x, x).tolist() == [2, 2, 2]
    for given in {"a": x}, [x], (x,):
        with refusal("TW-PYTHON-0001", f'input "more_a" is a {type(given).__name__}, not a tensor',
                     "give the tensors in it, each as an argument of its own, in the order of program.inputs"):
            program(x, given)


def test_programs_in_memory_are_called_by_their_models(refusal):
    """The files in which they are have no names that a user knows."""
    x, few = torch.zeros(2), torch.tensor(3.0)
    program = tilewright.compile(Counted(), (x, few), threads=1)

    def call_again(*_):
        program(x, few)

    before = signal.signal(signal.SIGALRM, call_again)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with refusal("TW-RUNTIME-0016", "a call of the program Counted begins while another one runs", "program.save(path)"):
            program(x, torch.tensor(float("inf")))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_programs_for_other_machines_are_not_loaded(refusal):
    other = "cpu:x86-64" if platform.machine() == "aarch64" else "cpu:aarch64"
    with pytest.raises(tilewright.Error) as caught:
        tilewright.compile(torch.nn.ReLU(), (torch.ones(3),), target=other)
    if caught.value.code == "TW-PROGRAM-0009":
        pytest.skip("this compiler makes code of its own architecture alone")
    with refusal("TW-RUNTIME-0005", "the code is for", "tilewright.compile_to_file"):
        raise caught.value
    assert "/proc" not in caught.value.text and "-->" not in caught.value.text


def test_help_says_what_a_call_does():
    assert "Runs the program on its inputs" in tilewright.Program.__call__.__doc__
