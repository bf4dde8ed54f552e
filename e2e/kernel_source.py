#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints kernels as source, compiles and traces that, and compares: kernel_source.py BUILD [--all] [MODEL ...]

Of each model every kernel that `compile --dump-to` writes, the kernels of examples/kernels, and kernels
that have each operation on elements with each dtype (kernel_operations.py). What a source traces to must be
the program that it was printed from: the same text after tile-simplify and tile-order. Without --all the
models of SAMPLE, or those that are named, and some of the operations."""
import argparse
import concurrent.futures
import ctypes
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import kernel_operations

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
# Of each kind of kernels some: products, convolutions, look-ups, scatters, loops with combine, symbols.
SAMPLE = ["small_mlp", "gpt2_cached", "squeezenet", "dlrm_dot", "gat", "mlp_bf16", "quantised", "ring_buffer",
          "input_mutation", "train_mse", "any_size", "softmax_head"]
PER_FILE = 80  # kernels that are compiled at once


class Description(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("doc", ctypes.c_char_p), ("parameters", ctypes.c_void_p),
                ("parameter_count", ctypes.c_size_t), ("file", ctypes.c_char_p), ("line", ctypes.c_uint32),
                ("column", ctypes.c_uint32)]


class List(ctypes.Structure):
    _fields_ = [("kernels", ctypes.POINTER(Description)), ("count", ctypes.c_size_t)]


class Trace(ctypes.Structure):
    _fields_ = [("text", ctypes.c_char_p), ("error", ctypes.c_char_p), ("help", ctypes.c_char_p),
                ("file", ctypes.c_char_p), ("line", ctypes.c_uint32), ("column", ctypes.c_uint32)]


class Library(ctypes.Structure):  # tilewright/KernelLibrary.h
    _fields_ = [("version", ctypes.c_uint32), ("list", ctypes.CFUNCTYPE(ctypes.POINTER(List))),
                ("free_list", ctypes.c_void_p),
                ("trace", ctypes.CFUNCTYPE(ctypes.POINTER(Trace), ctypes.c_char_p, ctypes.c_void_p,
                                           ctypes.c_size_t)), ("free_trace", ctypes.c_void_p)]


def traces(path):
    """What each kernel of a library traces to: its text, or an error."""
    entry = ctypes.CDLL(str(path)).tilewright_kernel_library
    entry.restype = ctypes.POINTER(Library)
    library = entry().contents
    kernels = library.list().contents
    for i in range(kernels.count):
        name = kernels.kernels[i].name
        trace = library.trace(name, None, 0).contents
        yield name.decode(), (trace.text or b"").decode(), (trace.error or b"").decode()


def run(*command):
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)


def canonical(build, text, scratch):
    """The kernels of a text by name, as they are compared."""
    path = scratch / "kernels.mlir"
    path.write_text(text)
    done = run(build / "bin/tilewright-opt", "--pass-pipeline=builtin.module(tile.kernel(tile-simplify,tile-order))",
               path)
    if done.returncode:
        raise RuntimeError(done.stderr[:2000])
    return {m[1]: m[0] for m in re.finditer(r"^  tile\.kernel @(\w+)\(.*?^  \}$", done.stdout, re.M | re.S)}


def compiled(build, source):
    """The library of a source file."""
    done = run(os.environ.get("CXX", "c++").split()[0], "-std=c++20", "-O0", "-shared", "-fPIC", "-fvisibility=hidden",
               f"-I{ROOT / 'include'}", source, build / "lib/libtilewright_kernel.a", "-o", source.with_suffix(".so"))
    return done.stderr if done.returncode else ""


def dumped(build, name, scratch):
    """(name, program, source) of each kernel of a model; and what is wrong."""
    folder = HERE / "models" / name
    case = json.loads((folder / "case.json").read_text())
    kernels = [f"--kernels={ROOT / path}" for path in case.get("kernels", [])]
    made = run(build / "bin/tilewright", "compile", folder / case["model"], "-o", scratch / f"{name}.so",
               f"--dump-to={scratch / name}", *case.get("compile_arguments", []), *kernels)
    if made.returncode:
        return [], [f"{name}: {made.stderr}"]
    found, problems = [], []
    for path in sorted((scratch / name / "kernels").glob("*.mlir")):
        text = path.read_text()
        if not text.startswith("tile.kernel"):
            continue  # left to the reference target
        for end in (".cpp", ".s"):
            if not path.with_suffix(end).exists():
                problems.append(f"{name}: {path.stem} has no {end}")
        if path.with_suffix(".cpp").exists():
            found.append((f"{name}_{path.stem}", text, path.with_suffix(".cpp").read_text()))
    return found, problems


def given(build, kernels, scratch):
    """The same of kernels that are given as text."""
    found, problems = [], []
    for name, text in kernels:
        path = scratch / f"{name}.mlir"
        path.write_text(text)
        printed = run(build / "bin/tilewright", "kernel", "print", path, "--as=source")
        if printed.returncode:
            problems.append(f"{name}: {printed.stderr}")
        found.append((f"given_{name}", text, printed.stdout))
    return found, problems


def different(build, kernels, scratch):
    """What is wrong with sources, by the kernels' names."""
    problems, parts = [], [kernels[i:i + PER_FILE] for i in range(0, len(kernels), PER_FILE)]
    files = []
    for number, part in enumerate(parts):
        bodies = [re.sub(r"TILEWRIGHT_KERNEL\(\w+", f"TILEWRIGHT_KERNEL({name}", source[source.find("TILEWRIGHT_KERNEL"):],
                         count=1) for name, _, source in part]
        files.append(scratch / f"part{number}.cpp")
        files[-1].write_text("#include <tilewright/Kernel.h>\nusing namespace tw::kernel;\n\n" + "\n".join(bodies))
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        problems += filter(None, pool.map(lambda path: compiled(build, path), files))
    again = {}
    for path in files:
        if path.with_suffix(".so").exists():
            for name, text, error in traces(path.with_suffix(".so")):
                again[name] = text
                if error:
                    problems.append(f"{name}: {error}")
    renamed = [re.sub(r"tile\.kernel @\w+", f"tile.kernel @{name}", text, count=1) for name, text, _ in kernels]
    wanted = canonical(build, "\n".join(renamed), scratch)
    found = canonical(build, "\n".join(again.values()), scratch)
    problems += [f"{name}: its source traces to another program" for name in wanted if wanted[name] != found.get(name)]
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--all", action="store_true", help="all models")
    parser.add_argument("models", nargs="*")
    options = parser.parse_args()
    names = options.models or (sorted(path.parent.name for path in HERE.glob("models/*/case.json")) if options.all
                               else SAMPLE)
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        texts = [(name, text) for name, text, _ in traces(options.build / "lib/example_kernels.so")]
        texts += kernel_operations.kernels()[::1 if options.all else 12]
        kernels, problems = given(options.build, texts, scratch)
        for name in names:
            more, wrong = dumped(options.build, name, scratch)
            kernels += more
            problems += wrong
        problems += different(options.build, kernels, scratch)
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"{len(kernels)} kernels, those of {len(names)} models among them, {len(problems)} problems, "
          f"{time.monotonic() - start:.0f} s")
    return bool(problems) or not kernels


if __name__ == "__main__":
    sys.exit(main())
