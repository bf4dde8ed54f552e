# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tilewright: PyTorch models as small native programs.

    import tilewright
    program = tilewright.compile(module, (x,))   # torch.nn.Module, ExportedProgram, or a file
    y = program(x)                               # torch tensors, NumPy arrays, anything with DLPack
    program.save("model.so")
    program = tilewright.load("model.so")        # needs neither torch nor the compiler

Every failure is a tilewright.Error with code, message, text and help. Importing this module imports
neither torch nor NumPy, and loads no compiler.
"""
from . import _exit  # noqa: F401  it registers what is to be done there
from ._compile import compile, compile_to_file  # noqa: A004  it is what the package does
from ._native import Error, InputError, InternalError, KernelError, UnsupportedError, UsageError
from ._native import version as __version__
from ._program import Profile, Program, Report, State, Value, load

__all__ = ["Error", "InputError", "InternalError", "KernelError", "Profile", "Program", "Report", "State", "UnsupportedError",
           "UsageError", "Value", "__version__", "compile", "compile_to_file", "load"]
