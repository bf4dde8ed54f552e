# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What this machine sustains: multiply-adds in registers, of f32 and bf16, and reads of memory beyond the caches. Peaks
of data sheets say little about a clock under load, or about virtual machines."""
import concurrent.futures
import ctypes
import os
import pathlib
import subprocess
import tempfile
import time

import numpy

BYTES = 512 << 20  # read by all threads together
STEPS = 1_000_000  # of multiply-adds in a sample, about 7 ms


def _library():
    source = pathlib.Path(__file__).with_name("limits.cpp")
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "limits.so"
        subprocess.run([os.environ.get("CXX", "c++"), "-O3", "-march=native", "-shared", "-fPIC", source, "-o", path], check=True)
        library = ctypes.CDLL(str(path))
    for function in (library.multiplyAdd, library.multiplyAddBf16):
        function.argtypes, function.restype = [ctypes.c_int64], ctypes.c_double
    library.readAll.argtypes, library.readAll.restype = [ctypes.c_void_p, ctypes.c_size_t], ctypes.c_float
    return library


class Limits:
    """Of `threads` threads: `flops` (FLOP/s, by the elements' bits) and `read` (bytes/s), the fastest of all samples."""

    def __init__(self, threads):
        self.threads, self.library = threads, _library()
        self.data = numpy.ones(BYTES // 4, numpy.float32)  # zeros would be one page
        self.flops, self.read = {32: 0.0, 16: 0.0}, 0.0
        self.pool = concurrent.futures.ThreadPoolExecutor(threads)

    def sample(self):
        each = len(self.data) // self.threads
        at = [self.data.ctypes.data + 4 * each * i for i in range(self.threads)]
        for bits, function in ((32, self.library.multiplyAdd), (16, self.library.multiplyAddBf16)):
            start = time.perf_counter()
            done = sum(self.pool.map(lambda _: function(STEPS), at))
            self.flops[bits] = max(self.flops[bits], done / (time.perf_counter() - start))
        start = time.perf_counter()
        list(self.pool.map(lambda address: self.library.readAll(address, each), at))
        self.read = max(self.read, 4 * each * self.threads / (time.perf_counter() - start))
