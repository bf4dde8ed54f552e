# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch.compile(f, backend="tilewright"), and what it made of f.

    f = torch.compile(module, backend="tilewright", options={"threads": 1})
    print(tilewright.torch.explain(module, x))   # what runs eagerly, and why
"""
from ._backend import backend
from ._explain import Explanation, explain

__all__ = ["Explanation", "backend", "explain"]
