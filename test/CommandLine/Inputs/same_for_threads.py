# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""same_for_threads.py OUT.so THREADS,... SHAPE...: runs an artifact on random f32 with each number of threads, and fails if a
result is not the same bytes. All results are compared."""
import json
import pathlib
import subprocess
import sys
import tempfile

artifact, threads, *shapes = sys.argv[1:]
inputs = [f"--input={shape}xf32=random:{i}" for i, shape in enumerate(shapes)]
count = len(json.loads(subprocess.run(["tilewright", "inspect", "--json", artifact], check=True, capture_output=True).stdout)["outputs"])
first = None
for number in threads.split(","):
    with tempfile.TemporaryDirectory() as name:
        files = [pathlib.Path(name) / f"{i}.npy" for i in range(count)]
        subprocess.run(["tilewright", "run", artifact, f"--threads={number}", *inputs, *(f"--output=@{file}" for file in files)], check=True)
        results = [file.read_bytes() for file in files]
    first = first or results
    different = [i for i, result in enumerate(results) if result != first[i]]
    if different:
        sys.exit(f"results {different} with {number} threads are not the bytes of those with {threads.split(',')[0]}")
