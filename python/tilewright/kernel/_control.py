# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loops and branches of kernels as Python's for, with, and functions."""
from __future__ import annotations

from .. import _native
from .._native import kernel as _language

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any


class State:
    """What a loop carries, by name: in the body the values of this iteration, to be set to those of the next;
    after the loop its results."""

    def __init__(self, names: Sequence[str], values: Sequence[Any]) -> None:
        vars(self).update(zip(names, values))

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in vars(self):
            self._refuse(name)
        vars(self)[name] = value

    def __delattr__(self, name: str) -> None:
        _language._fail(f"{name} is deleted, which a loop carries",
                        "a loop carries the same values through all its iterations: set it, or leave it as it is")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        self._refuse(name)

    def _refuse(self, name: str) -> None:
        _language._fail(f"the loop does not carry {name}",
                        f"it carries {', '.join(vars(self)) or 'nothing'}: give its first value, "
                        f"tk.loop(..., {name}=...)")

    def __repr__(self) -> str:
        return f"State({', '.join(f'{name}={value}' for name, value in vars(self).items())})"


class loop:  # noqa: N801  it is used like range
    """Runs the body of a for statement for k = begin, begin + step, ... before end (after it, for a negative step).

        for k in tk.loop(N): ...                        # loop(end), loop(begin, end), loop(begin, end, step)
        for k, s in tk.loop(N, total=tk.zeros([1, 1], tk.f32)):
            s.total = s.total + tk.load(x, [m, k], [1, 1])
        tk.store(y, [m, 0], s.total)

    The body is traced once. What it changes from iteration to iteration is carried: given by name with its first
    value, an attribute of s. `combine(a, b)`, optional, gives a dict of what two parts of the range, in order, make
    together; then workers may share the loop. commutative=True says that the parts may come in any order.
    """

    def __init__(self, *bounds: Any, combine: Callable[[State, State], Any] | None = None, commutative: bool = False,
                 **carried: Any) -> None:
        self._loop = _language._Loop()
        if not 1 <= len(bounds) <= 3:
            self._loop.fail(f"a loop got {len(bounds)} bounds", "say loop(end), loop(begin, end) or loop(begin, end, step)")
        if combine is not None and not callable(combine):
            self._loop.fail(f"combine is {_native.shown(combine)}", "give a function of two states that returns a dict")
        if not isinstance(commutative, bool) or (commutative and combine is None):
            self._loop.fail(f"commutative is {_native.shown(commutative)}" if combine is not None else
                            "commutative is said of a loop without combine",
                            "say commutative=True beside combine=, a function of two states")
        self._commutative = commutative
        begin, end, step = (0, *bounds, 1) if len(bounds) == 1 else (*bounds, 1)[:3]
        self._range, self._combine = (begin, end, step), combine
        self._first, self._names, self._state = tuple(carried.values()), tuple(carried), None

    def __iter__(self) -> loop:
        if self._state is not None:
            self._loop.fail("a loop that has run runs again", "make one for each: `for k in tk.loop(n)`")
        return self

    def __next__(self) -> Any:
        if self._state is not None:
            self._end()
            raise StopIteration
        index, *values = self._loop.enter(*self._range, self._first, self._combine is not None)
        self._state = State(self._names, values)
        return (index, self._state) if self._names else index

    def _end(self) -> None:
        state, names = self._state, self._names
        combine = None if self._combine is None else self._combined
        values = self._loop.leave(tuple(vars(state)[name] for name in names), combine, self._commutative)
        vars(state).update(zip(names, values))

    def _combined(self, *values: Any) -> tuple[Any, ...]:
        count = len(self._names)
        made = self._combine(State(self._names, values[:count]), State(self._names, values[count:]))
        if isinstance(made, State):
            made = vars(made)
        if not isinstance(made, dict) or set(made) != set(self._names):
            got = f"a dict of {', '.join(map(str, made)) or 'nothing'}" if isinstance(made, dict) else \
                _native.described(made)
            self._loop.fail(f"combine returns {got}, but the loop carries {', '.join(self._names) or 'nothing'}",
                            "return a dict with a value for each name")
        return tuple(made[name] for name in self._names)


class when:  # noqa: N801  it is used like a statement
    """Runs the body of a with statement, which stores something, where a condition holds: `with tk.when(m == 0):`."""

    def __init__(self, condition: Any) -> None:
        self._when = _language._When()
        self._condition = condition

    def __enter__(self) -> None:
        self._when.enter(self._condition)

    def __exit__(self, kind: Any, *_: Any) -> None:
        if kind is None:
            self._when.leave()
        else:
            self._when.leave_early()


def branch(condition: Any, then: Callable[[], Any], otherwise: Callable[[], Any]) -> Any:
    """What one of two functions gives: nothing, a value, or a tuple of values, the same kinds of both."""
    forms: list[Any] = []
    for body in (then, otherwise):
        if not callable(body):
            _language._fail(f"branch got {_native.shown(body)}", "give two functions without arguments: what they return is "
                            "what the branch gives")

    def values_of(body: Callable[[], Any]) -> Callable[[], tuple[Any, ...]]:
        def run() -> tuple[Any, ...]:
            made = body()
            forms.append("nothing" if made is None else f"a tuple of {len(made)}" if isinstance(made, tuple)
                         else "a value")
            if len(forms) == 2 and forms[0] != forms[1]:
                _language._fail(f"branch: the first function returns {forms[0]}, but the second {forms[1]}",
                                "both return the same: nothing, a value, or a tuple")
            return () if made is None else made if isinstance(made, tuple) else (made,)
        return run

    results = _language._branch(condition, values_of(then), values_of(otherwise))
    return None if forms[0] == "nothing" else results[0] if forms[0] == "a value" else results
