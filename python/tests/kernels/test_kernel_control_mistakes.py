# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Mistakes in loops, branches and conditions of kernels: what is said, and at which line."""
import math

import pytest
from kernel_mistakes import M, Mistakes, N, X, Y, row

import tilewright.kernel as tk

mistake = Mistakes()
KEPT = []  # loops that nobody ends
mistake.of_expressions(
    maximum_of_python=(lambda x, y, m, t: max(t, t),
        "a Tile is known only when the kernel runs, but a condition asks for it while the kernel is traced"),
    function_of_math=(lambda x, y, m, t: math.exp(t),
        "a Tile is known only when the kernel runs, but float(), or a function of math, asks for it while the kernel is "
        "traced", "tk.exp(x) is what math.exp is of numbers, and so on; tk.cast(x, tk.f32) converts"),
    floor_of_math=(lambda x, y, m, t: math.floor(t),
        "a Tile is known only when the kernel runs, but math.floor() asks for it while the kernel is traced",
        "write tk.floor(x)"),
    int_of_index=(lambda x, y, m, t: int(m),
        "an Index is known only when the kernel runs, but int() asks for it while the kernel is traced",
        "tk.cast(x, tk.i64) converts"),
    length_of_tile=(lambda x, y, m, t: len(t),
        "a Tile is known only when the kernel runs, but len() asks for it while the kernel is traced",
        "x.shape has the sizes of a tile, x.size(0) one of them"),
    float_of_size=(lambda x, y, m, t: float(N), "size N is not known while the kernel is traced"),
    branches=(lambda x, y, m, t: tk.branch(m == 0, lambda: t, lambda: None),
        "branch: the first function returns a value, but the second nothing",
        "both return the same: nothing, a value, or a tuple"),
    branch_types=(lambda x, y, m, t: tk.branch(m == 0, lambda: t, lambda: tk.sum(t, 1)),
        "branch: value 0 is f32[1, N] from the first branch, but f32[1, 1] from the second"),
    branch_on_number=(lambda x, y, m, t: tk.branch(tk.extract(tk.iota([1])), lambda: t, lambda: t),
        "the condition of branch is i64, but must be i1", "compare it: x != 0"),
)


@mistake("an Index is known only when the kernel runs, but a condition asks for it while the kernel is traced",
         "tk.select chooses between values, tk.when and tk.branch between what is done; conditions are joined by & | ~")
def condition_of_index(x: X, y: Y):
    m, = tk.grid(M)
    if m:  # here
        pass


@mistake("a Scalar is known only when the kernel runs, but a condition asks for it while the kernel is traced")
def condition(x: X, y: Y):
    m, = tk.grid(M)
    if m == 0:  # here
        pass


@mistake("an Index is known only when the kernel runs, but range(), or an index of a list, asks for it while the kernel "
         "is traced",
         "loops of the program are `for k in tk.loop(n)`; range() and lists unroll")
def range_of_index(x: X, y: Y):
    m, = tk.grid(M)
    for _ in range(m):  # here
        pass


@mistake("size N is not known while the kernel is traced", "loops of the program are `for k in tk.loop(N)`; "
         "ask size.is_constant before range(N) or int(N), or bind its symbols")
def range_of_size(x: X, y: Y):
    for _ in range(N):  # here
        pass


@mistake("a Tile is known only when the kernel runs, but `for`, or taking it apart, asks for it while the kernel is traced",
         "loops of the program are `for k in tk.loop(n)`; tk.slice takes a part of a tile")
def for_of_tile(x: X, y: Y):
    _, t = row(x)
    for _ in t:  # here
        pass


@mistake("a branch begins inside of itself", "make one for each: `with tk.when(condition):`")
def branch_in_itself(x: X, y: Y):
    m, t = row(x)
    branch = tk.when(m == 0)
    with branch:
        with branch:  # here
            tk.store(y, [m, 0], t)


@mistake("break, return or an exception leaves a loop while it is traced",
         "a loop runs all its iterations: its bounds say when it ends, and tk.select what an iteration gives")
def breaks(x: X, y: Y):
    m, t = row(x)
    for k in tk.loop(N):  # here
        break
    tk.store(y, [m, 0], t)


@mistake("break, return or an exception leaves a loop while it is traced")
def returns(x: X, y: Y):
    row(x)
    for k in tk.loop(N):  # here
        return


@mistake("break, return or an exception leaves a loop while it is traced")
def swallows(x: X, y: Y):
    m, t = row(x)
    try:
        for k in tk.loop(N):  # here
            raise ValueError
    except ValueError:
        pass
    tk.store(y, [m, 0], t)


@mistake("an exception leaves a branch while it is traced", "the body of tk.when is traced once, to its end")
def swallows_in_when(x: X, y: Y):
    m, t = row(x)
    try:
        with tk.when(m == 0):  # here
            raise ValueError
    except ValueError:
        pass
    tk.store(y, [m, 0], t)


@mistake("total is deleted, which a loop carries", "a loop carries the same values through all its iterations: set it, or leave it as it is")
def deleted_name(x: X, y: Y):
    tk.grid(M)
    for _, s in tk.loop(N, total=0.0):
        del s.total  # here


@mistake("the loop does not carry other", "it carries total: give its first value, tk.loop(..., other=...)")
def not_carried(x: X, y: Y):
    m, t = row(x)
    for k, s in tk.loop(N, total=t):
        s.other = t  # here


@mistake("the loop does not carry other")
def not_carried_read(x: X, y: Y):
    m, t = row(x)
    for k, s in tk.loop(N, total=t):
        s.other + 1  # here


@mistake("tile f32[1, N] of FILE:LINE belongs to the body of the loop at FILE:LINE, which has ended",
         "carry it: `for k, s in tk.loop(n, x=first)` has s.x after it; tk.branch gives back what its functions return")
def rebound(x: X, y: Y):
    m, t = row(x)
    for k in tk.loop(N):
        t = t + 1
    tk.store(y, [m, 0], t)  # here


@mistake("the body of the loop returns f32[1, 1] as value 0, but f32[1, N] is carried")
def other_type(x: X, y: Y):
    m, t = row(x)
    for k, s in tk.loop(N, total=t):
        s.total = tk.sum(t, 1)  # here


@mistake("a loop got 4 bounds", "say loop(end), loop(begin, end) or loop(begin, end, step)")
def bounds(x: X, y: Y):
    for k in tk.loop(0, 1, 2, 3):  # here
        pass


@mistake("the step of the loop is 0")
def no_step(x: X, y: Y):
    for k in tk.loop(0, N, 0):  # here
        pass


@mistake("the body of the loop has not ended",
         "loops of the program are `for k in tk.loop(n)`, branches `with tk.when(c):`")
def kept_open(x: X, y: Y):
    m, t = row(x)
    KEPT.append(tk.loop(N))  # here
    next(KEPT[-1])
    tk.store(y, [m, 0], t)


@mistake("the body of the loop has not ended, but what is around it ends",
         "loops of the program are `for k in tk.loop(n)`, and nothing else takes their next element")
def crossed(x: X, y: Y):
    for a in tk.loop(N):
        KEPT.append(tk.loop(N))  # here
        next(KEPT[-1])


@mistake("combine returns a Tile, but the loop carries total", "return a dict with a value for each name")
def combined(x: X, y: Y):
    m, t = row(x)
    for k, s in tk.loop(N, combine=lambda a, b: a.total + b.total, total=t):  # here
        pass


@mistake("combine returns a dict of sum, but the loop carries total")
def combined_names(x: X, y: Y):
    m, t = row(x)
    for k, s in tk.loop(N, combine=lambda a, b: {"sum": a.total + b.total}, total=t):  # here
        pass


@mistake("combine is 'sum'", "give a function of two states that returns a dict")
def combine_of_text(x: X, y: Y):
    m, t = row(x)
    for k, s in tk.loop(N, combine="sum", total=t):  # here
        pass


@mistake("commutative is 1", "say commutative=True beside combine=, a function of two states")
def commutative_number(x: X, y: Y):
    m, t = row(x)
    for k, s in tk.loop(N, combine=lambda a, b: {"total": a.total + b.total}, commutative=1, total=t):  # here
        pass


@mistake("commutative is said of a loop without combine", "say commutative=True beside combine=, a function of two states")
def commutative_alone(x: X, y: Y):
    m, t = row(x)
    for k, s in tk.loop(N, commutative=True, total=t):  # here
        pass


@mistake("this loop has a combine, but stands in the body of the loop")
def inner_combine(x: X, y: Y):
    m, t = row(x)
    for k in tk.loop(N):
        for n, s in tk.loop(N, combine=lambda a, b: {"t": a.t + b.t}, t=t):  # here
            pass


@mistake("when got a Tile", "it takes one number: tk.extract(tile) gives the one in a tile of one element")
def when_tile(x: X, y: Y):
    with tk.when(tk.zeros([1], tk.i1)):  # here
        pass


@mistake("the begin of the loop got a float", "it takes an integer, a size or an Index; tk.extract(tile) gives the "
                                              "number in a tile of one element")
def float_bound(x: X, y: Y):
    for k in tk.loop(0.5, N):  # here
        pass


@mistake("the kernel has more than 100000 operations",
         "loops of Python are unrolled while the kernel is traced: does this one end? Loops of the program are "
         "`for k in tk.loop(n)`")
def endless(x: X, y: Y):
    _, t = row(x)
    while True:
        t = t + 1  # here


@mistake("the kernel has more than 100000 operations",
         "loops of Python are unrolled while the kernel is traced: does this one end? Loops of the program are "
         "`for k in tk.loop(n)`")
def endless_of_sizes(x: X, y: Y):
    n = M
    while True:
        n = n + 1  # here


@mistake("the kernel has more than 100000 operations")
def endless_of_indices(x: X, y: Y):
    m, = tk.grid(M)
    while True:
        m = m * 1  # here


@mistake("a loop that has run runs again", "make one for each: `for k in tk.loop(n)`")
def a_loop_twice(x: X, y: Y):
    loop = tk.loop(N)  # here
    for _ in loop:
        pass
    for _ in loop:
        pass


@mistake("the kernel has more than 1000000 calls of the kernel language",
         "loops of Python are unrolled while the kernel is traced: does this one end? Loops of the program are "
         "`for k in tk.loop(n)`")
def endless_of_nothing(x: X, y: Y):
    _, t = row(x)
    while True:
        t = tk.cast(t, tk.f32)  # here


@mistake("the kernel nests more than 100 loops and branches",
         "loops of Python are unrolled while the kernel is traced: does this one end? Loops of the program are "
         "`for k in tk.loop(n)`")
def endless_nesting(x: X, y: Y):
    loops = []
    while True:
        loops.append(tk.loop(N))  # here
        next(loops[-1])


@pytest.mark.parametrize("name", mistake.names())
def test_mistake(name):
    mistake.check(name)
