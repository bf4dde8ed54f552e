# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a machine sustains, by `tilewright limits`: multiply-adds of f32 and bf16, and reads by level of the memory, of
what lies together and of rows at random places.
Peaks of data sheets say little about a clock under load, or about virtual machines."""
import json
import subprocess
import time

BITS = {32: "f32", 16: "bf16"}
SECONDS_BETWEEN_SAMPLES = 8  # one takes about a second, as long as the turns of a short row together


class Limits:
    """Of `threads` threads: `flops` (FLOP/s, by the elements' bits), `read` (bytes/s, by level), `lookups` (the same of rows
    at random places) and `capacity` (bytes, of the levels but for the memory): the fastest of all samples, also those that `known`, the facts of an earlier run of
    the same machine, has. Nothing is measured before sample()."""

    def __init__(self, threads, known=None):
        known = known or {"flops": {}, "read": {}}
        self.threads, self.next_sample = threads, 0.0
        self.flops = {bits: known["flops"].get(str(bits), 0.0) for bits in BITS}
        self.read, self.capacity = dict(known["read"]), dict(known.get("capacity", {}))
        self.lookups = dict(known.get("lookups", {}))
        self.beside = {"read": {}, "lookups": {}}

    def facts(self):
        return {"flops": self.flops, "read": self.read, "capacity": self.capacity, "lookups": self.lookups}

    def begin_row(self):
        """Forgets what was measured beside the last one."""
        self.beside = {"read": {}, "lookups": {}}

    def sample(self, tool, always=False):
        """Measures, unless it has a short while ago and need not `always`. The fastest since begin_row() is `beside`, by
        the same names."""
        if not always and time.monotonic() < self.next_sample:
            return
        done = subprocess.run([tool, "limits", f"--threads={self.threads}", "--json"], check=False, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"{tool} limits ended with status {done.returncode}: {done.stderr.strip()}")
        found, = json.loads(done.stdout)
        for bits, name in BITS.items():
            self.flops[bits] = max(self.flops[bits], found["flops_per_second"][name])
        for read in found["reads"]:
            level = read["level"]
            for into in (vars(self), self.beside):
                for name, rate in (("read", read["bytes_per_second"]), ("lookups", read["lookup_bytes_per_second"])):
                    into[name][level] = max(into[name].get(level, 0.0), rate)
            if "capacity_bytes" in read:
                self.capacity[level] = read["capacity_bytes"]
        self.next_sample = time.monotonic() + SECONDS_BETWEEN_SAMPLES

    def has_capacities(self):
        """Files of earlier versions have none."""
        return all(level == "memory" or level in self.capacity for level in self.read)

    def rate_of(self, rates, size):
        """Of the nearest level that holds so many bytes; 0 where that is not known."""
        if not self.has_capacities():
            return 0.0
        return next((rate for level, rate in rates.items() if self.capacity.get(level, size) >= size), 0.0)

    def read_of(self, size, beside=None):
        return self.rate_of((beside or vars(self))["read"], size)

    def lookups_of(self, size, beside=None):
        return self.rate_of((beside or vars(self))["lookups"], size)

    def text(self):
        reads, lookups = (", ".join(f"{level} {1e-9 * rate:.3g}" for level, rate in rates.items()) for rates in (self.read, self.lookups))
        return f"{1e-9 * self.flops[32]:.0f} GFLOP/s of f32, {1e-9 * self.flops[16]:.0f} of bf16; reads, GB/s: {reads}; of rows at random places: {lookups}"
