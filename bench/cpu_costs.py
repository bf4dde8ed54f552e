# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What programs of bench/cpu.py cost beside the time of calls, compiling and memory, against the goals of these."""
import json
import os
import subprocess

from cpu_table import print_lines, three_digits

TIMES = 4  # that a program is compiled where there is a goal; the fastest counts
# Goals of each row, but that of bytes beyond weights and plan, which is of models: operators have little beside inputs and results.
MOST_OF_BOUND = 1.02  # planned peak over the most bytes that live together
MOST_BEYOND = 20e6  # bytes of the process beyond weights and plan
LEAST_WRITTEN, LARGE = 1e9, 100e6  # bytes of weights packed and written in a second, where there are as many
MODELS = ("models", "training", "precision")  # groups; those of single operators are told where they miss
HEADER = ["model", "compile, s", "goal", "from the cache, s", "goal", "weights, MB", "written, GB/s", "planned peak / bound", "inputs and results, MB",
          "resident beyond weights and plan, MB"]


class Failed(Exception):
    """The tool's last line."""


def compile_once(command, folder, *options):
    """What `compile --json` says. The cache, if it is used, is the folder's own."""
    environment = os.environ | {"TILEWRIGHT_CACHE": str(folder / "cache")}
    done = subprocess.run([*command, "--json", *options], capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        raise Failed((done.stderr.strip().splitlines() or ["it failed"])[-1])
    return json.loads(done.stdout)


def compile_all(command, folder, has_goal):
    """The artifact is compiled by `command`. Where there is a goal several times, and then from a cache; how long it took."""
    runs = [compile_once(command, folder, "--no-cache", "--time-report") for _ in range(TIMES if has_goal else 1)]
    fastest = min(runs, key=lambda run: run["seconds"])
    written = sum(stage["ms"] for stage in fastest["time"]["stages"] if stage["name"] == "weights") / 1e3
    facts = {"compile_seconds": fastest["seconds"], "weights_seconds": written}
    if has_goal:
        cached = [compile_once(command, folder, "--cache") for _ in range(1 + TIMES)][1:]
        if {run["cache"] for run in cached} != {"found"}:
            raise Failed("the cache does not have what was compiled into it")
        facts["cached_seconds"] = min(run["seconds"] for run in cached)
    return facts


def merged(rows):
    """One of each name: an artifact is the same for all numbers of threads, and memory the most of them."""
    found = {}
    for row in rows:
        before = found.setdefault(row["name"], row)
        if row["resident_bytes"] > before["resident_bytes"]:
            found[row["name"]] = row
    return [row for row in found.values() if "planned_bytes" in row]


def beyond(row):
    return row["resident_bytes"] - row["weight_bytes"] - row["planned_bytes"]


def of_bound(row):
    return row["planned_bytes"] / row["planned_bound_bytes"] if row["planned_bound_bytes"] else 1.0


def written(row):
    """Bytes per second; nothing where it is not known, or too little to tell."""
    seconds = row.get("weights_seconds")
    return row["weight_bytes"] / seconds if seconds and row["weight_bytes"] >= LARGE else None


def missed(row):
    """What a row misses, each with its value."""
    cold, cached = row.get("goal_of_compile") or (0, 0)
    rate, again = written(row), row.get("cached_seconds", 0)
    checks = [(cold and row["compile_seconds"] > cold, f"{row['compile_seconds']:.2f} s to compile"),
              (cached and again > cached, f"{again:.2f} s from the cache"),
              (rate is not None and rate < LEAST_WRITTEN, f"{(rate or 0) / 1e9:.2f} GB/s of weights"),
              (of_bound(row) > MOST_OF_BOUND, f"planned peak {of_bound(row):.3f} of the bound"),
              (beyond(row) > MOST_BEYOND and row["group"] in MODELS, f"{beyond(row) / 1e6:.1f} MB beyond weights and plan")]
    return [text for fails, text in checks if fails]


def cells(row):
    cold, cached = row.get("goal_of_compile") or (0, 0)
    rate, again, given = written(row), row.get("cached_seconds"), row.get("given_bytes")
    return [row["name"], three_digits(row["compile_seconds"]), str(cold or "-"), three_digits(again) if again else "-", str(cached or "-"),
            f"{row['weight_bytes'] / 1e6:.1f}", f"{rate / 1e9:.2f}" if rate else "-", f"{of_bound(row):.3f}",
            f"{given / 1e6:.1f}" if given is not None else "-", f"{beyond(row) / 1e6:.1f}"]


def print_costs(rows):
    """Of models a table, of all rows what they miss."""
    rows = merged(rows)
    models = [row for row in rows if row["group"] in MODELS]
    if models:
        print("\ncompiling, and memory\n")
        print_lines(HEADER, [cells(row) for row in models])
    found = [f"{row['name']} ({', '.join(missed(row))})" for row in rows if missed(row)]
    if rows:
        print(f"\nmissed of these goals, by {len(rows)} rows: {'; '.join(found) or 'none'}", flush=True)
