# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fails where a report says that operators were fused, but no kernel computes both: taken_fusions.py REPORT.json"""
import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    report = json.load(file)
kernels = [set(dispatch["ops"].split(", ")) for dispatch in report["dispatches"]]
taken = [set(d["operators"]) for d in report["decisions"] if d["decision"] == "fuse" and d["taken"]]
computed = set().union(*kernels)  # others are views, which no kernel computes
wrong = [sorted(pair) for pair in taken if pair <= computed and not any(pair <= kernel for kernel in kernels)]
assert taken, "nothing was fused"
assert not wrong, f"said to be fused: {wrong}"
