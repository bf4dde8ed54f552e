# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs in threads, in the children of a fork, and interrupted."""
import contextlib
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest
import torch

import tilewright
import tilewright.kernel as tk
from tilewright import _native


@contextlib.contextmanager
def interrupted_after(seconds):
    """Ctrl-C after some time."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # shells let what runs in the background ignore it
    timer = threading.Timer(seconds, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        signal.signal(signal.SIGINT, before)


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


def test_threads_that_call_when_python_ends():
    """They do not end the process in another way than it ends. Those that call torch do: it lets go of Python's lock
    in functions of C++ that cannot be left so."""
    done = subprocess.run([sys.executable, "-c", textwrap.dedent("""
        import threading, time
        import numpy as np
        import torch
        import tilewright
        program, x = tilewright.compile(torch.nn.Linear(64, 64), (torch.ones(256, 64),)), np.ones((256, 64), np.float32)

        def forever():
            while True:
                program(x)

        for _ in range(3):
            threading.Thread(target=forever, daemon=True).start()
        time.sleep(0.3)
        print("ended")
    """)], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout) == (0, "ended\n"), done.stderr


def test_fork(run_with_torch):
    run_with_torch("""
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


def test_compiling_in_the_child_of_a_fork(run_with_torch):
    """Threads that compiled in the parent are not there."""
    run_with_torch("""
        import os, signal, torch, tilewright
        model, x = torch.nn.Linear(3, 4), torch.randn(2, 3)
        tilewright.compile(model, (x,))
        child = os.fork()
        if child == 0:
            signal.alarm(60)  # ends a child that hangs
            os._exit(0 if tilewright.compile(model, (x,))(x).shape == (2, 4) else 1)
        assert os.waitpid(child, 0)[1] == 0
    """)


def test_fork_while_another_thread_traces(run_with_torch):
    """The child is told that it cannot, and waits for no thread that it has not, at its end neither."""
    assert run_with_torch("""
        import os, signal, sys, threading, torch, tilewright

        class Slow(torch.nn.Module):
            def forward(self, x):
                begun.set()
                ended.wait()
                return x + 1

        def in_child():
            child = os.fork()
            if child == 0:
                signal.alarm(60)  # ends a child that hangs
                try:
                    tilewright.compile(model, (x,))
                    os._exit(1)
                except tilewright.InputError as error:
                    sys.exit(2 if "was tracing" in error.message and error.code == "TW-PYTHON-0007" else 3)
            return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

        begun, ended, model, x = threading.Event(), threading.Event(), torch.nn.ReLU(), torch.randn(2, 3)
        tilewright.compile(model, (x,))
        thread = threading.Thread(target=lambda: tilewright.compile(Slow(), (x,)))
        thread.start()
        begun.wait()
        print(in_child())
        ended.set()
        thread.join()
        print(in_child())
    """) == "2\n1\n"


def test_interrupt_does_not_break_the_program(mlp):
    program = tilewright.compile(torch.nn.Linear(1024, 1024), (torch.randn(1024, 1024),), threads=1)
    x = torch.randn(1024, 1024)
    expected = program(x)
    with pytest.raises(KeyboardInterrupt), interrupted_after(0.1):
        end = time.monotonic() + 60
        while time.monotonic() < end:
            program(x)
    assert torch.equal(program(x), expected)


@pytest.mark.parametrize("forward", [
    "for _ in range(40): x = (x @ x).tanh()\n        return x",
    "return scan(lambda x, step: ((x @ x).tanh(), step.clone()), x, torch.arange(40))[0]",
], ids=["straight", "scan"])
def test_interrupt_ends_a_long_call(run_with_torch, forward):
    """Behind the dispatch that it has reached; the program can be called again."""
    assert run_with_torch(f"""
import os, signal, threading, time, torch, tilewright
from torch._higher_order_ops.scan import scan

class Long(torch.nn.Module):
    def forward(self, x):
        {forward}

def timed(call):
    begin = time.monotonic()
    call()
    return time.monotonic() - begin

x = torch.randn(1024, 1024)
program = tilewright.compile(Long(), (x,), threads=1)
expected, reached = program(x), []
once = timed(lambda: program(x))
signal.signal(signal.SIGINT, signal.default_int_handler)  # shells let what runs in the background ignore it

def work():
    threading.Timer(once / 4, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        program(x)
        reached.append("behind the call")
    except KeyboardInterrupt:
        reached.append("the handler")

took = timed(work)
print(reached, took < 0.8 * once or (took, once), torch.equal(program(x), expected))
""") == "['the handler'] True True\n"


def long_kernel(step, count):
    """A kernel of many operations, on which every part of the compiler works for long."""
    N, = tk.symbols("N")

    @tk.kernel
    def k(x: tk.In[tk.f32, N], y: tk.Out[tk.f32, N]):
        n, = tk.grid(tk.cdiv(N, 64))
        tile = first = tk.load(x, [n * 64], [64])
        for _ in range(count):
            tile = step(tile, first)
        tk.store(y, [n * 64], tile)

    return k


@pytest.mark.parametrize("target", ["cpu", "nvidia:sm_90a"])
@pytest.mark.parametrize("step, count", [(lambda tile, first: tile * 1.5 + first, 20000), (lambda tile, first: tk.tanh(tile), 3000)],
                         ids=["sums", "functions"])
def test_interrupt_ends_a_long_compilation(tmp_path, step, count, target):
    """No file is left behind."""
    k = long_kernel(step, count)
    k.text()
    for seconds in (0.3, 1, 2, 4):
        begin = time.monotonic()
        try:
            with interrupted_after(seconds):
                k.compile_to_file(tmp_path / "k.so", target=target)
            assert seconds > 0.3  # a fast machine may have compiled it before the later ones
            break
        except KeyboardInterrupt:
            assert time.monotonic() - begin < seconds + 10
            assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("target, count", [("cpu", 300), ("nvidia:sm_90a", 2500)])
def test_interrupt_ends_what_prints_a_long_kernel(capsys, target, count):
    k = long_kernel(lambda tile, first: tk.tanh(tile) + first, count)
    begin = time.monotonic()
    k.print(as_="assembly", target=target)
    once = time.monotonic() - begin
    capsys.readouterr()
    with pytest.raises(KeyboardInterrupt), interrupted_after(once / 4):
        k.print(as_="assembly", target=target)
    assert capsys.readouterr().out == ""  # it ended before there was a text


class Count(torch.nn.Module):
    """x, with 1 added until it is no longer less than the limit."""

    def forward(self, x, limit):
        return torch._higher_order_ops.while_loop(lambda x: (x < limit).all(), lambda x: (x + 1,), (x,))[0]


def test_interrupt_ends_a_loop_without_end():
    """Of a program and of a compiled function, which both can be called again."""
    x, few, endless = torch.zeros(2), torch.tensor(3.0), torch.tensor(float("inf"))
    program = tilewright.compile(Count(), (x, few), threads=1)
    for call in (program, torch.compile(Count(), backend="tilewright")):
        assert torch.equal(call(x, few), torch.full((2,), 3.0))
        for _ in range(2):
            begin = time.monotonic()
            with pytest.raises(KeyboardInterrupt), interrupted_after(0.3):
                call(x, endless)
            assert time.monotonic() - begin < 30  # x stays at 2**24, where 1 more is lost
            assert torch.equal(call(x, few), torch.full((2,), 3.0))


def test_interrupt_from_outside(tmp_path):
    """A Python that compiles one model after another ends by Ctrl-C as any does: with a traceback, and by the signal."""
    (tmp_path / "loops.py").write_text(textwrap.dedent("""
        import signal, torch, tilewright
        signal.signal(signal.SIGINT, signal.default_int_handler)
        layers = [torch.nn.Linear(a, a + 1) for a in range(16, 40)]
        exported = torch.export.export(torch.nn.Sequential(*layers), (torch.randn(3, 16),))
        while True:
            print("compiling", flush=True)
            tilewright.compile(exported)
    """))
    with subprocess.Popen([sys.executable, str(tmp_path / "loops.py")], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True) as process:
        assert process.stdout.readline() == "compiling\n"
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == -signal.SIGINT and "nanobind: leaked" not in errors
    assert errors.rstrip().endswith("KeyboardInterrupt") and "tilewright.compile(exported)" in errors, errors


class Layers(torch.nn.Module):
    """Many kernels: no two layers have the same sizes."""

    def __init__(self, count):
        super().__init__()
        sizes = range(16, 16 + count + 1)
        self.layers = torch.nn.ModuleList(torch.nn.Linear(a, b) for a, b in zip(sizes, sizes[1:]))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x).tanh().softmax(1)
        return x


def test_interrupt_ends_a_compilation(fresh, tmp_path, monkeypatch):
    """At once, and with no file left; afterwards all is as before. Times are of this process's own work: a machine that
    does other work as well says nothing of it."""
    compile_natively, part, times = _native.compile, 1.0, []

    def timed(*arguments, **options):
        begin = time.process_time()
        try:
            with interrupted_after(part * times[0]) if times else contextlib.nullcontext():
                return compile_natively(*arguments, **options)
        finally:
            times.append(time.process_time() - begin)

    monkeypatch.setattr(_native, "compile", timed)
    net, x = Layers(24).requires_grad_(False), torch.randn(3, 16)
    tilewright.compile(net, (x,))
    compiled = torch.compile(net, backend="tilewright")
    for part in (0.1, 0.4):
        with pytest.raises(KeyboardInterrupt):
            compiled(x)
        assert times.pop() < 0.9 * times[0]
        assert not [path for path in tmp_path.rglob("*") if path.is_file()]
    times.clear()
    torch.testing.assert_close(compiled(x), net(x))
    assert [path.suffix for path in tmp_path.rglob("*") if path.is_file()] == [".so"]


def test_other_handlers_of_signals_end_a_compilation():
    """Such as those of time limits: what they raise is raised."""
    def expired(*_):
        raise TimeoutError("expired")

    exported = torch.export.export(Layers(24), (torch.randn(3, 16),))
    before = signal.signal(signal.SIGALRM, expired)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        with pytest.raises(TimeoutError, match="expired"):
            tilewright.compile(exported)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("method", ["interpret", "check"])
def test_interrupt_ends_the_interpreter(method):
    M, N = tk.symbols("M N")

    @tk.kernel
    def long(x: tk.In[tk.f32, M, N], y: tk.Out[tk.f32, M, N]):
        m, = tk.grid(M)
        for _, s in tk.loop(10**6, t=tk.load(x, [m, 0], [1, N])):
            s.t = s.t * 1.5 + 0.5
        tk.store(y, [m, 0], s.t)

    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt), interrupted_after(0.2):
        getattr(long, method)(torch.randn(100, 100))
    assert time.monotonic() - begin < 60  # without, it takes an hour
