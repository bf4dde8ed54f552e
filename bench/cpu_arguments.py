# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What bench/cpu.py is told: arguments that cannot be meant are refused before anything is measured."""
import argparse
import math
import os
import pathlib
import re
import shutil

from cpu_table import KINDS

ROOT = pathlib.Path(__file__).resolve().parent.parent


def names(text):
    return re.split(r",(?! )", text)  # some names have commas


def peers(text):
    unknown = [each for each in names(text) if each not in KINDS]
    if unknown:
        raise argparse.ArgumentTypeError(f"there is no peer '{unknown[0]}', but {', '.join(KINDS)}")
    return names(text)


def positive(text):
    if int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is not positive")
    return int(text)


def seconds(text):
    if not 0 < float(text) < math.inf:
        raise argparse.ArgumentTypeError(f"{text} is not a positive number of seconds")
    return float(text)


def threads(text):
    """Numbers, and "all"."""
    return [each if each == "all" else positive(each) for each in text.split(",")]


def check(parser, options):
    """Ends with an error where an action lacks what it needs."""
    if options.action == "pack" and not options.folder:
        parser.error("pack needs a FOLDER to put the tool into")
    if options.action != "pack" and options.folder:
        parser.error(f"'{options.folder}' is a folder for pack, but the action is {options.action}")
    if options.action == "page" and not options.json:
        parser.error("page needs --json=FILE, which has what was measured")
    if options.action == "page" and not options.json.exists():
        parser.error(f"--json={options.json}: there is no such file")
    if options.json and not options.json.absolute().parent.is_dir():
        parser.error(f"--json={options.json}: there is no such folder")
    if options.action != "page" and not options.list and not shutil.which(options.tool):
        parser.error(f"--tool={options.tool}: there is no such program; `make` builds build/dev/bin/tilewright")


def arguments(description, given=None):
    """What `given` says, or else the command line."""
    parser = argparse.ArgumentParser(prog="cpu.py", description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", nargs="?", choices=["run", "page", "pack"], default="run")
    parser.add_argument("folder", nargs="?", type=pathlib.Path, help="for pack")
    parser.add_argument("--tool", default=str(ROOT / "build/dev/bin/tilewright"))
    parser.add_argument("--threads", type=threads, help="default: 1,all; for page what FILE has")
    parser.add_argument("--rows", default=["*"], type=names, help="groups and names (with wildcards) of workloads")
    parser.add_argument("--list", action="store_true", help="print groups and names")
    parser.add_argument("--peers", default=KINDS, type=peers)
    parser.add_argument("--time", type=seconds, default=5, help="seconds for a row and a number of threads")
    parser.add_argument("--rounds", type=positive, default=5)
    parser.add_argument("--patience", type=seconds, default=300, help="seconds that a peer may take to compile")
    parser.add_argument("--budget", type=seconds, default=math.inf, help="seconds after which no row is begun")
    parser.add_argument("--prepare", type=positive, default=1, metavar="N",
                        help="workloads that are compiled at the same time before they are measured one by one")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE")
    options = parser.parse_args(given)
    check(parser, options)
    return options


def counts(options, most):
    """The numbers of threads, of which `most` are all."""
    return list(dict.fromkeys(most if each == "all" else each for each in options.threads or [1, "all"]))
