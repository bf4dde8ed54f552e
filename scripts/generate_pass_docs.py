#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes docs/passes.md from the files lib/*/Passes.td; with --check, fails where it is stale.

    scripts/generate_pass_docs.py [--check] [--mlir-tblgen=/usr/lib/llvm-22/bin/mlir-tblgen]
"""
import argparse
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# In the order in which data flows.
FOLDERS = {
    "TorchToGraph": "From PyTorch's operators to the graph",
    "Graph": "On the graph",
    "Dispatch": "Forming dispatches",
    "GraphToTile": "From dispatches to tile programs",
    "Tile": "On tile programs",
    "Driver": "Lowering by a target",
}


def passes(tblgen, folder):
    command = [tblgen, "-gen-pass-doc", f"-I{pathlib.Path(tblgen).resolve().parent.parent}/include",
               f"-I{ROOT}/lib", ROOT / "lib" / folder / "Passes.td"]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return re.sub(r"<!--.*?-->\n", "", text, flags=re.DOTALL).strip()


def page(tblgen):
    parts = ["# Passes", "",
             "Generated from the files `lib/*/Passes.td` by `scripts/generate_pass_docs.py`. Levels stand in the order in",
             "which a model goes through them; what runs when is in `lib/Graph/Pipeline.cpp`, `lib/Dispatch/Pipeline.cpp`",
             "and `lib/Driver/Model/Pipeline.cpp`. `tilewright-opt --NAME` runs one pass alone.", ""]
    for folder, title in FOLDERS.items():
        parts += [f"## {title} (`lib/{folder}`)", "", passes(tblgen, folder), ""]
    return "\n".join(parts)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--mlir-tblgen", default="/usr/lib/llvm-22/bin/mlir-tblgen")
    arguments = parser.parse_args()
    target = ROOT / "docs" / "passes.md"
    text = page(arguments.mlir_tblgen)
    if not arguments.check:
        target.write_text(text)
    elif not target.exists() or target.read_text() != text:
        sys.exit("docs/passes.md is stale; run scripts/generate_pass_docs.py")


main()
