#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures models and operators (cpu_workloads.py) beside PyTorch, Inductor, ONNX Runtime and IREE, in turns.

    bench/cpu.py [--threads=1,all] [--rows=GROUP|NAME,...] [--time=5] [--json=FILE] [--budget=S]
    bench/cpu.py --list
    bench/cpu.py page --json=FILE [--rows=...]
    bench/cpu.py pack FOLDER --tool=build/static/bin/tilewright

Numbers are checked first: ours are not further from f64 than twice as far as PyTorch's. Each contestant is a process of
its own, and all run in turns. A figure is the fastest tenth of a turn's calls, the least of all turns; medians say more
about the others on the machine. A ratio is the best peer's time over ours: above 1 none is faster. Of Inductor that
with frozen weights runs; a peer that is not installed, cannot run the model, or has wrong numbers is left out and named.
The limit of a row is the time that its multiply-adds take at the sustained peak, or that reading and writing its
parameters, inputs and results once takes from where they fit, whichever is longer; both are measured by the same run.
Workloads for AVX2 are as on a machine that has no more: our code is for x86-64-v3, and the peers are told so.

With --json, rows that FILE has already are not measured again, and with --budget none is begun after so many seconds:
a long table can be made in slices; `page` prints what FILE has as docs/ has it, all numbers of threads in a line. --prepare=8 saves waiting for compilers where there are cores and memory, which then
disturb each other: times to compile are those of --prepare=1. Other machines, which need PyTorch but no LLVM, get what
`pack` puts into FOLDER, the tool with a compiler that holds LLVM (cmake -DTW_STATIC_LLVM=ON); there, --tool=FOLDER/bin/tilewright.
"""
import argparse
import collections
import concurrent.futures
import fnmatch
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from cpu_contestants import AVX2, KINDS, REST_SECONDS, Ours, Peer, Unusable, export
from cpu_table import print_page, print_table

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Of what is packed: libraries that the tool alone is to find, and not what it is compared with.
FINDS_LIBRARIES = """#!/bin/sh
folder=$(dirname "$(readlink -f "$0")")/..
LD_LIBRARY_PATH=$folder/lib exec "$folder/libexec/tilewright" "$@"
"""
SYSTEM_LIBRARIES = re.compile(r"lib(c|m|pthread|dl|rt)\.so|ld-linux")


def in_turns(contestants, threads, limit, options):
    """The fastest tenth and the median of each."""
    times = {kind: [] for kind in contestants}
    turn = options.time / options.rounds / len(contestants)
    for _ in range(options.rounds):
        limit.sample()
        for kind, one in contestants.items():
            times[kind].append(one.time(threads, turn))
            time.sleep(REST_SECONDS)
    return {kind: (min(fast for fast, _ in each), statistics.median(median for _, median in each))
            for kind, each in times.items()}


class Prepared:
    """The contestants of a workload, ready to run."""

    def __init__(self, name, workload, counts, options):
        self.name, self.workload, self.left_out = name, workload, {}
        self.folder = tempfile.TemporaryDirectory()
        folder = pathlib.Path(self.folder.name)
        self.peers = {}
        try:
            self.facts = export(name, workload, folder)
            self.contestants = {"ours": Ours(options.tool, workload, folder, self.facts)}
            environment = AVX2 if workload.is_avx2 else {}
            self.peers = {kind: Peer(kind, name, folder, counts, environment) for kind in options.peers}
            for kind, peer in self.peers.items():
                self.wait_for(kind, peer, options.patience)
        except BaseException:
            self.stop()
            raise

    def wait_for(self, kind, peer, patience):
        try:
            peer.wait_until_ready(self.facts, patience)
            self.contestants[kind] = peer
        except Unusable as reason:
            self.left_out[kind] = str(reason)
            peer.stop()
            print(f"{self.name}: {kind} is left out: {reason}", file=sys.stderr)

    def row(self, threads, limit, options):
        times = in_turns(self.contestants, threads, limit, options)
        return row_of(self.name, self.workload, threads, self.facts, times, self.contestants) | {"left_out": self.left_out}

    def stop(self):
        for peer in self.peers.values():
            peer.stop()
        self.folder.cleanup()


def row_of(name, workload, threads, facts, times, contestants):
    ours = contestants["ours"]
    at = 0 if threads == 1 else 1
    return {"name": name, "group": workload.group, "threads": threads,
            "us": {kind: fast for kind, (fast, _) in times.items()},
            "median_us": {kind: median for kind, (_, median) in times.items()},
            "goal": (workload.one, workload.all)[at], "goal_of_limit": workload.of_limit[at], **facts,
            "our_error": ours.error, "compile_seconds": ours.compile_seconds,
            "ready_seconds": {kind: peer.ready_seconds for kind, peer in contestants.items() if kind != "ours"},
            "resident_bytes": ours.bench["resident_peak_bytes"], "planned_bytes": ours.bench["planned_peak_bytes"],
            "planned_bound_bytes": ours.bench["planned_bound_bytes"], "weight_bytes": ours.bench["weight_bytes"]}


def pack(folder, own_tool):
    """The tool and the compiler, stripped, with their libraries but for the C library's, which every system has."""
    own_tool = pathlib.Path(own_tool)
    for place in ("bin", "lib", "libexec"):
        (folder / place).mkdir(parents=True, exist_ok=True)
    (folder / "bin/tilewright").write_text(FINDS_LIBRARIES)
    (folder / "bin/tilewright").chmod(0o755)
    for place, path in (("libexec", own_tool), ("lib", own_tool.parent.parent / "lib" / "libtilewright-compiler.so")):
        subprocess.run(["strip", "-o", str(folder / place / path.name), str(path)], check=True)
        listed = subprocess.run(["ldd", str(path)], check=True, capture_output=True, text=True).stdout
        for line in listed.splitlines():
            library, _, rest = line.strip().partition(" => ")
            if rest.startswith("/") and not SYSTEM_LIBRARIES.match(library):
                shutil.copy(rest.split()[0], folder / "lib" / library)
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    print(f"{folder} has {size / 1e6:.1f} MB")


def chosen(options):
    """Names of groups and of workloads, with wildcards."""
    from cpu_workloads import workloads
    found = {name: workload for name, workload in workloads().items()
             if any(fnmatch.fnmatch(name, p) or workload.group == p for p in options.rows)}
    if not found:
        raise SystemExit(f"--rows={','.join(options.rows)}: no workload has such a name or group; --list shows them")
    return found


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    def names(text):
        return re.split(r",(?! )", text)  # some names have commas
    def positive(text):
        if int(text) < 1:
            raise argparse.ArgumentTypeError(f"{text} is not positive")
        return int(text)
    parser.add_argument("action", nargs="?", choices=["run", "page", "pack"], default="run")
    parser.add_argument("folder", nargs="?", type=pathlib.Path, help="for pack")
    parser.add_argument("--tool", default=str(ROOT / "build/dev/bin/tilewright"))
    parser.add_argument("--threads", default="1,all")
    parser.add_argument("--rows", default=["*"], type=names, help="groups and names (with wildcards) of workloads")
    parser.add_argument("--list", action="store_true", help="print groups and names")
    parser.add_argument("--peers", default=KINDS, type=names)
    parser.add_argument("--time", type=float, default=5, help="seconds for a row and a number of threads")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--patience", type=float, default=300, help="seconds that a peer may take to compile")
    parser.add_argument("--budget", type=float, default=float("inf"), help="seconds after which no row is begun")
    parser.add_argument("--prepare", type=positive, default=1, metavar="N",
                        help="workloads that are compiled at the same time before they are measured one by one")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE")
    return parser.parse_args()


def prepared(batch, counts, options):
    """The workloads of a batch, prepared at the same time; those that cannot be are named."""
    def prepare(item):
        try:
            return Prepared(*item, counts, options)
        except Unusable as reason:
            print(f"{item[0]}: {reason}", file=sys.stderr)
            return None

    with concurrent.futures.ThreadPoolExecutor(len(batch)) as pool:
        return [each for each in pool.map(prepare, batch) if each]


def run(options, rows, limits):
    """Measures what `rows` lacks, and adds it."""
    begin = time.monotonic()
    has = collections.defaultdict(set)
    for row in rows:
        has[row["name"]].add(row["threads"])
    waiting = [(name, workload) for name, workload in chosen(options).items() if not has[name] >= set(limits)]
    for first in range(0, len(waiting), options.prepare):
        if time.monotonic() - begin > options.budget:
            print("the time is over; the same command goes on", file=sys.stderr)
            return
        batch = prepared(waiting[first:first + options.prepare], list(limits), options)
        try:
            for each in batch:
                try:
                    add_rows(rows, [each.row(threads, limit, options) for threads, limit in limits.items()])
                except Unusable as reason:
                    print(f"{each.name}: {reason}", file=sys.stderr)
                if options.json:
                    options.json.write_text(json.dumps({"limits": {n: limit.facts() for n, limit in limits.items()}, "rows": rows}, indent=1))
        finally:
            for each in batch:
                each.stop()


def add_rows(rows, found):
    measured = {(row["name"], row["threads"]) for row in found}
    rows[:] = [row for row in rows if (row["name"], row["threads"]) not in measured] + found
    for row in found:
        print(f"{row['name']}, {row['threads']} threads: " + ", ".join(f"{kind} {us:.1f}" for kind, us in row["us"].items()) + " us", flush=True)


def main():
    options = arguments()
    if options.action == "pack":
        return pack(options.folder, options.tool)
    if options.list:
        print(*(f"{workload.group}: {name}" for name, workload in chosen(options).items()), sep="\n")
        return None
    from limits import Limits
    cores = len(os.sched_getaffinity(0))
    counts = list(dict.fromkeys(cores if each == "all" else int(each) for each in options.threads.split(",")))
    known = json.loads(options.json.read_text()) if options.json and options.json.exists() else {"limits": {}, "rows": []}
    limits = {threads: Limits(options.tool, threads, known["limits"].get(str(threads))) for threads in counts}
    names = list(chosen(options))
    if options.action == "page":
        by_name = [[row for row in known["rows"] if row["name"] == name and row["threads"] in limits] for name in names]
        return print_page([sorted(rows, key=lambda row: row["threads"]) for rows in by_name if rows], limits)
    run(options, known["rows"], limits)
    for threads, limit in limits.items():
        print_table([row for name in names for row in known["rows"] if row["name"] == name and row["threads"] == threads], limit)
    return None


if __name__ == "__main__":
    sys.exit(main())
