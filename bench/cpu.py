#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures models and operators (cpu_workloads.py) beside PyTorch, Inductor, ONNX Runtime and IREE, in turns.

    bench/cpu.py [--threads=1,all] [--rows=GROUP|NAME,...] [--time=5] [--json=FILE] [--budget=S]
    bench/cpu.py --list
    bench/cpu.py page --json=FILE [--rows=...]
    bench/cpu.py pack FOLDER --tool=build/static/bin/tilewright

Numbers are checked first: ours are not further from f64 than twice as far as PyTorch's. Each contestant is a process of
its own, and all run in turns. A figure is the fastest tenth of a turn's calls, the least of all turns; medians say more
about the others on the machine. Where calls take long there are three of them in a turn, and three turns at least. A
ratio is the best peer's time over ours: above 1 none is faster. Of Inductor that with frozen weights runs; a peer that
is not installed, cannot run the model, or has wrong numbers is left out and named. A row of ours that cannot be measured,
or has wrong numbers, is named at the end, and the status is 1.
The limit of a row is the time that its multiply-adds take at the sustained peak, or that reading and writing its
parameters, inputs and results once takes from where they fit, whichever is longer; of tables that are looked up in, the
rows, at random places. All are measured by the same run, and reads, where a goal is a share of them, in the row's own
turns: what memory gives is shared with others on the host, and changes from minute to minute.
Programs of --precision=bf16 show their error, and have the row of the same model in f32 as their goal. A row whose goal is
of another one has that one's program run in its own turns, too. Goals that are for
tile registers count on CPUs that have them.
Where there is a goal for compiling, this is done several times, and from a cache; a table shows it for all models, with the
memory that their processes had.
Workloads for AVX2 are as on a machine that has no more: our code is for x86-64-v3, and the peers are told so.

With --json, rows that FILE has already are not measured again (they get the goals of now), and with --budget none is begun
after so many seconds: a long table can be made in slices. FILE says what machine it is of, and takes no rows of another one. `page` measures
nothing: it prints what FILE has as docs/ has it, all numbers of threads in a line. --prepare=8 saves waiting for
compilers where there are cores and memory, which then disturb each other: times to compile are those of --prepare=1.
Other machines, which need PyTorch but no LLVM, get what `pack` puts into FOLDER, the tool with a compiler that holds
LLVM (cmake -DTW_STATIC_LLVM=ON); there, --tool=FOLDER/bin/tilewright.
"""
import collections
import concurrent.futures
import dataclasses
import fnmatch
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from cpu_arguments import arguments, counts
from cpu_costs import print_costs
from cpu_contestants import AVX2, OTHER, OWN, REST_SECONDS, Ours, Peer, Unusable, export
from cpu_record import Record, Unreadable, doctor, machine_of, origin_of
from cpu_table import origin, print_page, print_table
from limits import Limits

FEWEST_ROUNDS = 3
LONG_ROW = 5  # times the time that a row is to take: then it has no more rounds than these

# Of what is packed: libraries that the tool alone is to find, and not what it is compared with.
FINDS_LIBRARIES = """#!/bin/sh
folder=$(dirname "$(readlink -f "$0")")/..
LD_LIBRARY_PATH=$folder/lib exec "$folder/libexec/tilewright" "$@"
"""
SYSTEM_LIBRARIES = re.compile(r"lib(c|m|pthread|dl|rt)\.so|ld-linux")


def in_turns(contestants, threads, limit, options, leave_out, has_limit=False):
    """The fastest tenth and the median of each. Peers that end meanwhile are given to `leave_out`. With a goal that is a
    share of the limit this is measured in each turn."""
    times = {kind: [] for kind in contestants}
    turn = options.time / options.rounds / len(contestants)
    end = time.monotonic() + LONG_ROW * options.time
    limit.begin_row()
    for done in range(options.rounds):
        if done >= FEWEST_ROUNDS and time.monotonic() > end:
            break
        limit.sample(options.tool, always=has_limit)
        for kind, one in [*contestants.items()]:
            try:
                times[kind].append(one.time(threads, turn))
            except Unusable as reason:
                if kind in OWN:
                    raise
                leave_out(kind, reason)
            time.sleep(REST_SECONDS)
    return {kind: (min(fast for fast, _ in times[kind]), statistics.median(median for _, median in times[kind]))
            for kind in contestants}


class Prepared:
    """The contestants of a workload, ready to run."""

    def __init__(self, name, workload, counts, options):
        self.name, self.workload, self.left_out = name, workload, {}
        self.folder = tempfile.TemporaryDirectory()
        folder = pathlib.Path(self.folder.name)
        self.peers = {}
        try:
            # Those that are prepared at the same time share the cores, or each waits for all others at every loop.
            threads = max(1, max(counts) // options.prepare)
            self.facts = export(name, workload, folder, threads)
            self.contestants = {"ours": Ours(options.tool, workload, folder, self.facts)}
            if workload.of_row:
                self.contestants[OTHER] = self.other(workload.of_row[0], folder, threads, options)
            environment = AVX2 if workload.is_avx2 else {}
            self.peers = {kind: Peer(kind, name, folder, counts, environment) for kind in options.peers}
            for kind, peer in self.peers.items():
                self.wait_for(kind, peer, options.patience)
        except BaseException:
            self.stop()
            raise

    def other(self, name, folder, threads, options):
        """Our artifact of the row that a goal is of, to run in the same turns. What compiling it costs its own row tells."""
        from cpu_workloads import workloads
        workload, folder = dataclasses.replace(workloads()[name], compile=(0, 0)), folder / OTHER
        folder.mkdir()
        self.other_facts = export(name, workload, folder, threads)
        return Ours(options.tool, workload, folder, self.other_facts)

    def wait_for(self, kind, peer, patience):
        try:
            peer.wait_until_ready(self.facts, patience)
            self.contestants[kind] = peer
        except Unusable as reason:
            self.leave_out(kind, reason)

    def leave_out(self, kind, reason):
        self.left_out[kind] = str(reason)
        self.contestants.pop(kind, None)
        self.peers[kind].stop()
        print(f"{self.name}: {kind} is left out: {reason}", file=sys.stderr)

    def row(self, threads, limit, options, features):
        goals = goals_of(self.workload, threads, features)
        has_limit = goals["goal_of_limit"] > 0
        times = in_turns(self.contestants, threads, limit, options, self.leave_out, has_limit)
        other = times.pop(OTHER, None)
        row = row_of(self.name, self.workload, threads, self.facts, times, self.contestants)
        beside = {"beside": limit.beside} if has_limit else {}
        beside |= {"other": {"us": other[0], "bytes": self.other_facts["bytes"]}} if other else {}
        return row | goals | {"left_out": self.left_out} | beside

    def stop(self):
        for peer in self.peers.values():
            peer.stop()
        self.folder.cleanup()


def goals_of(workload, threads, features):
    """What a row is to reach. Where the CPU lacks what the goals are for it has none, but still the share of another row."""
    at, is_meant = int(threads > 1), {*workload.needs} <= {*features}
    of_row = (workload.of_row[0], workload.of_row[1 + at] * is_meant) if workload.of_row else ()
    return {"goal": (workload.one, workload.all)[at] * is_meant, "goal_of_limit": workload.of_limit[at] * is_meant, "goal_of_row": of_row,
            "sum_of": (workload.sum_of[0], workload.sum_of[1 + at]) if workload.sum_of else (), "times": workload.times,
            "goal_of_compile": workload.compile}


def with_goals(rows, workloads, features):
    """The same rows: those that were measured with other goals have the ones of now."""
    return [row | goals_of(workloads[row["name"]], row["threads"], features) if row["name"] in workloads else row for row in rows]


def row_of(name, workload, threads, facts, times, contestants):
    ours = contestants["ours"]
    return {"name": name, "group": workload.group, "threads": threads,
            "us": {kind: fast for kind, (fast, _) in times.items()},
            "median_us": {kind: median for kind, (_, median) in times.items()},
            **facts, "our_error": ours.error, "reports_error": bool(workload.options), **ours.compiled,
            "ready_seconds": {kind: peer.ready_seconds for kind, peer in contestants.items() if kind not in OWN},
            "resident_bytes": ours.bench["resident_peak_bytes"], "planned_bytes": ours.bench["planned_peak_bytes"],
            "planned_bound_bytes": ours.bench["planned_bound_bytes"], "weight_bytes": ours.bench["weight_bytes"]}


def pack(folder, own_tool):
    """The tool and the compiler, stripped, with their libraries but for the C library's, which every system has."""
    own_tool = pathlib.Path(shutil.which(own_tool))
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


def is_meant(options, name, group):
    """By names of groups and of workloads, with wildcards."""
    return any(fnmatch.fnmatch(name, pattern) or group == pattern for pattern in options.rows)


def chosen(options):
    from cpu_workloads import workloads
    found = {name: workload for name, workload in workloads().items() if is_meant(options, name, workload.group)}
    if not found:
        raise SystemExit(f"--rows={','.join(options.rows)}: no workload has such a name or group; --list shows them")
    return found


def prepared(batch, threads, options, failures):
    """The workloads of a batch, prepared at the same time; those that cannot be are added to `failures`."""
    def prepare(item):
        try:
            return Prepared(*item, threads, options)
        except Unusable as reason:
            failures[item[0]] = str(reason)
            return None

    with concurrent.futures.ThreadPoolExecutor(len(batch)) as pool:
        return [each for each in pool.map(prepare, batch) if each]


def run(options, record, limits, about, features):
    """Measures what the record lacks, and adds it, with what `about` says of each row; the CPU has `features`. Gives the
    rows of ours that could not be measured, or are wrong, each with the reason."""
    begin = time.monotonic()
    has, failures = collections.defaultdict(set), {}
    for row in record.rows:
        has[row["name"]].add(row["threads"])
    waiting = [(name, workload) for name, workload in chosen(options).items() if not has[name] >= set(limits)]
    for first in range(0, len(waiting), options.prepare):
        if time.monotonic() - begin > options.budget:
            print("the time is over; the same command goes on", file=sys.stderr)
            break
        batch = prepared(waiting[first:first + options.prepare], list(limits), options, failures)
        try:
            for each in batch:
                try:
                    add_rows(record.rows, [each.row(threads, limit, options, features) | about for threads, limit in limits.items()])
                except Unusable as reason:
                    failures[each.name] = str(reason)
                if options.json:
                    record.write(options.json)
        finally:
            for each in batch:
                each.stop()
    return failures


def add_rows(rows, found):
    measured = {(row["name"], row["threads"]) for row in found}
    rows[:] = [row for row in rows if (row["name"], row["threads"]) not in measured] + found
    for row in found:
        print(f"{row['name']}, {row['threads']} threads: " + ", ".join(f"{kind} {us:.1f}" for kind, us in row["us"].items()) + " us", flush=True)


def read_record(options):
    """What --json has, or nothing yet."""
    if not options.json or not options.json.exists():
        return Record()
    try:
        record = Record.read(options.json)
    except Unreadable as reason:
        raise SystemExit(f"--json={options.json}: {reason}") from None
    if record.lacks():
        print(f"--json={options.json} is of an earlier version: it does not tell {', '.join(record.lacks())}", file=sys.stderr)
    return record


def page(options):
    """Of what the file has alone: it may be of another machine."""
    record = read_record(options)
    rows = [row for row in record.rows if is_meant(options, row["name"], row["group"])]
    has = sorted({row["threads"] for row in rows})
    wanted = counts(options, has[-1]) if options.threads and has else has
    if not has or not {*wanted} <= {*has}:
        raise SystemExit(f"--json={options.json}: it has no such rows, but {len(record.rows)} of {', '.join(map(str, has)) or 'other'} threads")
    rows = [row for row in rows if row["threads"] in wanted]
    by_name = collections.defaultdict(list)
    for row in sorted(rows, key=lambda row: row["threads"]):
        by_name[row["name"]].append(row)
    in_order = dict.fromkeys(row["name"] for row in rows)
    print_page([by_name[name] for name in in_order], {threads: record.limits.get(threads) or Limits(threads) for threads in wanted})
    print_costs(rows)
    print(f"\nmeasured on {origin(record.machine, rows)}")
    return 0


def measure(options):
    facts = doctor(options.tool)
    record, machine = read_record(options), machine_of(facts)
    difference = record.difference(machine)
    if difference:
        raise SystemExit(f"--json={options.json} is of another machine: {difference}; name another file")
    if record.rows and not record.machine:
        print(f"--json={options.json}: its rows are taken to be of this machine, too", file=sys.stderr)
    record.machine = machine
    threads = counts(options, len(os.sched_getaffinity(0)))
    limits = {count: record.limits.setdefault(count, Limits(count)) for count in threads}
    record.rows = with_goals(record.rows, chosen(options), facts["cpu_features"])
    failures = run(options, record, limits, origin_of(facts), facts["cpu_features"])
    if options.json:
        record.write(options.json)
    names = list(chosen(options))
    for count, limit in limits.items():
        print_table([row for name in names for row in record.rows if row["name"] == name and row["threads"] == count], limit)
    print_costs([row for name in names for row in record.rows if row["name"] == name and row["threads"] in limits])
    for name, reason in failures.items():
        print(f"not measured: {name}: {reason}", file=sys.stderr)
    return 1 if failures else 0


def main():
    options = arguments(__doc__)
    if options.list:
        print(*(f"{workload.group}: {name}" for name, workload in chosen(options).items()), sep="\n")
        return 0
    if options.action == "pack":
        return pack(options.folder, options.tool)
    return page(options) if options.action == "page" else measure(options)


if __name__ == "__main__":
    sys.exit(main())
