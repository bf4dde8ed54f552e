#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks the rules of the house that a script can check; prints what breaks one, exits 1.

- every source file starts with the licence line;
- no file over 600 lines, no function over 60, or in a test 90 (bodies as clang-format lays them out, members of
  classes, too);
- no folder of lib/ with more than 24 sources (a header and its .cpp are one), the reference target no longer than
  plain loops need to be;
- a level includes only what stands above it in DESIGN's list;
- what torch keeps to itself is used in one file of the Python package, which checks torch's version;
- no tracked file over 1 MB, all of them together under 32 MB.
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LICENCE = "SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception"
SOURCE = {".cpp", ".h", ".c", ".td", ".py", ".sh", ".def"}
LEVELS = ["Support", "IO", "IR/PCH", "IR", "IR/Graph", "IR/Torch", "IR/Tile", "Import", "TorchToGraph",
          "Graph", "Dispatch", "Language", "Kernels", "GraphToTile", "Tile", "Interpreter", "Target", "Program", "Tune", "Driver",
          "Profile"]
# The end of a signature, and what looks like one and is none.
SIGNATURE_END = r"\)( const| noexcept| override| final| mutable| -> [^{]+)* \{$"
NO_FUNCTION = r"\s*(\} )?(if|for|while|switch|else|catch)\b"
MAX_LINES, MAX_FUNCTION, MAX_TEST, MAX_FILE, MAX_TOTAL, MAX_SOURCES = 600, 60, 90, 1 << 20, 32 << 20, 24
# What torch documents nowhere, and where it may be used.
PRIVATE_TORCH = re.compile(r"(?<![.\w])torch(\.\w+)*\._[a-z]|\b(from|import) torch\._|\bfunctorch\b"
                           r"|(?<![.\w])torch\.(ops\.higher_order|fx\.experimental)\b")
PRIVATE_ATTRIBUTE = re.compile(r"\._(boxed_call|version)\b|\b(attr|TW_NAME)\(\"_[a-z]\w*\"\)")
PACKAGE, PRIVATE = pathlib.Path("python/tilewright"), pathlib.Path("python/tilewright/torch/_private.py")
NATIVE = pathlib.Path("python/native")
MAX_LEVEL = {"lib/Target/Reference": 1500}  # lines of C++ of a folder


def level(path):
    """The index in LEVELS of a path below lib/; None for what is in none."""
    fits = [name for name in LEVELS if path == name or path.startswith(name + "/")]
    return LEVELS.index(max(fits, key=len)) if fits else None


def includes_below(path, lines):
    here = level(str(path.relative_to("lib").parent))
    for number, line in enumerate(lines, 1):
        match = re.match(r'#include "([A-Z]\w*/.*)"', line)
        there = level(match[1].rsplit("/", 1)[0]) if match else None
        if here is not None and there is not None and there > here:
            yield f"{path}:{number}: {LEVELS[here]} includes {match[1]}, which stands below it"


def private_torch(path, lines):
    if {PACKAGE, NATIVE} & set(path.parents) and path != PRIVATE:
        for number, line in enumerate(lines, 1):
            if match := (path.suffix == ".py" and PRIVATE_TORCH.search(line)) or PRIVATE_ATTRIBUTE.search(line):
                yield f"{path}:{number}: {match[0]} is torch's own: it belongs into {PRIVATE}"


def opening_line(lines, index):
    """Of a line that ends a list in parentheses: the one that opens it. The initialisers of a constructor belong
    to its signature."""
    balance = 0
    while True:
        balance += lines[index].count(")") - lines[index].count("(")
        if balance > 0 and index > 0:
            index -= 1
            continue
        first = index
        while first > 0 and lines[first - 1].endswith(","):
            first -= 1
        if first == 0 or not lines[first].lstrip().startswith(": "):
            return index
        index, balance = first - 1, 0


def long_functions(path, lines):
    """Bodies, members of classes among them: they open with a line that ends in '{' after a list of parameters,
    which may have begun lines before, and close with '}' at the column where that list's line begins."""
    most = MAX_TEST if path.parts[0] == "unittests" else MAX_FUNCTION
    opened = []  # column and line of each block that is open, and whether it is a function
    for number, line in enumerate(lines, 1):
        column = len(line) - len(line.lstrip())
        if line.startswith("//", column):
            continue  # which may show code
        if line.lstrip().startswith("}"):
            while opened and opened[-1][0] > column:
                opened.pop()
            if opened and opened[-1][0] == column:
                _, start, is_function = opened.pop()
                if is_function and number - start > most:
                    yield f"{path}:{start}: a function of {number - start} lines (at most {most})"
        if line.endswith("{"):
            start, is_function = number, bool(re.search(SIGNATURE_END, line))
            if is_function:
                start = opening_line(lines, number - 1) + 1
                column = len(lines[start - 1]) - len(lines[start - 1].lstrip())
                is_function = not re.match(NO_FUNCTION, lines[start - 1])
            opened.append((column, start, is_function))


def check(path):
    data = (ROOT / path).read_bytes()
    if len(data) > MAX_FILE:
        yield f"{path}: {len(data)} bytes (at most {MAX_FILE})"
    if path.suffix not in SOURCE:
        return
    lines = data.decode("utf-8", "replace").split("\n")
    if not any(LICENCE in line for line in lines[:3]):
        yield f"{path}: does not start with the licence line"
    if len(lines) > MAX_LINES:
        yield f"{path}: {len(lines)} lines (at most {MAX_LINES})"
    yield from private_torch(path, lines)
    if path.suffix in {".cpp", ".h", ".c"}:
        yield from long_functions(path, lines)
        if path.parts[0] == "lib":
            yield from includes_below(path, lines)


def check_folders(files):
    sources, lines = {}, {}
    for path in files:
        if path.parts[0] == "lib" and path.suffix in {".cpp", ".h"}:
            sources.setdefault(path.parent, set()).add(path.stem)
            lines[str(path.parent)] = lines.get(str(path.parent), 0) + (ROOT / path).read_bytes().count(b"\n")
    for folder, names in sources.items():
        if len(names) > MAX_SOURCES:
            yield f"{folder}: {len(names)} sources (at most {MAX_SOURCES}): cut it into subfolders"
    for folder, most in MAX_LEVEL.items():
        if lines.get(folder, 0) > most:
            yield f"{folder}: {lines[folder]} lines (at most {most})"


def main():
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-z"], capture_output=True, check=True)
    files = [pathlib.Path(name.decode()) for name in listed.stdout.split(b"\0") if name]
    files = [path for path in files if (ROOT / path).is_file()]
    problems = [problem for path in files for problem in check(path)] + list(check_folders(files))
    total = sum((ROOT / path).stat().st_size for path in files)
    if total > MAX_TOTAL:
        problems.append(f"all tracked files together: {total} bytes (at most {MAX_TOTAL})")
    print("\n".join(problems) or f"{len(files)} files keep the rules of the house")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
