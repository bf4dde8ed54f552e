# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The table of bench/cpu.py."""
import statistics

from cpu_contestants import KINDS

HEADER = ["workload", "ours, us", *KINDS, "best peer / ours", "of medians", "goal", "of the limit", "compile, s", "resident, MB"]


def of_limit(row, limits):
    """Our share, and what binds; no share where this machine's limits could not be measured."""
    if not limits.flops[row["bits"]] or not limits.read_of(row["bytes"]):
        return None, "not measured"
    compute = row["flops"] / limits.flops[row["bits"]]
    memory = row["bytes"] / limits.read_of(row["bytes"])
    return 1e6 * max(compute, memory) / row["us"]["ours"], "peak" if compute > memory else "reads"


def ratio(times):
    """The best peer's time over ours, and which one it is."""
    us, kind = min((us, kind) for kind, us in times.items() if kind != "ours")
    return us / times["ours"], kind


def has_missed(row, share):
    reached = ratio(row["us"])[0] if len(row["us"]) > 1 else float("inf")
    return reached < row["goal"] or (share is not None and share < row["goal_of_limit"])


def cells(row, limits):
    share, binds = of_limit(row, limits)
    reached = binds if share is None else f"{100 * share:.0f} % {binds}"
    ratios = ["-", "-"]
    if len(row["us"]) > 1:
        best, kind = ratio(row["us"])
        ratios = [f"{best:.2f} ({kind})", f"{ratio(row['median_us'])[0]:.2f}"]
    goals = [f"{row['goal']}"] * (row["goal"] > 0) + [f"{100 * row['goal_of_limit']:.0f} % of the limit"] * (row["goal_of_limit"] > 0)
    peers = [f"{row['us'][kind]:.1f}" if kind in row["us"] else "-" for kind in KINDS]
    return [row["name"], f"{row['us']['ours']:.1f}", *peers, *ratios, ", ".join(goals) or "-", reached,
            f"{row['compile_seconds']:.2f}", f"{row['resident_bytes'] / 1e6:.0f}"]


def print_table(rows, limits):
    if not rows:
        return
    print(f"\n{limits.threads} thread{'s' * (limits.threads > 1)}: {limits.text()}\n")
    for line in (HEADER, ["---"] * len(HEADER), *(cells(row, limits) for row in rows)):
        print("| " + " | ".join(line) + " |")
    ratios = [ratio(row["us"])[0] for row in rows if row["goal"] and len(row["us"]) > 1]
    missed = [row["name"] for row in rows if has_missed(row, of_limit(row, limits)[0])]
    if ratios:
        print(f"\ngeometric mean of best peer / ours, where there is a goal: {statistics.geometric_mean(ratios):.2f}")
    print(f"\nmissed: {'; '.join(missed) or 'none'}", flush=True)
