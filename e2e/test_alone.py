# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""test_alone.py tilewright: an artifact runs where there is the tool and nothing else, no compiler and no LLVM."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

CASE = pathlib.Path(__file__).resolve().parent / "models" / "small_mlp"
# The C and C++ libraries, and the JSON reader that Debian has no static library of.
ALLOWED = r"(libc|libm|libstdc\+\+|libgcc_s|libdl|libpthread|ld-linux-x86-64|libsimdjson)\.so\.\d+"


def run(*command, **keywords):
    return subprocess.run(command, capture_output=True, text=True, check=False, **keywords)


def main(tool: str) -> None:
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "--dynamic", tool).stdout)
    foreign = [name for name in needed if not re.fullmatch(ALLOWED, name)]
    assert needed and not foreign, foreign
    environment = {name: value for name, value in os.environ.items() if name != "TILEWRIGHT_COMPILER"}
    with tempfile.TemporaryDirectory(prefix="tilewright-alone-") as scratch:
        artifact = pathlib.Path(scratch, "small_mlp.so")
        compiled = run(tool, "compile", CASE / "small_mlp.pt2", "-o", artifact)
        assert compiled.returncode == 0, compiled.stderr
        moved = shutil.copy(tool, scratch)
        done = run(moved, "run", artifact, f"--input=@{CASE / 'c0s0_in0.npy'}", "--rtol=1e-5", "--atol=1e-5",
                   f"--expected-output=@{CASE / 'c0s0_out0.npy'}", env=environment)
        assert done.returncode == 0 and "agree" in done.stdout, done.stdout + done.stderr
        # The compiler really is out of reach, which is said in so many words.
        refused = run(moved, "compile", CASE / "small_mlp.pt2", "-o", artifact, env=environment)
        assert refused.returncode != 0 and "the compiler cannot be loaded" in refused.stderr, refused.stderr


main(*sys.argv[1:])
