# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`python -m export --tag=extra --out=extra [NAME ...]`, run in the folder e2e with torch 2.13."""

import argparse
import pathlib
import sys
import time
import traceback
import warnings

from .table import MODELS
from .writer import write


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m export", description=__doc__)
    parser.add_argument("--tag", default="checked_in", help="export the models with this tag")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="folder for the models' folders")
    parser.add_argument("--missing", action="store_true", help="only models that have no folder yet")
    parser.add_argument("names", nargs="*", help="only these models")
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    failed = 0
    for model in MODELS:
        if options.names and model.name not in options.names or options.tag not in model.tags:
            continue
        folder = options.out / model.name
        if options.missing and (folder / "case.json").exists():
            continue
        start = time.monotonic()
        try:
            size = write(model, folder)
            print(f"{model.name:32} {size / 1024:9.0f} KiB {time.monotonic() - start:6.1f} s", flush=True)
        except Exception:
            traceback.print_exc()
            print(f"{model.name:32} failed", flush=True)
            failed += 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
