# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How kernels are traced: places, exceptions, threads, sessions without a source, annotations that are texts."""
import subprocess
import sys
import threading

import pytest

import tilewright.kernel as tk

M, N = tk.symbols("M N")
X, Y = tk.In[tk.f32, M, N], tk.Out[tk.f32, M, N]


def row(x):
    m, = tk.grid(M)
    return m, tk.load(x, [m, 0], [1, N])


@tk.kernel
def inner(x: X, y: Y):
    m, t = row(x)
    tk.store(y, [m, 0], t)


def test_place_of_an_operator_is_its_expression():
    def wrong(x: X, y: Y):
        _, t = row(x)
        a = 1; t + tk.zeros([7], tk.f32)  # noqa: E702

    with pytest.raises(tk.KernelError) as caught:
        tk.kernel(wrong).text()
    assert caught.value.column == 16
    innermost = caught.traceback[-1]
    assert innermost.lineno + 1 == caught.value.line  # the traceback ends in the author's line


def test_the_first_mistake_counts():
    """Also when the author's code catches it."""
    def wrong(x: X, y: Y):
        m, t = row(x)
        try:
            tk.sin(1)
        except tk.KernelError:
            pass
        tk.store(y, [m, 0], t)

    with pytest.raises(tk.KernelError, match="sin is not for i64"):
        tk.kernel(wrong).text()

    def wrong_at_the_end(x: X, y: Y):
        m, t = row(x)
        tk.store(y, [m, 0], t)
        try:
            tk.sin(1)
        except tk.KernelError:
            pass

    with pytest.raises(tk.KernelError, match="sin is not for i64"):
        tk.kernel(wrong_at_the_end).text()


def test_exceptions_of_the_author_pass():
    class Mine(Exception):
        pass

    def raises(x: X, y: Y):
        for k in tk.loop(N):
            raise Mine("why")

    with pytest.raises(Mine, match="why"):
        tk.kernel(raises).text()
    assert inner.text()

    def recurses_in_python(x: X, y: Y):
        def deeper(t):
            return deeper(t + 1)
        deeper(row(x)[1])

    with pytest.raises(RecursionError):
        tk.kernel(recurses_in_python).text()
    assert inner.text()


def test_outside_of_kernels():
    with pytest.raises(tk.KernelError) as caught:
        tk.zeros([1], tk.f32)
    assert caught.value.message == "zeros is called outside of a kernel"
    assert caught.value.help == "it belongs into a function with @tk.kernel, or one that such a function calls"
    with pytest.raises(tk.KernelError, match="== is called outside of a kernel"):
        M == N
    with pytest.raises(tk.KernelError, match="sizes have no /"):
        M / 2
    assert repr((M + 2 * N) // 3) == "(M + N * 2) floordiv 3" and repr(tk.cdiv(M, 4)) == "M ceildiv 4"
    assert tk.cdiv(7, 4) == 2


def test_values_of_another_trace():
    kept = []

    def first(x: X, y: Y):
        m, t = row(x)
        kept.append(t)
        tk.store(y, [m, 0], t)

    def second(x: X, y: Y):
        m, t = row(x)
        tk.store(y, [m, 0], t + kept[0])

    tk.kernel(first).text()
    with pytest.raises(tk.KernelError, match="belongs to another kernel"):
        tk.kernel(second).text()


def test_a_loop_that_another_kernel_goes_on_with():
    kept = []

    def first(x: X, y: Y):
        tk.grid(M)
        kept.append(tk.loop(N))
        next(kept[0])

    def second(x: X, y: Y):
        m, t = row(x)
        next(kept[0])
        tk.store(y, [m, 0], t)

    with pytest.raises(tk.KernelError, match="the body of the loop has not ended"):
        tk.kernel(first).text()
    with pytest.raises(tk.KernelError) as caught:
        tk.kernel(second).text()
    error = caught.value
    assert (error.message, error.help) == ("a loop or branch is ended in another kernel than it began in",
                                           "use it where it is made")
    assert error.line == first.__code__.co_firstlineno + 2
    assert inner.text()


def test_in_threads():
    errors = []

    def run(i):
        try:
            for _ in range(50):
                assert f"[{i}, N]" in inner.text(M=i)
        except BaseException as error:  # noqa: BLE001
            errors.append(error)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors


SESSION = """
import tilewright.kernel as tk
M, N = tk.symbols("M N")
@tk.kernel
def scale(x: tk.In[tk.f32, M, N], y: tk.Out[tk.f32, M, N]):
    m, = tk.grid(M)
    tk.store(y, [m, 0], tk.load(x, [m, 0], [1, N]) * 2)

print(scale.text().splitlines()[0])
@tk.kernel
def wrong(x: tk.In[tk.f32, M, N], y: tk.Out[tk.f32, M, N]):
    tk.exp(tk.iota([1]))

try:
    wrong.text()
except tk.KernelError as error:
    print(error.file, error.line, error.message)

"""


def test_in_a_session():
    """Without any source, as in a REPL."""
    made = subprocess.run([sys.executable, "-i", "-q"], input=SESSION, capture_output=True, text=True, check=True)
    assert "tile.kernel @scale" in made.stdout, made.stderr
    assert "<stdin> 3 exp is not for i64[1]" in made.stdout or "<python-input" in made.stdout


def test_annotations_as_text():
    names = {"__name__": "texts"}
    exec(compile("""from __future__ import annotations
import tilewright.kernel as tk
def make():
    Q = tk.symbol("Q")
    @tk.kernel
    def double(x: tk.In[tk.f32, Q], y: tk.Out[tk.f32, Q], *, B=4):
        q, = tk.grid(tk.cdiv(Q, B))
        tk.store(y, [q * B], tk.load(x, [q * B], [B]) * 2)
    return double
""", "texts.py", "exec"), names)
    assert "grid [Q ceildiv 4]" in names["make"]().text()


def test_no_leaks(run_python):
    """Traces, failed or not, leave nothing behind."""
    assert "exp is not for" in run_python(SESSION)
