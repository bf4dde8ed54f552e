# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What this machine sustains, by `tilewright limits`: multiply-adds of f32 and bf16, and reads by level of the memory.
Peaks of data sheets say little about a clock under load, or about virtual machines."""
import json
import subprocess
import time

BITS = {32: "f32", 16: "bf16"}
SECONDS_BETWEEN_SAMPLES = 8  # one takes about a second, as long as the turns of a short row together


class Limits:
    """Of `threads` threads: `flops` (FLOP/s, by the elements' bits) and `read` (bytes/s, by level): the fastest of all
    samples, also those that `known` has from an earlier run."""

    def __init__(self, tool, threads, known=None):
        self.tool, self.threads = tool, threads
        known = known or {"flops": {}, "read": {}}
        self.flops = {bits: known["flops"].get(str(bits), 0.0) for bits in BITS}
        self.read, self.capacity, self.next_sample = dict(known["read"]), {}, 0.0
        self.sample()

    def facts(self):
        return {"flops": self.flops, "read": self.read}

    def sample(self):
        """Measures, unless it has a short while ago."""
        if time.monotonic() < self.next_sample:
            return
        done = subprocess.run([self.tool, "limits", f"--threads={self.threads}", "--json"], check=True, capture_output=True, text=True)
        found, = json.loads(done.stdout)
        for bits, name in BITS.items():
            self.flops[bits] = max(self.flops[bits], found["flops_per_second"][name])
        for read in found["reads"]:
            level = read["level"]
            self.read[level] = max(self.read.get(level, 0.0), read["bytes_per_second"])
            self.capacity[level] = read.get("capacity_bytes", float("inf"))
        self.next_sample = time.monotonic() + SECONDS_BETWEEN_SAMPLES

    def read_of(self, size):
        """Bytes per second of the nearest level that holds so many; 0 where nothing could be measured."""
        return self.read.get(next((level for level, capacity in self.capacity.items() if capacity >= size), None), 0.0)

    def text(self):
        reads = ", ".join(f"{level} {1e-9 * rate:.0f}" for level, rate in self.read.items())
        return f"{1e-9 * self.flops[32]:.0f} GFLOP/s of f32, {1e-9 * self.flops[16]:.0f} of bf16; reads, GB/s: {reads}"
