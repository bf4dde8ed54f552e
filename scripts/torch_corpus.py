#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads the torch text in folders of .mlir files, such as the tests of other compilers, and counts
what parses, prints, and prints the same once more.

    scripts/torch_corpus.py build/dev/bin/tilewright-opt torch-mlir/test ... [--verbose]

A file is cut at its `// -----` lines, as those tests are; a part that is refused as a whole is
tried function by function. Only parts with torch operations or types count. Parts that say
`expected-error` are meant to be refused, by the parser or by a pass, and are counted apart.
"""
import argparse
import collections
import pathlib
import re
import subprocess

TORCH = re.compile(r"\btorch(_c)?\.|!torch\.")


def print_text(tool, text):
    """The text as the tool prints it, or None; and its first error."""
    done = subprocess.run([tool], input=text, text=True, capture_output=True)
    if done.returncode == 0:
        return done.stdout, ""
    errors = re.findall(r"error: (.*)", done.stderr)
    return None, errors[0] if errors else f"exit status {done.returncode}: {done.stderr[:200]}"


def refusal(tool, text):
    """Empty when the text parses, prints and prints the same again; else why not."""
    once, error = print_text(tool, text)
    if once is None:
        return error
    again, error = print_text(tool, once)
    if again is None:
        return "what is printed does not parse: " + error
    return "" if again == once else "printed twice, the texts differ"


def functions(part):
    """The functions of a part, each with the lines before the first (aliases of maps and types)."""
    head, *bodies = re.split(r"^(?=func\.func)", part, flags=re.M)
    return [head + body for body in bodies]


def pieces(tool, part):
    """(text, functions in it, why it is refused) of the whole part, or of each function."""
    error = refusal(tool, part)
    bodies = functions(part)
    if not error or len(bodies) < 2:
        return [(part, max(1, len(re.findall(r"^\s*func\.func", part, re.M))), error)]
    return [(body, 1, refusal(tool, body)) for body in bodies]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("tool")
    parser.add_argument("folders", nargs="+", type=pathlib.Path)
    parser.add_argument("--verbose", action="store_true", help="name the files of each refusal")
    options = parser.parse_args()
    count, why = collections.Counter(), collections.defaultdict(list)
    for path in sorted(file for folder in options.folders for file in folder.rglob("*.mlir")):
        for part in path.read_text().split("// -----"):
            if not TORCH.search(re.sub(r"//.*", "", part)):
                continue
            for text, size, error in pieces(options.tool, part):
                kind = "meant to be refused" if "expected-error" in text else "ordinary"
                count[kind, "read" if not error else "refused"] += size
                if error and kind == "ordinary":
                    why[error].append(f"{path}: {(re.findall('func.func.*@([^(]*)', text) or ['?'])[0]}")
    for (kind, outcome), number in sorted(count.items()):
        print(f"{number:6} functions {kind}: {outcome}")
    for error, places in sorted(why.items(), key=lambda item: -len(item[1])):
        print(f"{len(places):6} x {error}")
        for place in places if options.verbose else []:
            print(f"         {place}")


if __name__ == "__main__":
    main()
