# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether many runs of the same calls give the same bytes."""

import pathlib
import tempfile
from collections.abc import Callable

# Bytes of arguments in one command: Linux takes 2 MiB, with the environment.
MOST_ARGUMENTS = 1 << 20


def arguments_of(inputs: list, labels: list, runs: range, folder: pathlib.Path) -> list[str]:
    """The arguments of consecutive runs of all calls in one process; each result is a file of its own."""
    arguments = []
    for run in runs:
        for step, specs in enumerate(inputs):
            arguments += ["--next"] if arguments else []
            arguments += ["--reset-state"] if step == 0 else []
            arguments += [f"--input={spec}" for spec in specs]
            arguments += [f"--output=@{result_of(folder, run, step, index)}" for index in range(len(labels[step]))]
    return arguments


def result_of(folder: pathlib.Path, run: int, step: int, index: int) -> pathlib.Path:
    return folder / f"{run}_{step}_{index}.npy"


def runs_at_once(inputs: list, labels: list, folder: pathlib.Path) -> int:
    """How many runs one process makes, each from the initial state on."""
    size = sum(len(text) + 16 for text in arguments_of(inputs, labels, range(100, 101), folder))
    return max(1, MOST_ARGUMENTS // size)


def problems(inputs: list, labels: list, count: int, execute: Callable[[list[str]], str | None], first: dict) -> list[str]:
    """What is wrong with `count` runs: the first result that is not the same bytes as that of the first run. `inputs` and
    `labels` have those of each call; `execute` makes a process run calls, and returns what it said if that failed.
    `first` keeps the results of the first run, for more of them: empty before all."""
    with tempfile.TemporaryDirectory(prefix="tilewright-bitwise-") as name:
        folder = pathlib.Path(name)
        at_once = runs_at_once(inputs, labels, folder)
        for begin in range(0, count, at_once):
            runs = range(begin, min(begin + at_once, count))
            failed = execute(arguments_of(inputs, labels, runs, folder))
            if failed:
                return [f"runs {runs[0] + 1} to {runs[-1] + 1}: {failed}"]
            differs = first_difference(labels, runs, folder, first)
            if differs:
                return [differs]
    return []


def first_difference(labels: list, runs: range, folder: pathlib.Path, first: dict) -> str | None:
    """Compares results with the `first` ones, which the first run fills in, and removes them."""
    for run in runs:
        for step, names in enumerate(labels):
            for index, label in enumerate(names):
                file = result_of(folder, run, step, index)
                found = file.read_bytes()
                file.unlink()
                want = first.setdefault((step, index), found)
                if found != want:
                    place = next((at for at, pair in enumerate(zip(found, want)) if pair[0] != pair[1]), len(want))
                    return f"{label}: run {run + 1} differs from the first one, from byte {place} of the file on"
    return None
