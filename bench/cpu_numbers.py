# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How far results are from exact ones, and what is measured of each contestant. numpy is loaded by what needs it: tables, and their tests, do without."""

# A result may be so many times further from the exact one than PyTorch's is: ours by DESIGN's rule; of peers, whose
# numbers are their own, wrong ones are to be found.
OURS, PEERS = 2, 16
FEWEST_CALLS = 3  # in a turn, however long one takes
FLOOR = {32: 4 * 2.0**-23, 16: 4 * 2.0**-8}  # units in the last place, by the bits of an element


def exact(folder):
    """The results of a workload that cpu_worker.py left there."""
    import numpy
    with numpy.load(folder / "exact.npz") as found:
        return [found[at] for at in found.files]


def loaded(paths):
    import numpy
    return [numpy.load(path) for path in paths]


def error(values, expected):
    """The largest distance, relative to the largest element of all results: some are zero but for rounding, as a
    gradient can be."""
    import numpy
    scale = max((numpy.abs(x).max(initial=0) for x in expected), default=0) or 1.0
    if len(values) != len(expected) or any(x.size != y.size for x, y in zip(values, expected)):
        return float("inf")
    distance = max((numpy.abs(x.astype(numpy.float64).reshape(y.shape) - y).max(initial=0) for x, y in zip(values, expected)), default=0)
    return float(distance / scale) if numpy.isfinite(distance) else float("inf")


def largest(facts, times):
    """The largest error that is none, of a workload's `facts`."""
    return times * facts["error"] + FLOOR[facts["bits"]]
