# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Packs the first 200 models of a folder for the tests, the same bytes for the same models:

    python e2e/random/pack.py FOLDER e2e/random/seeds

Four archives of 50 each; xz sees what similar models share."""

import io
import pathlib
import sys
import tarfile
import zipfile

MODELS, EACH = 200, 50


def unpacked(data: bytes) -> bytes:
    """A .pt2 with its dates taken out; it is not compressed, so that xz sees what models share."""
    result = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(result, "w") as new:
        for entry in old.infolist():
            new.writestr(zipfile.ZipInfo(entry.filename), old.read(entry))
    return result.getvalue()


def add(archive: tarfile.TarFile, name: str, data: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size = len(data)
    archive.addfile(member, io.BytesIO(data))


def main() -> int:
    folder, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    models = sorted(file.parent for file in folder.glob("*/case.json"))[:MODELS]
    if len(models) < MODELS:
        sys.exit(f"pack.py: {folder} has {len(models)} models, {MODELS} are wanted")
    out.mkdir(parents=True, exist_ok=True)
    for old in out.glob("*.tar.xz"):
        old.unlink()
    for first in range(0, MODELS, EACH):
        with tarfile.open(out / f"{models[first].name}.tar.xz", "w:xz", preset=9) as archive:
            files = [file for model in models[first:first + EACH] for file in model.iterdir()]
            # Files of one sort beside each other.
            for file in sorted(files, key=lambda f: (f.suffix, f.name, f.parent.name)):
                data = file.read_bytes()
                add(archive, f"{file.parent.name}/{file.name}", unpacked(data) if file.suffix == ".pt2" else data)
    return 0


if __name__ == "__main__":
    sys.exit(main())
