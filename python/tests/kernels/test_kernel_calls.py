# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls of kernels: from several threads, in the children of a fork, and with memory of all kinds."""
import array
import threading

import numpy as np
import pytest
import torch

import tilewright
import tilewright.kernel as tk
from dlpack_memory import BFLOAT, BOOL, UINT, OnlyDLPack
from example_kernels import example

M, N = tk.symbols("M N")
T = tk.dtype("T", tk.f32 | tk.i32)
SWAPPED = ">f4"  # the byte order of another kind of machine
softmax = example("softmax")
WRITABLE = "give a contiguous array of its own that can be written, or a copy"


@tk.kernel
def double(x: tk.InOut[tk.f32, M, N]):
    m, = tk.grid(M)
    tk.store(x, [m, 0], tk.load(x, [m, 0], [1, N]) * 2)


@tk.kernel
def doubled(x: tk.In[T, N], y: tk.Out[T, N]):
    n, = tk.grid(tk.cdiv(N, 8))
    tk.store(y, [n * 8], tk.load(x, [n * 8], [8]) * 2)


class Exporter:
    """What has memory by DLPack and nothing else."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **_):
        return self.array.__dlpack__()

    def __dlpack_device__(self):
        return (1, 0)


def test_dtypes_of_memory_that_has_no_attribute_for_it(refusal):
    for values in (np.arange(5, dtype=np.float32), np.arange(5, dtype=np.int32)):
        for given in (Exporter(values), memoryview(values), array.array(values.dtype.char, values)):
            assert np.array_equal(doubled(given), 2 * values) and np.asarray(doubled(given)).dtype == values.dtype
    with refusal("TW-PYTHON-0001", "argument \"x\" has the dtype f64", "T is one of f32, i32"):
        doubled(memoryview(np.zeros(5)))
    for run in (doubled, doubled.interpret, doubled.check):
        with refusal("TW-PYTHON-0001", "kernel doubled: input \"x\" is an object, not a tensor",
                     "the kernel takes T[N], T one of f32, i32", "give a torch tensor"):
            run(object())


@pytest.mark.parametrize("given, what", [(3, "an int"), (2.5, "a float"), (None, "a NoneType"), ([torch.ones(2, 3)], "a list"),
                                         ("x", "a str")])
def test_what_is_no_tensor(refusal, tmp_path, given, what):
    """The message names the kernel and says what it declares; as of a program that was compiled to a file."""
    softmax.compile_to_file(tmp_path / "softmax.so")
    loaded = tilewright.load(tmp_path / "softmax.so")
    for run in (softmax, softmax.interpret, softmax.check, loaded):
        with refusal("TW-PYTHON-0001", f"kernel softmax: input \"x\" is {what}, not a tensor", "the kernel takes f32[M, N]",
                     "give a torch tensor, a NumPy array, or anything else with __dlpack__"):
            run(given)
    with refusal("TW-PYTHON-0001", f"kernel softmax: the memory for output \"y\" is {what}, not a tensor",
                 "the kernel gives f32[M, N]"):
        softmax(torch.ones(2, 3), y=given)


def test_calls_of_a_kernel_from_a_file(refusal, tmp_path):
    softmax.compile_to_file(tmp_path / "softmax.so")
    loaded, x = tilewright.load(tmp_path / "softmax.so"), torch.ones(2, 3)
    for call, what in ((lambda: loaded(x, x), "the kernel has 1 input, but 2 were given"),
                       (lambda: loaded(z=x), "the kernel has no input \"z\""),
                       (lambda: loaded(), "input \"x\" is missing")):
        with refusal("TW-PYTHON-0003", f"kernel softmax: {what}", "the kernel takes x: f32[M, N]"):
            call()


def test_dtypes_that_numpy_has_not(refusal):
    """Of memory that is known by DLPack alone: bf16 and bools are read as such, f8 is refused as what it is."""
    every = tk.dtype("Every", tk.f32 | tk.bf16 | tk.f16 | tk.i1 | tk.u8)

    @tk.kernel
    def copied(x: tk.In[every, N], y: tk.Out[every, N]):
        n, = tk.grid(N)
        tk.store(y, [n], tk.load(x, [n], [1]))

    y = torch.empty(3, dtype=torch.bfloat16)
    assert copied(OnlyDLPack(np.uint16([0x3F80, 0x4000, 0xC040]), BFLOAT, 16), y=y) is y and y.tolist() == [1, 2, -3]
    y = torch.empty(3, dtype=torch.bool)
    assert copied(OnlyDLPack(b"\1\0\1", BOOL, 8), y=y) is y and y.tolist() == [True, False, True]
    assert np.asarray(copied(OnlyDLPack(b"\1\0\1", UINT, 8))).tolist() == [1, 0, 1]
    for run in (copied, copied.interpret, copied.check):
        with refusal("TW-PYTHON-0001", "input \"x\" has the DLPack dtype float8_e4m3fn",
                     "the kernel takes Every[N], Every one of f32, bf16, f16, i1, u8"):
            run(OnlyDLPack(b"\1\0\1", 10, 8))


def test_a_compiler_that_is_not_there(run_python):
    out = run_python("""
        import numpy as np, tilewright, tilewright.kernel as tk
        N = tk.symbol("N")

        @tk.kernel
        def double(x: tk.InOut[tk.f32, N]):
            n, = tk.grid(tk.cdiv(N, 8))
            tk.store(x, [n * 8], tk.load(x, [n * 8], [8]) * 2)

        try:
            double(np.ones(4, np.float32))
        except tilewright.Error as error:
            print(error.code)
    """, TILEWRIGHT_COMPILER="/nowhere/libtilewright-compiler.so")
    assert out == "TW-CLI-0007\n"


def in_threads(count, work):
    """work(i) in `count` threads, which begin at once."""
    begin, errors = threading.Barrier(count), []

    def run(i):
        try:
            begin.wait()
            work(i)
        except BaseException as error:  # noqa: BLE001
            errors.append(error)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors, errors


def test_threads():
    """Each with memory of its own, in other sizes than the others."""
    def work(i):
        for n in range(1, 30):
            x = torch.randn(i + 1, n)
            torch.testing.assert_close(softmax(x), torch.softmax(x, 1))
            before = x.clone()
            double(x)
            assert torch.equal(x, before * 2)

    in_threads(6, work)


def test_first_calls_in_threads(fresh, tmp_path):
    """The kernel is compiled once for each dtype and parameter, whatever the number of threads that were first."""
    @tk.kernel
    def scale(x: tk.In[T, N], y: tk.Out[T, N], *, times=2):
        n, = tk.grid(N)
        tk.store(y, [n], tk.load(x, [n], [1]) * times)

    def work(i):
        x = np.arange(5, dtype=np.float32 if i % 2 else np.int32)
        for _ in range(10):
            np.testing.assert_array_equal(scale(x), x * 2)
            np.testing.assert_array_equal(scale(x, times=3 + i % 4 // 2), x * (3 + i % 4 // 2))

    in_threads(8, work)
    assert len(scale._calls._programs) == 4 + 2  # of each dtype the one without parameters, and one of each of 3 and 4
    assert len(list(tmp_path.rglob("*.so"))) == 6


def test_checks_warn_of_nothing(recwarn):
    assert softmax.check(torch.randn(3, 4)) and not recwarn.list


def test_checks_in_threads():
    def work(i):
        x = torch.randn(3, i + 2)
        for _ in range(5):
            assert softmax.check(x)
            torch.testing.assert_close(softmax.interpret(x), torch.softmax(x, 1))

    in_threads(4, work)


KERNELS = """
import os, signal, threading, time, traceback
import numpy as np
import tilewright.kernel as tk

N = tk.symbol("N")

@tk.kernel
def scale(x: tk.In[tk.f32, N], y: tk.Out[tk.f32, N], *, times=2):
    n, = tk.grid(N)
    tk.store(y, [n], tk.load(x, [n], [1]) * times)

x = np.arange(100000, dtype=np.float32)

def in_child(work):
    child = os.fork()
    if child == 0:
        signal.alarm(60)  # ends a child that hangs
        try:
            work()
            os._exit(0)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(1)
    status = os.waitpid(child, 0)[1]
    assert status == 0, f"the child ended with status {status}"

def check(*all_times):
    for times in all_times:
        assert (scale(x, times=times) == x * times).all()
"""


def test_fork(run_python, tmp_path):
    """The child calls what its parent has called, and what it has not; and so does its own child."""
    run_python(KERNELS + """
check(2, 3)
in_child(lambda: (check(2, 4), in_child(lambda: check(2, 4, 5))))
check(3, 4, 6)
in_child(lambda: scale.check(x[:10]))
""", TILEWRIGHT_CACHE=str(tmp_path / "cache"))


def test_fork_while_another_thread_compiles(run_python, tmp_path):
    """The child waits for no thread that it has not."""
    run_python(KERNELS + """
check(2)
ended = False

def compile_many():
    times = 1000
    while not ended:
        check(times)
        times += 1

thread = threading.Thread(target=compile_many)
thread.start()
try:
    for each in range(8):
        time.sleep(0.03)
        in_child(lambda: check(2, 3 + each))
finally:
    ended = True
    thread.join()
check(2, 3, 4)
""", TILEWRIGHT_CACHE=str(tmp_path / "cache"))


STRIDED = {
    "overlapping": lambda x: torch.as_strided(x, (4, 5), (1, 1)),
    "overlapping rows": lambda x: torch.as_strided(x, (4, 5), (2, 1)),
    "one row": lambda x: x[:5].expand(4, 5),
    "one element": lambda x: x[:1].expand(4, 5),
    "turned": lambda x: x.view(5, 4).t(),
    "with gaps": lambda x: torch.cat([x, x]).view(4, 10)[:, ::2],
}


@pytest.mark.parametrize("name", STRIDED)
@pytest.mark.parametrize("library", ["torch", "numpy"])
def test_strided_memory_is_read(name, library):
    x = STRIDED[name](torch.randn(20))
    assert not x.is_contiguous()
    given = x if library == "torch" else x.numpy()
    expected = torch.softmax(x, 1)
    for run in (softmax, softmax.interpret):
        torch.testing.assert_close(torch.as_tensor(run(given)), expected)
    assert softmax.check(given)


def test_arrays_that_run_backwards_are_read():
    x = np.random.rand(4, 5).astype(np.float32)[::-1, ::-1]
    np.testing.assert_allclose(softmax(x), torch.softmax(torch.tensor(x.copy()), 1), rtol=1e-6)


@pytest.mark.parametrize("name", STRIDED)
@pytest.mark.parametrize("library", ["torch", "numpy"])
def test_strided_memory_is_not_written(name, library, refusal):
    memory = STRIDED[name](torch.ones(20))
    given = memory if library == "torch" else memory.numpy()
    for call, value in ((lambda: double(given), 'kernel double: input "x"'),
                        (lambda: softmax(torch.ones(4, 5), y=given), 'kernel softmax: the memory for output "y"')):
        with refusal("TW-PYTHON-0004") as refused:
            call()
        assert refused.error.message == f"{value} is written by the kernel, but it is not contiguous"
        assert refused.error.help == WRITABLE
    assert (memory == 1).all()


def test_arrays_that_numpy_lets_nobody_write(refusal):
    array = np.broadcast_to(np.float32(1), (4, 5))
    np.testing.assert_allclose(softmax(array), np.full((4, 5), 0.2), rtol=1e-6)
    with refusal("TW-PYTHON-0004") as refused:
        double(array)
    assert refused.error.message == 'kernel double: input "x" is written by the kernel, but its memory is read-only'
    assert refused.error.help == WRITABLE


def test_other_byte_orders(refusal):
    x, value = np.ones((4, 5), SWAPPED), 'kernel softmax: input "x"'
    for call, value in ((softmax, value), (softmax.interpret, value), (softmax.check, value), (double, 'kernel double: input "x"'),
                        (lambda x: softmax(np.ones((4, 5), np.float32), y=x), 'kernel softmax: the memory for output "y"')):
        with refusal("TW-PYTHON-0001") as refused:
            call(x)
        assert refused.error.message == f'{value} has the byte order of another kind of machine: ">f"'
        assert refused.error.help == "convert it with .astype(a.dtype.newbyteorder('='))"
    assert (x == 1).all()


def test_other_byte_orders_of_dtype_variables(refusal):
    @tk.kernel
    def copied(x: tk.In[T, N], y: tk.Out[T, N]):
        n, = tk.grid(N)
        tk.store(y, [n], tk.load(x, [n], [1]))

    x = np.arange(3, dtype=SWAPPED)
    with refusal("TW-PYTHON-0001") as refused:
        copied(x)
    assert refused.error.message == 'kernel copied: input "x" has the byte order of another kind of machine: ">f"'
    assert refused.error.help == "convert it with .astype(a.dtype.newbyteorder('='))"
    assert copied(x.astype(x.dtype.newbyteorder("="))).tolist() == [0, 1, 2]
