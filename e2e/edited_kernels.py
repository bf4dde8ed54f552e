#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gives a model its own kernels back: edited_kernels.py TOOL

Unchanged ones leave results as they are, bit for bit; one that adds 1 more shows in them, and `check`, whose
truth no kernel replaces, finds the difference."""
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
MODEL = HERE / "models/small_mlp/small_mlp.pt2"
TOOL = sys.argv[1]


def call(*arguments):
    done = subprocess.run([TOOL, *map(str, arguments)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def result(folder, name, *kernels):
    """The bytes of the output, and the report."""
    artifact, output = folder / f"{name}.so", folder / f"{name}.npy"
    report = call("compile", MODEL, "-o", artifact, "--report", *(f"--kernels={path}" for path in kernels))
    call("run", artifact, "--input=5x16xf32=random:1", f"--output=@{output}")
    return output.read_bytes(), report


def main():
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        call("compile", MODEL, "-o", folder / "own.so", f"--dump-to={folder / 'dumps'}")
        sources = sorted((folder / "dumps/kernels").glob("*.cpp"))
        assert len(sources) == 2, sources
        own, report = result(folder, "own")
        assert "replaces the kernel" not in report
        for form in (".cpp", ".mlir"):
            same, report = result(folder, "same", *(path.with_suffix(form) for path in sources))
            assert report.count("replaces the kernel") == 2, report
            assert same == own, f"unchanged kernels ({form}) change the result"
        text = (folder / "dumps/kernels/linear_relu.cpp").read_text()
        edited = folder / "edited.cpp"
        edited.write_text(text.replace("maximum(", "1.0 + maximum(", 1))
        assert edited.read_text() != text, text
        other, report = result(folder, "other", edited)
        assert f"{edited}: replaces the kernel linear_relu" in report, report
        assert other != own, "the edited kernel changes nothing"
        checked = subprocess.run([TOOL, "check", MODEL, f"--kernels={edited}", "--input=5x16xf32=random:1"],
                                 capture_output=True, text=True, check=False)
        assert checked.returncode == 5, f"the truth is edited, too: {checked.stdout}{checked.stderr}"
    return 0


if __name__ == "__main__":
    sys.exit(main())
