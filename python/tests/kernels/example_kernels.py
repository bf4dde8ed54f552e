# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The kernels of examples/kernels."""
import importlib.util
from pathlib import Path

FOLDER = Path(__file__).parents[3] / "examples" / "kernels"


def example(name, file=None):
    """A kernel of examples/kernels, in the file of its name if none is given."""
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{file or name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, name)
