# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`python -m export.coverage`: prints the core ATen overloads that no checked-in program calls."""

import json
import pathlib
import zipfile

import torch

# Random generators, sizes that depend on data, complex numbers: refused by the compiler.
REFUSED = ("rand", "bernoulli", "multinomial", "normal", "nonzero", "masked_select", "_local_scalar_dense", "_fft",
           "native_dropout", "view_as_complex", "view_as_real", "unique", "equal", "_to_sparse", ".out")


def core_overloads() -> set[str]:
    found = set()
    for name in dir(torch.ops.aten):
        packet = getattr(torch.ops.aten, name)
        for overload in packet.overloads() if hasattr(packet, "overloads") else ():
            operator = getattr(packet, overload)
            if torch.Tag.core in operator.tags:
                found.add(f"torch.ops.aten.{name}.{overload}")
    return found


def targets(graph: dict) -> set[str]:
    found = set()
    for node in graph["nodes"]:
        found.add(node["target"])
        for argument in node["inputs"]:
            if "as_graph" in argument["arg"]:
                found |= targets(argument["arg"]["as_graph"]["graph"])
    return found


def called(root: pathlib.Path) -> set[str]:
    found = set()
    for file in root.glob("*/*.pt2"):
        archive = zipfile.ZipFile(file)
        name = next(name for name in archive.namelist() if name.endswith("/models/model.json"))
        found |= targets(json.loads(archive.read(name))["graph_module"]["graph"])
    return found


def main() -> None:
    here = pathlib.Path(__file__).resolve().parent.parent
    seen = called(here / "models") | called(here / "operators")
    missing = sorted(name for name in core_overloads() - seen if not any(part in name for part in REFUSED))
    print("\n".join(missing))
    print(f"{len(missing)} core overloads are not called; {len(seen)} overloads are")


if __name__ == "__main__":
    main()
