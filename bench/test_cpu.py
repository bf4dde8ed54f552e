# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of bench/cpu.py that measure nothing: `python3 -m unittest bench/test_cpu.py`. They need neither torch nor numpy."""
import contextlib
import io
import json
import pathlib
import sys
import tempfile
import types
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import cpu
import cpu_costs
import cpu_table
from cpu_contestants import Unusable
from cpu_record import Record
from limits import Limits

KNOWN = {"flops": {"32": 1e11, "16": 2e11}, "read": {"L1": 4e11, "memory": 1e10}, "capacity": {"L1": 1000}, "lookups": {"L1": 1e11, "memory": 1e9}}
HERE = {"cpu": "EPYC", "cpu_features": ["avx2", "avx512f"], "cores": 2}


def row(name="one", us=None, **more):
    us = us or {"ours": 10.0, "eager": 20.0}
    return {"name": name, "group": "g", "threads": 1, "us": us, "median_us": us, "goal": 1.5, "goal_of_limit": 0, "flops": 500_000,
            "bytes": 5000, "bits": 32, "compile_seconds": 1.0, "resident_bytes": 1e6} | more


def workload(**goals):
    return types.SimpleNamespace(**{"one": 0, "all": 0, "of_limit": (0, 0), "of_row": (), "needs": (), "sum_of": (), "times": 1, "compile": (0, 0)} | goals)


def printed(function, *arguments):
    """What it gives, and its output with its errors'."""
    text = io.StringIO()
    with contextlib.redirect_stdout(text), contextlib.redirect_stderr(text):
        try:
            given = function(*arguments)
        except SystemExit as end:
            given = end.code
    return given, text.getvalue() + (given if isinstance(given, str) else "")


class Conclusion(unittest.TestCase):
    def conclusion(self, *rows, known=None):
        return printed(cpu_table.print_conclusion, rows, Limits(1, known or KNOWN))[1]

    def test_goals_of_peers_and_of_limits(self):
        text = self.conclusion(row("met"), row("slow", {"ours": 10.0, "eager": 12.0}), row("far", goal=0, goal_of_limit=0.9))
        self.assertIn("missed, of 3 with a goal: slow; far\n", text)

    def test_a_row_without_a_peer_is_not_met(self):
        text = self.conclusion(row("alone", {"ours": 10.0}), row("met"))
        self.assertIn("not compared: alone (without a peer)", text)
        self.assertIn("missed, of 1 with a goal: none", text)

    def test_a_row_without_limits_is_not_met(self):
        old = {name: KNOWN[name] for name in ("flops", "read")}
        self.assertIn("not compared: far (without limits)", self.conclusion(row("far", goal=0, goal_of_limit=0.9), known=old))

    def test_what_is_known_is_enough_to_miss(self):
        self.assertIn("missed, of 1 with a goal: both", self.conclusion(row("both", {"ours": 10.0}, goal_of_limit=0.9)))

    def test_sums_are_of_peers_that_have_all_parts(self):
        parts = [row(name, us, sum_of=["convolutions of a net", 1.25])
                 for name, us in (("a", {"ours": 10.0, "eager": 12.0, "inductor": 1.0}), ("b", {"ours": 30.0, "eager": 38.0}))]
        self.assertIn("the sum of 2 convolutions of a net (2 rows): 1.25 (eager), goal 1.25\n", self.conclusion(*parts, row("other")))
        often = [parts[0] | {"times": 5}, parts[1]]
        self.assertIn("the sum of 6 convolutions of a net (2 rows): 1.23 (eager), goal 1.25\n", self.conclusion(*often))
        self.assertNotIn("the sum of", self.conclusion(row("other")))

    def test_goals_of_another_rows_bandwidth(self):
        chain = row("chain", goal=0, goal_of_row=["copy", 0.95])
        slow, fast = (row("copy", {"ours": us}, goal=0) for us in (9.6, 9.4))
        self.assertIn("missed, of 1 with a goal: none", self.conclusion(chain, slow))
        self.assertIn("missed, of 1 with a goal: chain", self.conclusion(chain, fast))
        self.assertIn("not compared: chain (without copy)", self.conclusion(chain, fast | {"threads": 2}))
        self.assertEqual(cpu_table.cells(chain, Limits(1, KNOWN), [fast])[8:10], ["95 % of copy", "50 % peak, 94 % of copy"])

    def test_another_row_in_the_same_turns_is_the_one_that_counts(self):
        chain = row("chain", goal=0, goal_of_row=["copy", 0.95], other={"us": 9.4, "bytes": 5000})
        self.assertIn("missed, of 1 with a goal: chain", self.conclusion(chain, row("copy", {"ours": 9.6}, goal=0)))
        self.assertIn("missed, of 1 with a goal: none", self.conclusion(chain | {"other": {"us": 9.6, "bytes": 5000}}))

    def test_rows_that_are_looked_up_are_read_at_random_places(self):
        bag = row("bag", goal=0, goal_of_limit=0.9, bytes=5000, looked_up_bytes=8000)
        self.assertEqual(cpu_table.share_text(bag, Limits(1, KNOWN), []), "85 % look-ups")
        self.assertIn("missed, of 1 with a goal: bag", self.conclusion(bag))
        self.assertIn("missed, of 1 with a goal: none", self.conclusion(bag | {"looked_up_bytes": 9000}))
        self.assertEqual(cpu_table.share_text(bag | {"looked_up_bytes": 1000}, Limits(1, KNOWN), []), "50 % peak")
        old = {name: KNOWN[name] for name in ("flops", "read", "capacity")}
        self.assertIn("not compared: bag (without limits)", self.conclusion(bag, known=old))

    def test_reads_beside_a_row_are_its_limit(self):
        reader = row("reader", goal=0, goal_of_limit=0.9, bytes=100_000)
        self.assertIn("missed, of 1 with a goal: none", self.conclusion(reader))
        beside = {"read": {level: 2 * rate for level, rate in KNOWN["read"].items()}, "lookups": KNOWN["lookups"]}
        self.assertIn("missed, of 1 with a goal: reader", self.conclusion(reader | {"beside": beside}))

    def test_programs_in_bf16_beside_those_in_f32(self):
        of_bert = workload(of_row=("BERT", 3.0, 0), needs=("amx-tile", "amx-bf16"))
        goal, none = (cpu.goals_of(of_bert, 1, features)["goal_of_row"] for features in (["avx2", "amx-bf16", "amx-tile"], ["avx2"]))
        narrow = row("narrow", {"ours": 4.0}, goal=0, goal_of_row=goal, our_error=0.0123, reports_error=True)
        single = row("BERT", {"ours": 11.0}, goal=0)
        self.assertIn("missed, of 1 with a goal: narrow", self.conclusion(narrow, single))
        self.assertIn("missed, of 1 with a goal: none", self.conclusion(narrow, single | {"us": {"ours": 12.1}}))
        self.assertIn("missed, of 0 with a goal: none", self.conclusion(narrow | {"goal_of_row": none}, single))
        self.assertIn("not compared: narrow (without BERT)", self.conclusion(narrow))
        self.assertEqual(cpu_table.share_text(narrow, Limits(1, KNOWN), [single]), "125 % peak, 275 % of BERT, error 1.2e-02")

    def test_cells_of_a_row_without_a_peer(self):
        self.assertEqual(cpu_table.cells(row(us={"ours": 10.0}), Limits(1, KNOWN), [])[2:8], ["-"] * 6)


class Goals(unittest.TestCase):
    def test_of_one_thread_and_of_all(self):
        chain = workload(one=1.3, all=1.2, of_limit=(0.9, 0), of_row=("copy", 0.95, 0.5), sum_of=("rows", 2, 3), times=4)
        self.assertEqual(cpu.goals_of(chain, 1, []), {"goal": 1.3, "goal_of_limit": 0.9, "goal_of_row": ("copy", 0.95), "sum_of": ("rows", 2), "times": 4, "goal_of_compile": (0, 0)})
        self.assertEqual(cpu.goals_of(chain, 2, []), {"goal": 1.2, "goal_of_limit": 0, "goal_of_row": ("copy", 0.5), "sum_of": ("rows", 3), "times": 4, "goal_of_compile": (0, 0)})

    def test_without_what_they_need_there_are_none(self):
        wide = workload(one=1.3, of_limit=(0.9, 0), of_row=("copy", 0.95, 0), needs=("amx-tile",))
        self.assertEqual(cpu.goals_of(wide, 1, ["amx-tile"])["goal"], 1.3)
        none = cpu.goals_of(wide, 1, ["avx2"])
        self.assertEqual([none[each] for each in ("goal", "goal_of_limit", "goal_of_row")], [0, 0, ("copy", 0)])

    def test_rows_of_a_file_have_those_of_now(self):
        rows = [row("one", goal=7), row("one", threads=2, goal=7), row("gone", goal=7)]
        self.assertEqual([each["goal"] for each in cpu.with_goals(rows, {"one": workload(one=1.5, all=1.25)}, [])], [1.5, 1.25, 7])


class Costs(unittest.TestCase):
    def costly(self, **more):
        return row("net", group="models", **({"compile_seconds": 1.0, "cached_seconds": 0.4, "goal_of_compile": [1.2, 0.5], "weights_seconds": 0.1,
                   "weight_bytes": 200e6, "planned_bytes": 1020, "planned_bound_bytes": 1000, "resident_bytes": 210e6} | more))

    def test_each_goal_that_is_missed_is_named_with_its_value(self):
        self.assertEqual(cpu_costs.missed(self.costly()), [])
        for change, text in (({"compile_seconds": 1.21}, "1.21 s to compile"), ({"cached_seconds": 0.51}, "0.51 s from the cache"),
                             ({"weights_seconds": 0.25}, "0.80 GB/s of weights"), ({"planned_bytes": 1030}, "planned peak 1.030 of the bound"),
                             ({"resident_bytes": 221e6}, "21.0 MB beyond weights and plan")):
            self.assertEqual(cpu_costs.missed(self.costly(**change)), [text])

    def test_what_is_not_known_or_too_small_to_tell_is_not_missed(self):
        self.assertEqual(cpu_costs.missed(self.costly(goal_of_compile=[0, 0], compile_seconds=9.0, weight_bytes=99e6, resident_bytes=1e8, weights_seconds=9)), [])

    def test_inputs_and_results_of_an_operator_may_be_large(self):
        self.assertEqual(cpu_costs.missed(self.costly(resident_bytes=900e6) | {"group": "rows"}), [])

    def test_single_operators_are_named_only_where_they_miss(self):
        text = printed(cpu_costs.print_costs, [self.costly(), self.costly(threads=2, resident_bytes=230e6), self.costly() | {"name": "conv", "group": "convolutions"}])[1]
        self.assertIn("| net | 1.00 | 1.2 | 0.400 | 0.5 | 200.0 | 2.00 | 1.020 | - | 30.0 |", text)
        self.assertNotIn("| conv |", text)
        self.assertIn("missed of these goals, by 2 rows: net (30.0 MB beyond weights and plan)", text)

    def test_files_of_earlier_versions_have_none(self):
        self.assertEqual(printed(cpu_costs.print_costs, [row()])[1], "")

    def compiled(self, has_goal, cache="found"):
        """By a tool that is slower at first; what it was told, and the facts."""
        calls, seconds = [], iter((3.0, 1.0, 2.0, 4.0, 9.0, 0.3, 0.2, 0.4, 0.5))

        def run(command, **_):
            calls.append(" ".join(command[2:]))
            report = {"seconds": next(seconds), "cache": cache, "time": {"stages": [{"name": "llvm", "ms": 7}, {"name": "weights", "ms": 250}]}}
            return types.SimpleNamespace(returncode=0, stdout=json.dumps(report), stderr="")

        with mock.patch("subprocess.run", run):
            return cpu_costs.compile_all(["tilewright"], pathlib.Path("/none"), has_goal), calls

    def test_the_fastest_of_several_counts_where_there_is_a_goal(self):
        facts, calls = self.compiled(True)
        self.assertEqual(facts, {"compile_seconds": 1.0, "weights_seconds": 0.25, "cached_seconds": 0.2})
        self.assertEqual(calls, ["--no-cache --time-report"] * 4 + ["--cache"] * 5)
        self.assertEqual(self.compiled(False), ({"compile_seconds": 3.0, "weights_seconds": 0.25}, ["--no-cache --time-report"]))

    def test_a_cache_that_has_nothing_is_an_error(self):
        with self.assertRaisesRegex(cpu_costs.Failed, "does not have"):
            self.compiled(True, cache="kept")


class LimitsOfAFile(unittest.TestCase):
    def test_the_nearest_level_that_holds_so_many(self):
        limits = Limits(1, KNOWN)
        self.assertEqual([limits.read_of(size) for size in (1000, 1001)], [4e11, 1e10])

    def test_without_sizes_of_caches_no_level_is_guessed(self):
        self.assertEqual(Limits(1, {"flops": {}, "read": KNOWN["read"]}).read_of(1), 0)

    def test_without_caches_the_memory_is_read(self):
        self.assertEqual(Limits(1, {"flops": {}, "read": {"memory": 1e10}}).read_of(1), 1e10)

    def test_facts_are_what_was_known(self):
        self.assertEqual(json.loads(json.dumps(Limits(1, KNOWN).facts())), KNOWN)


class Arguments(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def refused(self, *given):
        status, text = printed(cpu.arguments, "", [f"--tool={sys.executable}", *given])
        self.assertEqual(status, 2, text)
        self.assertNotIn("Traceback", text)
        return text.splitlines()[-1]

    def test_numbers(self):
        for bad in ("--threads=0", "--threads=foo", "--threads=", "--rounds=0", "--time=0", "--time=nan", "--budget=-1", "--prepare=x"):
            self.assertIn(bad.split("=")[0], self.refused(bad))

    def test_unknown_peers(self):
        self.assertIn("there is no peer 'foo', but eager, inductor, onnxruntime, iree", self.refused("--peers=eager,foo"))

    def test_actions_say_what_they_need(self):
        self.assertIn("page needs --json=FILE", self.refused("page"))
        self.assertIn("no such file", self.refused("page", f"--json={self.folder}/none.json"))
        self.assertIn("no such folder", self.refused(f"--json={self.folder}/none/x.json"))
        self.assertIn("pack needs a FOLDER", self.refused("pack"))
        self.assertIn("the action is page", self.refused("page", "x.json"))
        self.assertIn("no such program", self.refused("--tool=/none/tilewright"))

    def test_a_page_needs_no_tool(self):
        (self.folder / "a.json").write_text("{}")
        self.assertEqual(cpu.arguments("", ["page", f"--json={self.folder}/a.json", "--tool=/none"]).action, "page")

    def test_numbers_of_threads(self):
        options = cpu.arguments("", [f"--tool={sys.executable}", "--threads=4,all,1,all"])
        self.assertEqual(cpu.counts(options, 4), [4, 1])


class File(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name) / "bench.json"

    def write(self, *rows, machine=None):
        Record(machine, {1: Limits(1, KNOWN)}, [*rows]).write(self.path)

    def page(self, *more):
        with mock.patch("subprocess.run", side_effect=AssertionError("a page measures nothing")):
            return printed(cpu.page, cpu.arguments("", ["page", f"--json={self.path}", *more]))

    def measure(self, facts=HERE, failures=None):
        options = cpu.arguments("", [f"--tool={sys.executable}", f"--json={self.path}", "--threads=1"])
        found = {"cpu": facts["cpu"], "cpu_features": facts["cpu_features"], "threads": facts["cores"], "tilewright": "1"}
        with mock.patch("cpu.doctor", return_value=found), mock.patch("cpu.run", return_value=failures or {}), \
             mock.patch("cpu.chosen", return_value={"one": workload(one=1.25)}):
            return printed(cpu.measure, options)

    def test_a_page_is_of_the_file_alone(self):
        self.write(row("b", date="2026-11-28", versions={"torch": "2.13"}), row("a", date="2026-11-29", versions={}), machine=HERE)
        status, text = self.page()
        self.assertEqual(status, 0, text)
        self.assertIn("| b | 0.0100 | 0.0200 | 2.00 | 2.00 | 1.5 | 50 % peak | 1.00 | 1.00 |", text)
        self.assertIn("measured on EPYC, 2 cores; torch 2.13; 2026-11-28 to 2026-11-29", text)
        self.assertLess(text.index("| b |"), text.index("| a |"))
        self.assertNotIn("| a |", self.page("--rows=b")[1])

    def test_a_line_of_all_threads_has_one_artifact(self):
        self.write(row("b", resident_bytes=3e6), row("b", threads=2, resident_bytes=25e6))
        text = self.page()[1]
        self.assertIn("| workload | ours | eager | best / ours | of medians | goal | of the limit | compile, s | resident, MB |", text)
        self.assertIn(" | 1.00 | 25.0 |\n", text)

    def test_a_page_of_what_is_not_there(self):
        self.write(row())
        self.assertIn("it has no such rows", self.page("--threads=3")[0])
        self.assertIn("it has no such rows", self.page("--rows=none")[0])

    def test_old_files_are_read(self):
        old = {name: KNOWN[name] for name in ("flops", "read")}
        self.path.write_text(json.dumps({"limits": {"1": old}, "rows": [row()]}))
        status, text = self.page()
        self.assertEqual(status, 0)
        self.assertIn("does not tell the machine, sizes of caches, look-ups, dates and versions", text)
        self.assertIn("| not known |", text)
        self.assertIn("its rows are taken to be of this machine", self.measure()[1])

    def test_another_machine_is_refused_with_both_values(self):
        self.write(row(), machine=HERE | {"cpu": "Xeon", "cpu_features": ["avx2"]})
        text = self.measure()[1]
        self.assertIn("cpu 'Xeon' there, 'EPYC' here; cpu_features 'avx2' there, 'avx2 avx512f' here; name another file", text)
        self.write(row(), machine=HERE)
        self.assertEqual(self.measure()[0], 0)

    def test_damaged_files_are_named(self):
        for text in ("", "{", "[]", '{"rows": []}', '{"limits": {"x": {}}, "rows": []}', '{"limits": {}, "rows": [3]}',
                     json.dumps({"limits": {}, "rows": [row(us={"eager": 1.0})]}), json.dumps({"limits": {}, "rows": [{"name": "x"}]})):
            self.path.write_text(text)
            self.assertIn(f"--json={self.path}: ", str(self.page()[0]), text)

    def test_goals_of_an_older_file_are_mended(self):
        self.write(row(date="", versions={}), machine=HERE)
        self.measure()
        self.assertEqual(json.loads(self.path.read_text())["rows"][0]["goal"], 1.25)

    def test_what_could_not_be_measured_is_named_last_with_a_status(self):
        self.write(row(date="", versions={}), machine=HERE)
        status, text = self.measure(failures={"one": "our numbers are wrong: 0.1"})
        self.assertEqual(status, 1)
        self.assertEqual(text.splitlines()[-1], "not measured: one: our numbers are wrong: 0.1")


class Fake:
    """What Prepared is to run(): `bad` cannot be prepared, `ends` ends while it is measured."""

    def __init__(self, name, *_):
        if name == "bad":
            raise Unusable("our numbers are wrong: 0.1")
        self.name = name

    def row(self, threads, limit, options, features):
        if self.name == "ends":
            raise Unusable("it ended")
        return row(self.name, threads=threads, features=features)

    def stop(self):
        pass


class Run(unittest.TestCase):
    def test_rows_that_fail_are_given_and_others_are_measured(self):
        record, options = Record(), cpu.arguments("", [f"--tool={sys.executable}", "--prepare=2"])
        with mock.patch("cpu.Prepared", Fake), mock.patch("cpu.chosen", return_value=dict.fromkeys(["bad", "good", "ends"])):
            failures = printed(cpu.run, options, record, {1: None}, {"date": "today"}, ["avx2"])[0]
        self.assertEqual(failures, {"bad": "our numbers are wrong: 0.1", "ends": "it ended"})
        self.assertEqual([(each["name"], each["date"], each["features"]) for each in record.rows], [("good", "today", ["avx2"])])

    def test_a_peer_that_ends_is_left_out(self):
        class One:
            def __init__(self, *times):
                self.times = [*times]

            def time(self, threads, seconds):
                if not self.times:
                    raise Unusable("it ended")
                return self.times.pop(), 5.0

        contestants, options = {"ours": One(3, 2, 1), "iree": One(1), "eager": One(6, 5, 4)}, mock.Mock(time=1, rounds=3)
        with mock.patch("time.sleep"):
            times = cpu.in_turns(contestants, 1, mock.Mock(), options, lambda kind, reason: contestants.pop(kind))
            self.assertEqual(times, {"ours": (1, 5.0), "eager": (4, 5.0)})
            for own in ("ours", "other row"):
                with self.assertRaises(Unusable):
                    cpu.in_turns({own: One()}, 1, mock.Mock(), options, None)


if __name__ == "__main__":
    unittest.main()
