# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The table of bench/cpu.py."""
import math
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


def print_lines(header, lines):
    for line in (header, ["---"] * len(header), *lines):
        print("| " + " | ".join(line) + " |")


def print_conclusion(rows, limits):
    ratios = [ratio(row["us"])[0] for row in rows if row["goal"] and len(row["us"]) > 1]
    missed = [row["name"] for row in rows if has_missed(row, of_limit(row, limits)[0])]
    if ratios:
        print(f"\ngeometric mean of best peer / ours, where there is a goal: {statistics.geometric_mean(ratios):.2f}")
    print(f"\nmissed: {'; '.join(missed) or 'none'}", flush=True)


def title(limits):
    return f"{limits.threads} thread{'s' * (limits.threads > 1)}: {limits.text()}"


def print_table(rows, limits):
    if not rows:
        return
    print(f"\n{title(limits)}\n")
    print_lines(HEADER, [cells(row, limits) for row in rows])
    print_conclusion(rows, limits)


def three_digits(number):
    return f"{number:.{max(0, 2 - math.floor(math.log10(number)))}f}"


def page_cells(counts, limits):
    """A line for all numbers of threads, of the same workload."""
    def of_each(text):
        return "; ".join(text(row) for row in counts)
    def milliseconds(row, kind):
        return three_digits(row["us"][kind] / 1e3) if kind in row["us"] else "-"
    def best(row, field):
        return f"{ratio(row[field])[0]:.2f}" if len(row[field]) > 1 else "-"
    def goal(row):
        both = [f"{row['goal']}"] * (row["goal"] > 0) + [f"{100 * row['goal_of_limit']:.0f} %"] * (row["goal_of_limit"] > 0)
        return ", ".join(both) or "-"
    def share(row):
        reached, binds = of_limit(row, limits[row["threads"]])
        return binds if reached is None else f"{100 * reached:.0f} % {binds}"
    kinds = ["ours", *(kind for kind in KINDS if any(kind in row["us"] for row in counts))]
    return {"workload": counts[0]["name"], **{kind: of_each(lambda row, kind=kind: milliseconds(row, kind)) for kind in kinds},
            "best / ours": of_each(lambda row: best(row, "us")), "of medians": of_each(lambda row: best(row, "median_us")),
            "goal": of_each(goal), "of the limit": of_each(share)}


def print_page(workloads, limits):
    """The table of a page in docs: a line for each workload, `workloads` lists its rows by number of threads; in ms."""
    lines = [page_cells(counts, limits) for counts in workloads]
    kinds = [kind for kind in KINDS if any(kind in line for line in lines)]
    header = ["workload", "ours", *kinds, "best / ours", "of medians", "goal", "of the limit"]
    print_lines(header, [[line.get(cell, "-") for cell in header] for line in lines])
    for threads, limit in limits.items():
        print(f"\n{title(limit)}")
        print_conclusion([row for counts in workloads for row in counts if row["threads"] == threads], limit)
