# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which dispatches of a trace (`profile --trace`) were cut into pieces for several threads: of others a run is one piece."""
import collections
import json
import sys

with open(sys.argv[1]) as file:
    events = [event for event in json.load(file)["traceEvents"] if event["ph"] == "X"]
runs = collections.Counter(event["name"] for event in events if event["tid"] == 0)
pieces = collections.Counter(event["name"] for event in events if event["tid"] > 0)
shared = sorted(name for name, count in runs.items() if pieces[name] > count)
print(f"{len(runs)} dispatches, shared: {', '.join(shared) or 'none'}")
