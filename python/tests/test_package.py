# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What an import costs, and what is shipped beside the code: types, and names."""
import ast
from pathlib import Path

import tilewright
import tilewright.kernel as tk
from tilewright import _native

STUBS = Path(_native.__file__).parent / "_native"


def names_in(stub):
    names = set()
    for node in ast.parse((STUBS / stub).read_text()).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, ast.AnnAssign):
            names.add(node.target.id)
        elif isinstance(node, ast.ImportFrom):
            names.update(each.asname or each.name for each in node.names)
    return names


def test_import_loads_neither_torch_nor_llvm(run_python):
    out = run_python("""
        import sys, tilewright
        maps = open("/proc/self/maps").read()
        print([m for m in ("torch", "numpy", "json", "typing") if m in sys.modules], "LLVM" in maps, "tilewright-compiler" in maps)
    """)
    assert out == "[] False False\n"


def test_import_is_fast(run_python):
    for module in ("tilewright", "tilewright.kernel"):
        out = run_python(f"""
            import time; begin = time.perf_counter(); import {module}; print(time.perf_counter() - begin)
        """)
        assert float(out) < 0.25  # 50 ms on a machine with nothing else to do


def test_import_before_torch(run_python):
    """Nothing of one C++ library meets what PyTorch has of another."""
    assert run_python("""
        import tilewright
        import torch

        x = torch.randn(3, 4)
        print(torch.equal(tilewright.compile(torch.nn.ReLU(), (x,))(x), x.relu()), str(x.sum())[:6])
    """) == "True tensor\n"


def test_stubs_name_everything():
    for stub, module in (("__init__.pyi", _native), ("kernel.pyi", _native.kernel)):
        missing = {name for name in vars(module) if not name.startswith("__")} - names_in(stub)
        assert not missing, f"{stub} lacks {missing}"
    assert (Path(tilewright.__file__).parent / "py.typed").exists()


def test_all_is_there():
    for module in (tilewright, tk):
        assert list(module.__all__) == sorted(module.__all__) and all(hasattr(module, name) for name in module.__all__)
