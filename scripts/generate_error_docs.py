#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes docs/errors.md from lib/Support/Codes.def; with --check only compares, exits 1 when stale."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
EXIT = {"WrongInput": 1, "Usage": 2, "Unsupported": 3, "Internal": 4, "ResultsDiffer": 5}


def page():
    text = (ROOT / "lib/Support/Codes.def").read_text()
    rows = re.findall(r'TW_CODE\(\s*(\w+),\s*(\d+),\s*(\w+),\s*((?:"[^"]*"\s*)+)\)', text)
    out = ["# Error codes", "",
           "Generated from `lib/Support/Codes.def` by `scripts/generate_error_docs.py`. Codes are stable.", "",
           "| code | exit status | meaning |", "|---|---|---|"]
    for area, number, category, meaning in rows:
        words = "".join(re.findall(r'"([^"]*)"', meaning))
        out.append(f"| TW-{area}-{int(number):04} | {EXIT[category]} | {words} |")
    return "\n".join(out) + "\n"


def main():
    target = ROOT / "docs/errors.md"
    if "--check" in sys.argv:
        if not target.exists() or target.read_text() != page():
            print("docs/errors.md is stale; run scripts/generate_error_docs.py")
            return 1
        return 0
    target.write_text(page())
    return 0


if __name__ == "__main__":
    sys.exit(main())
