#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes docs/errors.md from lib/Support/Codes.def and Advice.def; with --check only compares, exits 1 when stale."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
EXIT = {"WrongInput": 1, "Usage": 2, "Unsupported": 3, "Internal": 4, "ResultsDiffer": 5}


def text_of(literals):
    """What C++ string literals beside each other say."""
    return "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', literals)).replace('\\"', '"')


def rows(name, pattern):
    """What the macros of a table in lib/Support are given."""
    return re.findall(pattern, (ROOT / "lib/Support" / name).read_text())


def page():
    text = r'((?:"(?:[^"\\]|\\.)*"\s*)+)'
    advice = {(area, number): text_of(words)
              for area, number, words in rows("Advice.def", rf"TW_ADVICE\((\w+), (\d+),\s*{text}\)")}
    out = ["# Error codes", "",
           "Generated from `lib/Support/Codes.def` and `Advice.def` by `scripts/generate_error_docs.py`. Codes are stable.", "",
           "| code | exit status | meaning | what to do, where the error does not say more |", "|---|---|---|---|"]
    for area, number, category, words in rows("Codes.def", rf"TW_CODE\(\s*(\w+),\s*(\d+),\s*(\w+),\s*{text}\)"):
        out.append(f"| TW-{area}-{int(number):04} | {EXIT[category]} | {text_of(words)} | {advice[area, number]} |")
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
