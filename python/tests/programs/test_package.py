# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What an import costs, and what is shipped beside the code: types, and names."""
import ast
import enum
import inspect
import re
from pathlib import Path

import pytest

import tilewright
import tilewright.kernel as tk
import tilewright.torch
from tilewright import _native

STUBS = Path(_native.__file__).parent / "_native"


def test_import_loads_neither_torch_nor_llvm(run_python):
    out = run_python("""
        import sys, tilewright
        maps = open("/proc/self/maps").read()
        print([m for m in ("torch", "numpy", "json", "typing") if m in sys.modules], "LLVM" in maps, "tilewright-compiler" in maps)
    """)
    assert out == "[] False False\n"


@pytest.mark.parametrize("module, most", [("tilewright", 0.05), ("tilewright.kernel", 0.1)])
def test_import_is_fast(run_python, module, most):
    """By the processor's time, which other work on the machine does not add to."""
    out = run_python(f"""
        import time; begin = time.process_time(); import {module}; print(time.process_time() - begin)
    """)
    assert float(out) < most


def test_import_before_torch(run_python):
    """Nothing of one C++ library meets what PyTorch has of another."""
    assert run_python("""
        import tilewright
        import torch

        x = torch.randn(3, 4)
        print(torch.equal(tilewright.compile(torch.nn.ReLU(), (x,))(x), x.relu()), str(x.sum())[:6])
    """) == "True tensor\n"


def arguments(function, has_types=True):
    """Names, kinds, types and defaults, of a function as the parser knows it."""
    given = function.args
    if not has_types:
        for each in (*given.posonlyargs, *given.args, *given.kwonlyargs):
            each.annotation = None
    return [ast.unparse(each) for each in given.posonlyargs], ast.unparse(given)


def signature_of(function):
    """What a native function takes, by its own word: with \\0, \\1, ... for defaults."""
    (text, _, defaults), = function.__nb_signature__
    for number, value in enumerate(defaults or ()):
        text = text.replace(f"\\{number}", repr(value))
    return ast.parse(re.sub(r"(\w+\.)+(?=[A-Z])", "", text) + ": ...").body[0]


def check_stub(owner, body, where):
    """That the stub has what a module or a type has, and each function its arguments by name, kind and default."""
    seen = set()
    for node in body:
        name = getattr(node, "name", None) or getattr(getattr(node, "target", None), "id", "")
        seen |= {name, *(each.id for each in getattr(node, "targets", ()))}
        if isinstance(getattr(owner, name, None), enum.Enum) and isinstance(node, ast.ClassDef):
            continue  # a dtype, which is a type to type checkers
        if isinstance(node, ast.ClassDef):
            check_stub(getattr(owner, name), node.body, f"{where}.{name}")
        elif isinstance(node, ast.FunctionDef) and hasattr(getattr(owner, name), "__nb_signature__"):
            has_types = not node.decorator_list  # overloads say more of types
            known = signature_of(getattr(owner, name))
            assert arguments(node, has_types) == arguments(known, has_types), f"{where}.{name}"
        elif isinstance(node, ast.ImportFrom):
            seen.update(each.asname or each.name for each in node.names)
        elif name and not issubclass(owner if isinstance(owner, type) else object, (tilewright.Error, enum.Enum)):
            assert hasattr(owner, name), f"{where}.{name}"
    own = "_" if isinstance(owner, enum.EnumType) else "__"  # names that begin so are Python's
    missing = {name for name in vars(owner) if not name.startswith(own)} - seen
    assert not missing, f"{where} lacks {missing}"


def test_stubs_are_what_the_module_is(refusal):
    for stub, module in (("__init__.pyi", _native), ("kernel.pyi", _native.kernel)):
        check_stub(module, ast.parse((STUBS / stub).read_text()).body, module.__name__)
    assert (Path(tilewright.__file__).parent / "py.typed").exists()
    with refusal("TW-KERNEL-0003") as caught:
        tk.symbol("2")
    for name, kind in (("code", str), ("message", str), ("text", str), ("help", str), ("file", str), ("line", int), ("column", int)):
        assert type(getattr(caught.error, name)) is kind


def public():
    """Each public function and method, and each property's."""
    for module in (tilewright, tk, tilewright.torch):
        for name in module.__all__:
            value = getattr(module, name)
            if inspect.isroutine(value):
                yield f"{module.__name__}.{name}", value
            elif inspect.isclass(value):
                yield f"{module.__name__}.{name}", value
                for key, member in vars(value).items():
                    member = member.fget if isinstance(member, property) else member
                    if inspect.isroutine(member) and not key.startswith("_"):
                        yield f"{module.__name__}.{name}.{key}", member


def test_help_says_what_everything_is():
    for name, value in public():
        text = inspect.getdoc(value) or ""
        if hasattr(value, "__nb_signature__"):
            text = value.__nb_signature__[0][1] or ""
        assert len(text.split()) > 1, f"{name} has no docstring"
        if inspect.isfunction(value):
            untyped = [each.name for each in inspect.signature(value).parameters.values()
                       if each.annotation is each.empty and each.name != "self"]
            assert not untyped and "return" in value.__annotations__, f"{name} has no types of {untyped}"


@pytest.mark.parametrize("value, words", [
    (tilewright.compile, ["example_inputs", "dynamic_shapes", "target", "Errors: TW-PYTHON-0007", "TW-IMPORT-*"]),
    (tilewright.load, ["threads", "library", "device", "Errors: TW-RUNTIME-0001"]),
    (tilewright.Program, ["sizes", "dtype", "TW-PYTHON-0001", "TW-RUNTIME-"]),
    (tilewright.State, ["dtype", "sizes", "TW-RUNTIME-0015"]),
    (tk.Kernel, ["dtypes", "sizes stay dynamic", "TW-KERNEL-0003", "TW-PYTHON-0001"]),
    (tk.Kernel.register, ["dtypes", "Errors: TW-PYTHON-0005"]),
    (tilewright.torch.backend, ["options", "TW-PYTHON-0005"]),
])
def test_help_says_errors(value, words):
    text = inspect.getdoc(value)
    assert not [word for word in words if word not in text], text


def test_all_is_there():
    for module in (tilewright, tk, tilewright.torch):
        assert list(module.__all__) == sorted(module.__all__) and all(hasattr(module, name) for name in module.__all__)
