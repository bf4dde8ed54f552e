#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kills `tilewright tune` at random moments; nothing that was measured may be lost by it.

scripts/kill_tuner.py BUILD [COUNT] [SEED]: after each of COUNT kills (default 50) the database is whole and has
every measurement that it had, and the spec is the one of the last search that ended. Then a search on a machine of
another kind believes none of them.
"""
import pathlib
import random
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

MODEL = """\
func.func @main(%x: !torch.vtensor<[64,256],f32>, %y: !torch.vtensor<[256,64],f32>) -> !torch.vtensor<[64,64],f32> {
  %0 = torch.aten.mm %x, %y : !torch.vtensor<[64,256],f32>, !torch.vtensor<[256,64],f32> -> !torch.vtensor<[64,64],f32>
  return %0 : !torch.vtensor<[64,64],f32>
}
"""


def rows(database):
    """All measurements, if there is a database yet."""
    if not database.exists():
        return []
    with sqlite3.connect(database) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'measurements'").fetchone():
            return []
        return connection.execute("SELECT * FROM measurements ORDER BY rowid").fetchall()


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 50
    random.seed(int(sys.argv[3]) if len(sys.argv) > 3 else 0)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        model, database, spec = folder / "model.mlir", folder / "known.sqlite", folder / "found.mlir"
        model.write_text(MODEL)
        tune = [str(build / "bin/tilewright"), "tune", str(model), "--input=64x256xf32=random:1",
                "--input=256x64xf32=random:2", "--threads=1", f"--database={database}", "-o", str(spec)]
        ended = subprocess.run([*tune, "--budget=2s"], capture_output=True, text=True)
        assert ended.returncode == 0, ended.stderr
        text, known = spec.read_text(), rows(database)
        assert known
        for kill in range(count):
            search = subprocess.Popen([*tune, "--budget=60s", f"--seed={kill}"], stdout=subprocess.DEVNULL,
                                      stderr=subprocess.DEVNULL)
            time.sleep(random.uniform(0.1, 2))
            search.send_signal(signal.SIGKILL)
            if search.wait() == 0:  # it was faster
                text = spec.read_text()
            now = rows(database)
            assert now[:len(known)] == known, f"after kill {kill} measurements are lost"
            assert spec.read_text() == text, f"kill {kill} has changed the spec"
            known = now
        ended = subprocess.run([*tune, "--budget=1s"], capture_output=True, text=True)
        assert re.search(r"[1-9]\d* measurements come from", ended.stdout), ended.stdout
        compiled = subprocess.run([tune[0], "compile", str(model), f"--tuning-spec={spec}", "-o",
                                   str(folder / "x.so")], capture_output=True, text=True)
        assert compiled.returncode == 0, compiled.stderr
        with sqlite3.connect(database) as connection:
            connection.execute("UPDATE kernels SET machine = 'another'")
        ended = subprocess.run([*tune, "--budget=1s"], capture_output=True, text=True)
        assert ended.returncode == 0 and "measurements come from" not in ended.stdout, ended.stdout
        print(f"{count} kills, {len(known)} measurements, none lost")


if __name__ == "__main__":
    main()
