#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tries the snippets of the documentation: check_docs.py BUILD [--update] PAGE.md ...

The blocks of a page go together, in order:
- `sh` blocks run as one script in an empty folder, with BUILD/bin in the PATH;
- `c`, `cpp` and `c++` blocks are compiled (not run) as the body of one function each language;
- `mlir` blocks are each read, verified and printed by tilewright-opt;
- `python` blocks run in the same folder, with the package of BUILD, before the shell ones where
  $TW_TORCH_PYTHON names a Python with torch, else they are passed over, and the files they would write come from elsewhere.
Comments direct it:
  <!-- file NAME = PATH -->       puts a file of the repository into the folder
  <!-- declare c: TEXT -->        what the snippets of a language take for granted
  <!-- quoted from PATH -->       the next block stands in that file (up to white space); not compiled
  <!-- write NAME -->             the next block becomes that file, when the shell gets there; not compiled
  <!-- fails -->                  the next shell block must end with an error
  <!-- prints -->                 the next block is all that the shell block before prints; a line of
                                  ... stands for any lines, and ... in a line for anything
  <!-- made -->                   the same, to the letter; --update writes what is printed there
  <!-- made loosely -->           the same, but it is not compared: it changes too often
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
PART = re.compile(r"<!-- (?P<directive>file|declare|quoted|write|fails|prints|made)(?: (?P<text>[^\n]*?))? -->"
                  r"|^```(?P<language>[\w+]+)\n(?P<code>.*?)^```$", re.S | re.M)


def squeeze(text):
    return " ".join(text.split())


def matches(expected, printed):
    """Whether lines are as expected, where ... stands for anything."""
    pattern = ""
    for line in expected.splitlines():
        words = re.escape(squeeze(line)).replace(r"\.\.\.", ".*")
        pattern += "(.*\n)*?" if line.strip() == "..." else words + "\n"
    lines = "".join(squeeze(line) + "\n" for line in printed.splitlines())
    return re.fullmatch(pattern, lines)


class Step:
    """A block of shell, and what must come of it."""

    def __init__(self, code, fails):
        self.code, self.fails = code, fails
        self.prints = None  # what it prints
        self.made = None    # the place of that in the page, if it is written by --update
        self.is_loose = False

    def script(self, number):
        if self.fails:
            return (f"if (set -e\n{self.code}) > .out{number} 2>&1; then\n"
                    f"  echo 'this must fail:'; cat .out{number}; exit 1\nfi\n")
        if self.prints is not None:
            return f"{{\n{self.code}}} > .out{number} 2>&1 || (cat .out{number}; exit 1)\n"
        return self.code

    @staticmethod
    def path(folder, number):
        return folder / f".out{number}"

    def printed(self, folder, number):
        text = self.path(folder, number).read_text()
        return text if text.endswith("\n") or not text else text + "\n"


class Page:
    def __init__(self, path):
        self.name = str(path)
        self.code = {"c": "", "cpp": "", "python": "", "mlir": ""}
        self.files, self.problems, self.steps = {}, [], []
        self.path, self.text = path, path.read_text()
        directive = argument = None
        for part in PART.finditer(self.text):
            if part["directive"] in ("file", "declare"):
                self.declare(part["directive"], part["text"])
            elif part["directive"]:
                directive, argument = part["directive"], part["text"]
            else:
                if directive == "made":
                    self.steps[-1].made = part.span("code")
                    self.steps[-1].is_loose = argument == "loosely"
                    directive = "prints"
                self.add(part["language"].replace("c++", "cpp"), part["code"], directive, argument)
                directive = None

    def declare(self, kind, text):
        if kind == "file":
            name, source = text.split(" = ")
            self.files[name] = ROOT / source
        else:
            language, declaration = text.split(": ", 1)
            self.code[language] += declaration + "\n"

    def add(self, language, code, directive, argument):
        if directive == "quoted":
            source = ROOT / argument.removeprefix("from ")
            if squeeze(code) not in squeeze(source.read_text()):
                self.problems.append(f"{source.relative_to(ROOT)} does not have the text that is quoted from it")
        elif directive == "write":
            self.steps.append(Step(f"cat > {argument} <<'END-OF-FILE'\n{code}END-OF-FILE\n", False))
        elif directive == "prints":
            self.steps[-1].prints = code
        elif language == "sh":
            self.steps.append(Step(code, directive == "fails"))
        elif language in self.code:
            before = self.code[language]
            separator = "// -----\n" if before and language == "mlir" else ""
            self.code[language] = before + separator + code
        else:
            self.problems.append(f"nothing tries blocks in {language}")

    def run(self, command, **options):
        done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
        if done.returncode:
            self.problems.append(f"{command[0]} ends with {done.returncode}\n{done.stdout}{done.stderr}")

    def check(self, build, update):
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
            for name, source in self.files.items():
                shutil.copy(source, pathlib.Path(folder) / name)
            python = os.environ.get("TW_TORCH_PYTHON")
            if python and self.code["python"]:
                self.run([python, "-"], input=self.code["python"], cwd=folder,
                         env={**os.environ, "PYTHONPATH": str(build.resolve() / "python")})
            if self.steps:
                path = f"{build.resolve() / 'bin'}:{os.environ['PATH']}"
                script = "".join(step.script(number) for number, step in enumerate(self.steps))
                self.run(["bash", "-e"], input=script, cwd=folder, env={**os.environ, "PATH": path})
                if update and not self.problems:
                    self.update(pathlib.Path(folder))
                else:
                    self.compare(pathlib.Path(folder))
        return self.problems

    def compare(self, folder):
        """What was printed with what the page says."""
        for number, step in enumerate(self.steps):
            if step.prints is None or step.is_loose or not step.path(folder, number).exists():
                continue
            printed = step.printed(folder, number)
            if not (printed == step.prints if step.made else matches(step.prints, printed)):
                self.problems.append(f"{step.code}prints\n{printed}and not\n{step.prints}")

    def update(self, folder):
        """Writes what was printed into the page."""
        for number, step in reversed(list(enumerate(self.steps))):
            if step.made:
                begin, end = step.made
                self.text = self.text[:begin] + step.printed(folder, number) + self.text[end:]
        self.path.write_text(self.text)


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--update"]
    build, failed = pathlib.Path(arguments[0]), False
    for path in arguments[1:]:
        for problem in Page(pathlib.Path(path)).check(build, "--update" in sys.argv):
            print(f"{path}: {problem}")
            failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
