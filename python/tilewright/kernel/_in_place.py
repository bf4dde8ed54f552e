# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls of kernels that write tensors of torch, which autograd must hear of. Only imported where torch is."""
from __future__ import annotations

import torch

from .. import _native
from ._call import arrange

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ._kernel import Kernel


PLAIN = (torch.Tensor, torch.nn.Parameter)  # a subclass is refused where its memory is asked for


def call(kernel: Kernel, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
    """The call's results. In-out tensors have another version afterwards, as after PyTorch's own operators in place: what
    autograd has kept of them is no longer valid. Errors: TW-PYTHON-0004 for one that requires a gradient."""
    inputs = arrange(kernel, args, named).inputs
    written = [(name, inputs[i]) for i, name in kernel._written if type(inputs[i]) in PLAIN]
    for name, tensor in written:
        if tensor.requires_grad and torch.is_grad_enabled():
            _native.refuse("TW-PYTHON-0004", f"kernel {kernel.name} writes \"{name}\", which requires a gradient",
                           "call it within torch.no_grad(), give a detached tensor, or register the kernel with a backward")
    results = kernel._run_compiled(args, named)
    torch.autograd.graph.increment_version([tensor for _, tensor in written if not tensor.is_inference()])
    return results
