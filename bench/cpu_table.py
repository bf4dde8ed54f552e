# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The table of bench/cpu.py."""
import math
import statistics

KINDS = ("eager", "inductor", "onnxruntime", "iree")
COMPILE, RESIDENT = "compile, s", "resident, MB"
HEADER = ["workload", "ours, us", *KINDS, "best peer / ours", "of medians", "goal", "of the limit", COMPILE, RESIDENT]


def of_limit(row, limits):
    """Our share, and what binds; no share where the machine's limits are not known. Where reads were measured beside the
    row, it is of those."""
    looked_up, beside = row.get("looked_up_bytes", 0), row.get("beside")
    rates = (limits.flops[row["bits"]], limits.read_of(row["bytes"], beside),
             limits.lookups_of(looked_up, beside) if looked_up else 1)
    if not all(rates):
        return None, "not known"
    compute, reads, lookups = (amount / rate for amount, rate in zip((row["flops"], row["bytes"], looked_up), rates))
    binds = "peak" if compute > reads + lookups else "look-ups" if lookups > reads else "reads"
    return 1e6 * max(compute, reads + lookups) / row["us"]["ours"], binds


def ratio(times):
    """The best peer's time over ours, and which one it is; nothing without a peer."""
    us, kind = min(((us, kind) for kind, us in times.items() if kind != "ours"), default=(None, None))
    return (None, None) if kind is None else (us / times["ours"], kind)


def of_row(row, rows):
    """The other row that a goal is of, that goal, and our bytes per second over the other's: in the same turns, or as the
    other row has it in files of earlier versions. No share without it."""
    other, goal = row.get("goal_of_row") or ("", 0)
    rates = {each["name"]: each["bytes"] / each["us"]["ours"] for each in (*rows, row) if each["threads"] == row["threads"]}
    if row.get("other"):
        rates[other] = row["other"]["bytes"] / row["other"]["us"]
    return other, goal, rates[row["name"]] / rates[other] if other in rates else None


def verdict(row, limits, rows):
    """Whether a row misses a goal, and what it lacks to tell."""
    other, goal, reached = of_row(row, rows)
    goals = [(row["goal"], ratio(row["us"])[0], "a peer"), (row["goal_of_limit"], of_limit(row, limits)[0], "limits"), (goal, reached, other)]
    missed = any(reached is not None and reached < goal for goal, reached, _ in goals)
    return missed, [what for goal, reached, what in goals if goal and reached is None]


def share_text(row, limits, rows):
    share, binds = of_limit(row, limits)
    other, _, reached = of_row(row, rows)
    texts = [binds if share is None else f"{100 * share:.0f} % {binds}"]
    texts += [] if reached is None else [f"{100 * reached:.0f} % of {other}"]
    return ", ".join(texts + ([f"error {row['our_error']:.1e}"] if row.get("reports_error") else []))


def goal_text(row, unit=""):
    goals = [f"{row['goal']}"] * (row["goal"] > 0) + [f"{100 * row['goal_of_limit']:.0f} %{unit}"] * (row["goal_of_limit"] > 0)
    other, goal, _ = of_row(row, ())
    return ", ".join(goals + [f"{100 * goal:.0f} % of {other}"] * (goal > 0)) or "-"


def cells(row, limits, rows):
    best, kind = ratio(row["us"])
    ratios = [f"{best:.2f} ({kind})", f"{ratio(row['median_us'])[0]:.2f}"] if kind else ["-", "-"]
    peers = [f"{row['us'][kind]:.1f}" if kind in row["us"] else "-" for kind in KINDS]
    return [row["name"], f"{row['us']['ours']:.1f}", *peers, *ratios, goal_text(row, " of the limit"), share_text(row, limits, rows),
            f"{row['compile_seconds']:.2f}", f"{row['resident_bytes'] / 1e6:.0f}"]


def print_lines(header, lines):
    for line in (header, ["---"] * len(header), *lines):
        print("| " + " | ".join(line) + " |")


def times_of(row):
    """How often a row is in its sum. Files of earlier versions do not say: once, as their sums were."""
    return row.get("times", 1)


def sums(rows):
    """Of rows that are parts of a sum, each as often as it occurs: the sum's name, how many parts it has, by how many rows,
    the best peer's sum over ours, that peer, and the goal. Peers count that have measured all of them."""
    names = dict.fromkeys(tuple(row["sum_of"]) for row in rows if row.get("sum_of"))
    for name, goal in names:
        parts = [row for row in rows if tuple(row.get("sum_of", ())) == (name, goal)]
        kinds = [kind for kind in parts[0]["us"] if all(kind in row["us"] for row in parts)]
        us = {kind: sum(times_of(row) * row["us"][kind] for row in parts) for kind in kinds}
        yield name, sum(map(times_of, parts)), len(parts), *ratio(us), goal


def print_conclusion(rows, limits):
    """A row of which something is not known is neither met nor missed, unless it misses by what is known."""
    ratios = [ratio(row["us"])[0] for row in rows if row["goal"] and len(row["us"]) > 1]
    verdicts = {row["name"]: verdict(row, limits, rows) for row in rows if row["goal"] or row["goal_of_limit"] or of_row(row, ())[1]}
    missed = [name for name, (is_missed, _) in verdicts.items() if is_missed]
    unknown = [f"{name} (without {' and '.join(lacks)})" for name, (is_missed, lacks) in verdicts.items() if lacks and not is_missed]
    if ratios:
        print(f"\ngeometric mean of best peer / ours, where there is a goal: {statistics.geometric_mean(ratios):.2f}")
    for name, count, distinct, reached, kind, goal in sums(rows):
        print(f"\nthe sum of {count} {name} ({distinct} rows): {f'{reached:.2f} ({kind})' if kind else 'without a peer'}, goal {goal}")
    if unknown:
        print(f"\nnot compared: {'; '.join(unknown)}")
    print(f"\nmissed, of {len(verdicts) - len(unknown)} with a goal: {'; '.join(missed) or 'none'}", flush=True)


def origin(machine, rows):
    """What rows were measured on, with, and when, as far as the file says."""
    known = f"{machine['cpu']}, {machine['cores']} cores" if machine else "a machine that the file does not name"
    versions = sorted({f"{name} {version}" for row in rows for name, version in row.get("versions", {}).items()})
    dates = sorted({row["date"] for row in rows if "date" in row})
    return "; ".join(filter(None, (known, ", ".join(versions), " to ".join(dict.fromkeys(dates[:1] + dates[-1:])))))


def title(limits):
    return f"{limits.threads} thread{'s' * (limits.threads > 1)}: {limits.text()}"


def print_table(rows, limits):
    if not rows:
        return
    print(f"\n{title(limits)}\n")
    print_lines(HEADER, [cells(row, limits, rows) for row in rows])
    print_conclusion(rows, limits)


def three_digits(number):
    return f"{number:.{max(0, 2 - math.floor(math.log10(number)))}f}"


def page_cells(counts, limits, rows):
    """A line for all numbers of threads, of the same workload, whose one artifact takes about as much memory with each;
    `rows` are those of all workloads."""
    def of_each(text):
        return "; ".join(text(row) for row in counts)
    def milliseconds(row, kind):
        return three_digits(row["us"][kind] / 1e3) if kind in row["us"] else "-"
    def best(row, field):
        reached, kind = ratio(row[field])
        return f"{reached:.2f}" if kind else "-"
    kinds = ["ours", *(kind for kind in KINDS if any(kind in row["us"] for row in counts))]
    return {"workload": counts[0]["name"], **{kind: of_each(lambda row, kind=kind: milliseconds(row, kind)) for kind in kinds},
            "best / ours": of_each(lambda row: best(row, "us")), "of medians": of_each(lambda row: best(row, "median_us")),
            "goal": of_each(goal_text), "of the limit": of_each(lambda row: share_text(row, limits[row["threads"]], rows)),
            COMPILE: three_digits(max(row["compile_seconds"] for row in counts)),
            RESIDENT: three_digits(max(row["resident_bytes"] for row in counts) / 1e6)}


def print_page(workloads, limits):
    """The table of a page in docs: a line for each workload, `workloads` lists its rows by number of threads; in ms."""
    rows = [row for counts in workloads for row in counts]
    lines = [page_cells(counts, limits, rows) for counts in workloads]
    kinds = [kind for kind in KINDS if any(kind in line for line in lines)]
    header = ["workload", "ours", *kinds, "best / ours", "of medians", "goal", "of the limit", COMPILE, RESIDENT]
    print_lines(header, [[line.get(cell, "-") for cell in header] for line in lines])
    for threads, limit in limits.items():
        print(f"\n{title(limit)}")
        print_conclusion([row for row in rows if row["threads"] == threads], limit)
