# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What this machine sustains: multiply-adds of f32 and bf16 (in tile registers, where there are any), and reads by level
of the memory. Peaks of data sheets say little about a clock under load, or about virtual machines."""
import concurrent.futures
import ctypes
import os
import pathlib
import subprocess
import tempfile
import time

import numpy

MEMORY_BYTES = 512 << 20  # read by all threads together
SLICES = 8  # of a sample: others on the machine disturb short ones less often
STEPS = 150_000  # of multiply-adds in a slice, about 1 ms
LEVEL_SECONDS = 0.001  # for a slice of a cache: short reads are repeated
CACHES = pathlib.Path("/sys/devices/system/cpu/cpu0/cache")


def _library():
    source = pathlib.Path(__file__).with_name("limits.cpp")
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "limits.so"
        subprocess.run([os.environ.get("CXX", "c++"), "-O3", "-march=native", "-shared", "-fPIC", source, "-o", path], check=True)
        library = ctypes.CDLL(str(path))
    for function in (library.multiplyAdd, library.multiplyAddBf16):
        function.argtypes, function.restype = [ctypes.c_int64], ctypes.c_double
    library.readAll.argtypes, library.readAll.restype = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int64], ctypes.c_float
    return library


def _cores(text):
    """How many a list such as 0-3,8 has."""
    ranges = [part.split("-") for part in text.strip().split(",")]
    return sum(int(each[-1]) - int(each[0]) + 1 for each in ranges)


def caches(threads):
    """Bytes that each level holds for so many threads."""
    found = {}
    for index in sorted(CACHES.glob("index*")):
        kind, level, size, shared = ((index / name).read_text().strip() for name in ("type", "level", "size", "shared_cpu_list"))
        if kind != "Instruction":
            found[f"L{level}"] = int(size.removesuffix("K")) * 1024 * -(-threads // _cores(shared))
    return found


class Limits:
    """Of `threads` threads: `flops` (FLOP/s, by the elements' bits) and `read` (bytes/s, by level): the fastest of all
    samples, also those that `known` has from an earlier run."""

    def __init__(self, threads, known=None):
        self.threads, self.library = threads, _library()
        known = known or {"flops": {}, "read": {}}
        self.flops = {bits: known["flops"].get(str(bits), 0.0) for bits in (32, 16)}
        self.capacity = caches(threads) | {"memory": float("inf")}
        self.read = {level: known["read"].get(level, 0.0) for level in self.capacity}
        self.data = numpy.ones(MEMORY_BYTES // 4, numpy.float32)  # zeros would be one page
        self.pool = concurrent.futures.ThreadPoolExecutor(threads)
        self.sample()

    def facts(self):
        return {"flops": self.flops, "read": self.read}

    def rate(self, function, addresses):
        """The sum of what it returns for each address, a thread for each, in a second."""
        start = time.perf_counter()
        done = sum(self.pool.map(function, addresses))
        return done / (time.perf_counter() - start)

    def sample(self):
        for number in range(SLICES):
            for bits, function in ((32, self.library.multiplyAdd), (16, self.library.multiplyAddBf16)):
                self.flops[bits] = max(self.flops[bits], self.rate(lambda _: function(STEPS), range(self.threads)))
            for level in self.capacity:
                self.read[level] = max(self.read[level], self.read_slice(level, number))

    def read_slice(self, level, number):
        """Of the memory another part each time; of a cache half: the rest is for what else runs."""
        part = len(self.data) // SLICES // self.threads
        count = int(min(self.capacity[level] / 8 / self.threads, part))
        times = 1 if level == "memory" else max(1, int(LEVEL_SECONDS * (self.read[level] or 1e10) / (4 * count * self.threads)))
        first = self.data.ctypes.data + (4 * part * self.threads * number if level == "memory" else 0)

        def read(address):
            self.library.readAll(address, count, times)
            return 4 * count * times
        return self.rate(read, [first + 4 * part * thread for thread in range(self.threads)])

    def read_of(self, size):
        """Bytes per second of the nearest level that holds so many."""
        return self.read[next(level for level, capacity in self.capacity.items() if capacity >= size)]

    def text(self):
        reads = ", ".join(f"{level} {1e-9 * rate:.0f}" for level, rate in self.read.items())
        return f"{1e-9 * self.flops[32]:.0f} GFLOP/s of f32, {1e-9 * self.flops[16]:.0f} of bf16; reads, GB/s: {reads}"
