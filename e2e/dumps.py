# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Feeds the dumps of a model to tilewright-opt.

What is read back must verify and print as the same text: but for the names of attributes, which the
first printing adds, nothing may change from one round to the next."""
import pathlib
import re
import subprocess

LEAST = 4
BETWEEN = "// -----\n"


def plain(text: str) -> str:
    """The text with the attributes that have names written out, and no empty lines."""
    names = dict(re.findall(r"^(#\w+) = (.*)$", text, re.M))
    body = re.sub(r"^#\w+ = .*\n", "", text, flags=re.M)
    for _ in range(3):  # they may be nested
        body = re.sub(r"#\w+\b", lambda m: names.get(m.group(0), m.group(0)), body)
    return "\n".join(line for line in body.splitlines() if line.strip())


def read_back(opt: str, texts: list[str]) -> tuple[list[str], str]:
    """What tilewright-opt prints of each, or what it says is wrong with one."""
    done = subprocess.run([opt, "-", "--split-input-file"], input=BETWEEN.join(texts), capture_output=True, text=True,
                          check=False)
    printed = done.stdout.split(BETWEEN)
    if done.returncode == 0 and len(printed) != len(texts):
        return printed, f"{len(texts)} modules are read back as {len(printed)}"
    return printed, done.stderr[:800] if done.returncode else ""


def problems(opt: str, folder: pathlib.Path) -> list[str]:
    """Everything that is wrong with the dumps in a folder."""
    dumps = sorted(folder.glob("*.mlir"))
    if len(dumps) < LEAST:
        return [f"only {len(dumps)} dumps"]
    before = [dump.read_text() for dump in dumps]
    after, wrong = read_back(opt, before)
    if wrong:
        return [f"dumps: {wrong}"]
    llvm = [i for i, dump in enumerate(dumps) if dump.name.endswith("-llvm.mlir")]
    if not llvm:
        return ["no dump of the llvm dialect"]
    again, wrong = read_back(opt, [after[i] for i in llvm])
    if wrong:
        return [f"dumps, read back once more: {wrong}"]
    for i, text in zip(llvm, again):  # distinct attributes get new numbers: one round later
        before[i], after[i] = after[i], text
    return [f"{dump.name} reads back as something else" for dump, old, new in zip(dumps, before, after)
            if plain(old) != plain(new)]
