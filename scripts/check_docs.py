#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tries the snippets of the documentation: check_docs.py BUILD PAGE.md ...

The blocks of a page go together, in order:
- `sh` blocks run as one script in an empty folder, with BUILD/bin in the PATH;
- `c`, `cpp` and `c++` blocks are compiled (not run) as the body of one function each language;
- `mlir` blocks are each read, verified and printed by tilewright-opt;
- `python` blocks run in the same folder before the shell ones where $TW_TORCH_PYTHON names a Python
  with torch, else they are passed over, and the files they would write come from elsewhere.
Comments direct it:
  <!-- file NAME = PATH -->       puts a file of the repository into the folder
  <!-- declare c: TEXT -->        what the snippets of a language take for granted
  <!-- quoted from PATH -->       the next block stands in that file (up to white space); not compiled
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
COMPILERS = {"c": ["clang-22", "-std=c11", "-xc"], "cpp": ["clang++-22", "-std=c++20", "-xc++"]}
HEADERS = {"c": "#include <stdio.h>\n#include \"tilewright/tilewright.h\"\n",
           "cpp": "#include \"tilewright/Runtime.h\"\n"}
PART = re.compile(r"<!-- (?P<directive>file|declare|quoted) (?P<text>.*?) -->"
                  r"|^```(?P<language>[\w+]+)\n(?P<code>.*?)^```$", re.S | re.M)


def squeeze(text):
    return " ".join(text.split())


class Page:
    def __init__(self, path):
        self.name = str(path)
        self.code = {"sh": "", "c": "", "cpp": "", "python": "", "mlir": ""}
        self.files, self.problems = {}, []
        quoted = None
        for part in PART.finditer(path.read_text()):
            kind, text = part["directive"], part["text"]
            if kind == "file":
                name, source = text.split(" = ")
                self.files[name] = ROOT / source
            elif kind == "declare":
                language, declaration = text.split(": ", 1)
                self.code[language] += declaration + "\n"
            elif kind == "quoted":
                quoted = ROOT / text.removeprefix("from ")
            elif quoted:
                if squeeze(part["code"]) not in squeeze(quoted.read_text()):
                    self.problems.append(f"{quoted.relative_to(ROOT)} does not have the text that is quoted from it")
                quoted = None
            else:
                language = part["language"].replace("c++", "cpp")
                if language not in self.code:
                    self.problems.append(f"nothing tries blocks in {language}")
                before = self.code.get(language, "")
                separator = "// -----\n" if before and language == "mlir" else ""
                self.code[language] = before + separator + part["code"]

    def run(self, command, **options):
        done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
        if done.returncode:
            self.problems.append(f"{command[0]} ends with {done.returncode}\n{done.stdout}{done.stderr}")

    def check(self, build):
        for language in ("c", "cpp"):
            if self.code[language]:
                lines = self.code[language].splitlines(keepends=True)
                includes = "".join(line for line in lines if line.startswith("#include"))
                body = "".join(line for line in lines if not line.startswith("#include"))
                self.run([*COMPILERS[language], "-fsyntax-only", "-I", str(ROOT / "include"), "-"],
                         input=f"{HEADERS[language]}{includes}void page(void) {{\n{body}}}\n")
        if self.code["mlir"]:
            self.run([str(build.resolve() / "bin" / "tilewright-opt"), "-", "--split-input-file"],
                     input=self.code["mlir"])
        with tempfile.TemporaryDirectory() as folder:
            python = os.environ.get("TW_TORCH_PYTHON")
            if python and self.code["python"]:
                self.run([python, "-"], input=self.code["python"], cwd=folder)
            else:
                for name, source in self.files.items():
                    shutil.copy(source, pathlib.Path(folder) / name)
            if self.code["sh"]:
                path = f"{build.resolve() / 'bin'}:{os.environ['PATH']}"
                self.run(["bash", "-e"], input=self.code["sh"], cwd=folder, env={**os.environ, "PATH": path})
        return self.problems


def main():
    build, failed = pathlib.Path(sys.argv[1]), False
    for path in sys.argv[2:]:
        for problem in Page(pathlib.Path(path)).check(build):
            print(f"{path}: {problem}")
            failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
