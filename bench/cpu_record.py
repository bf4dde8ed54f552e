# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The file that bench/cpu.py keeps rows in: of one machine, with that machine's limits. What can change between rows, the
versions of what is compared and the date, each row has itself."""
import datetime
import importlib.metadata
import json
import os
import subprocess

from limits import Limits

PACKAGES = ("torch", "onnxruntime", "iree-base-compiler")
NEEDED = ("name", "group", "threads", "us", "median_us", "goal", "goal_of_limit", "flops", "bytes", "bits", "compile_seconds", "resident_bytes")


class Unreadable(Exception):
    """A file that is none of these."""


def doctor(tool):
    done = subprocess.run([tool, "doctor", "--json"], check=False, capture_output=True, text=True)
    try:
        return json.loads(done.stdout)
    except ValueError:
        raise SystemExit(f"{tool} doctor: {done.stderr.strip() or 'it prints no JSON'}") from None


def machine_of(facts):
    return {"cpu": facts["cpu"], "cpu_features": facts["cpu_features"], "cores": facts["threads"]}


def version(package):
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def origin_of(facts):
    """What a row that is measured now says of itself."""
    versions = {"tilewright": facts["tilewright"], **{name: version(name) for name in PACKAGES}}
    return {"date": datetime.date.today().isoformat(), "versions": {name: each for name, each in versions.items() if each}}


class Record:
    """`limits` by number of threads; `machine` is None where the file does not say, as of an earlier version."""

    def __init__(self, machine=None, limits=None, rows=None):
        self.machine, self.limits, self.rows = machine, limits or {}, rows or []

    @classmethod
    def read(cls, path):
        try:
            found = json.loads(path.read_text())
            for row in found["rows"]:
                lacking = [name for name in NEEDED if name not in row]
                if lacking:
                    raise Unreadable(f"a row has no '{lacking[0]}'")
                if "ours" not in row["us"]:
                    raise Unreadable(f"the row '{row['name']}' has no time of ours")
            limits = {int(threads): Limits(int(threads), facts) for threads, facts in found["limits"].items()}
            return cls(found.get("machine"), limits, found["rows"])
        except OSError as error:
            raise Unreadable(error.strerror) from None
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise Unreadable(f"it has not been written by this program, or is damaged ({type(error).__name__}: {error})") from None

    def write(self, path):
        """Never a part: a run that is interrupted leaves the file as it was."""
        limits = {threads: limit.facts() for threads, limit in self.limits.items()}
        new = path.with_name(path.name + ".new")
        new.write_text(json.dumps({"machine": self.machine, "limits": limits, "rows": self.rows}, indent=1))
        os.replace(new, path)

    def difference(self, machine):
        """What of another machine is different, with both values; empty if nothing is, or it is not known."""
        def text(value):
            return " ".join(value) if isinstance(value, list) else str(value)
        return "; ".join(f"{name} '{text(self.machine.get(name))}' there, '{text(value)}' here"
                         for name, value in machine.items() if self.machine and self.machine.get(name) != value)

    def lacks(self):
        """What a file of an earlier version does not say."""
        told = {"the machine": self.machine, "sizes of caches": all(limit.has_capacities() for limit in self.limits.values()),
                "look-ups": all(limit.lookups for limit in self.limits.values()) and all("looked_up_bytes" in row for row in self.rows),
                "dates and versions": all("date" in row and "versions" in row for row in self.rows)}
        return [name for name, is_there in told.items() if not is_there]
