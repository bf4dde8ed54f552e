# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The language in Python is that in C++: kernels of examples/kernels trace to one text, and all functions are there."""
import ctypes
import re
from pathlib import Path

import pytest

import tilewright
import tilewright.kernel as tk
from example_kernels import FOLDER, example

LIBRARY = Path(tilewright.__file__).parent / "lib" / "example_kernels.so"


class Binding(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("value", ctypes.c_int64)]


class Trace(ctypes.Structure):
    _fields_ = [("text", ctypes.c_char_p), ("error", ctypes.c_char_p)]


class Library(ctypes.Structure):
    """tw_kernel_library of tilewright/KernelLibrary.h."""

    _fields_ = [("version", ctypes.c_uint32), ("list", ctypes.c_void_p), ("free_list", ctypes.c_void_p),
                ("trace", ctypes.CFUNCTYPE(ctypes.POINTER(Trace), ctypes.c_char_p, ctypes.POINTER(Binding),
                                           ctypes.c_size_t))]


def in_cpp(name, settings):
    entry = ctypes.CDLL(str(LIBRARY)).tilewright_kernel_library
    entry.restype = ctypes.POINTER(Library)
    bindings = (Binding * len(settings))(*[(key.encode(), value) for key, value in settings.items()])
    trace = entry().contents.trace(name.encode(), bindings, len(settings)).contents
    assert trace.text, trace.error
    return trace.text.decode()


def without_places(text):
    return re.sub(r' loc\("[^"]*":\d+:\d+\)', "", text)


NAMES = sorted(path.stem for path in FOLDER.glob("*.cpp")) + ["causal_flash_attention"]
SETTINGS = {"gemm": {"K": 256, "M": 64, "BM": 16}, "flash_attention": {"H": 2, "M": 7, "N": 0, "D": 64},
            "add_mul_activation": {"ACTIVATION": 2}, "decode_attention": {"H": 2, "D": 16}}


@pytest.mark.skipif(not LIBRARY.exists(), reason="the C++ examples are not built")
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("bound", [False, True])
def test_text(name, bound):
    settings = SETTINGS.get(name, {"M": 3}) if bound else {}
    if bound and name == "dlrm_interaction":
        settings = {"B": 3, "F": 5}
    kernel = example(name, name.removeprefix("causal_"))
    assert isinstance(kernel, tk.Kernel)
    assert without_places(kernel.text(**settings)) == without_places(in_cpp(name, settings))


# What C++ has for what is said in Python by annotations, operators, arguments, loops and branches.
SAID_OTHERWISE = {"input", "output", "inout", "scalar", "parameter", "floorDiv", "ceilDiv", "mod", "constant", "isConstant",
                  "forLoop", "carry", "commutative", "ifThenElse", "ifThen", "ult"}


def test_all_functions_of_the_reference_are_there():
    """Those that docs/kernels.md calls or lists in its tables, in Python's spelling."""
    page = (FOLDER.parents[1] / "docs" / "kernels.md").read_text()
    page = page[page.index("## Arguments and configuration"):page.index("## Testing a kernel")]
    called = re.findall(r"(?<![\w:.])([a-z]\w*)\(", "".join(re.findall(r"^```cpp\n(.*?)^```$", page, re.S | re.M)))
    listed = re.findall(r"(?<!\w)[a-z]\w+", " ".join(re.findall(r"`([^`]*)`", "".join(re.findall(r"^\|.*$", page, re.M)))))
    names = {name for name in [*called, *listed] if len(name) > 2} - SAID_OTHERWISE
    assert len(names) > 60
    ours = {name.replace("_", "") for name in tk.__all__}
    assert not {name for name in names if name.lower() not in ours}
