# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Evaluates an exported graph with PyTorch: as it is, or in double precision whatever it names."""

import torch
from torch.utils import _pytree as pytree

NARROW = {torch.float16, torch.bfloat16, torch.float32}
# Calls of a subgraph under other settings of autograd: the position of the subgraph.
WRAPPERS = {"wrap_with_set_grad_enabled": 1, "wrap_with_autocast": 4}
SKIPPED = {torch.ops.aten._assert_tensor_metadata.default}


ATTENTION_BACKWARD = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward.default


def attention_gradients(gradient, q, k, v, out, logsumexp, dropout, causal, *, attn_mask=None, scale=None):
    """The gradients of attention from its operands alone. The decomposition of the forward operator
    that torch 2.13 exports passes something else as `logsumexp`, and so gives wrong gradients."""
    with torch.enable_grad():
        operands = [value.detach().requires_grad_() for value in (q, k, v)]
        result = torch.nn.functional.scaled_dot_product_attention(
            *operands, attn_mask=attn_mask, is_causal=causal, scale=scale)
        return torch.autograd.grad(result, operands, gradient)


def grouped_product(a, b, ends=None):
    """aten._grouped_mm, which PyTorch does not have in double precision."""
    if ends is None:
        return a @ b
    runs = [slice(start, end) for start, end in zip([0, *ends.tolist()], ends.tolist())]
    if a.dim() == 2 and b.dim() == 2:
        return torch.stack([a[:, run] @ b[run] for run in runs])
    if a.dim() == 3:
        return torch.cat([a[i] @ b[:, run] for i, run in enumerate(runs)], 1)
    return torch.cat([a[run] @ b[i] for i, run in enumerate(runs)])


def widen(value):
    if isinstance(value, torch.Tensor) and value.dtype in NARROW:
        return value.double()
    if isinstance(value, torch.dtype) and value in NARROW:
        return torch.float64
    return value


class Plain(torch.fx.Interpreter):
    """Runs each node as PyTorch does, but for two operators whose exported form can be wrong: the
    backward of attention, and views whose strides differ from those that export assumed."""

    def call_function(self, target, args, kwargs):
        if target is ATTENTION_BACKWARD:
            return attention_gradients(*args, **kwargs)
        if target is torch.ops.aten.view.default:
            return args[0].reshape(args[1])
        return super().call_function(target, args, kwargs)


class Double(Plain):
    """Runs each node with every floating tensor and every floating dtype argument widened."""

    def call_function(self, target, args, kwargs):
        if target in SKIPPED:
            return None
        if target is torch.ops.higher_order.cond:
            predicate, yes, no, operands = args[:4]
            return Double(yes if bool(predicate) else no).run(*operands)
        if str(target) in WRAPPERS:
            body = args[WRAPPERS[str(target)]]
            return Double(body).run(*args[WRAPPERS[str(target)] + 1:])
        args, kwargs = pytree.tree_map(widen, (args, kwargs))
        if target is torch.ops.aten._grouped_mm.default:
            return grouped_product(*args)
        return pytree.tree_map(widen, super().call_function(target, args, kwargs))


class GraphRunner:
    """An exported program with its state; call it like the program, with flat inputs."""

    def __init__(self, program: torch.export.ExportedProgram, double: bool):
        self.program = program
        self.double = double
        self.state = {}
        kinds = torch.export.graph_signature.InputKind
        for spec in program.graph_signature.input_specs:
            if spec.kind == kinds.USER_INPUT or spec.target is None:
                continue
            source = program.constants if spec.target in program.constants else program.state_dict
            self.state[spec.target] = self._own(source[spec.target].detach())

    def _own(self, value):
        if not isinstance(value, torch.Tensor):
            return value
        return widen(value.clone()) if self.double else value.clone()

    def __call__(self, inputs: list) -> list:
        """All user-visible outputs, in the order of the signature."""
        waiting = [self._own(value) for value in inputs]
        kinds = torch.export.graph_signature.InputKind
        flat = [waiting.pop(0) if spec.kind == kinds.USER_INPUT else self.state[spec.target]
                for spec in self.program.graph_signature.input_specs]
        default = torch.get_default_dtype()
        torch.set_default_dtype(torch.float64 if self.double else default)
        interpreter = Double if self.double else Plain
        try:
            with torch.no_grad():
                results = interpreter(self.program.graph_module).run(*flat)
        finally:
            torch.set_default_dtype(default)
        return self._visible(results)

    def _visible(self, results) -> list:
        kinds = torch.export.graph_signature.OutputKind
        shown = []
        for spec, result in zip(self.program.graph_signature.output_specs, results):
            if spec.kind == kinds.BUFFER_MUTATION:
                self.state[spec.target] = result
            elif spec.kind != kinds.USER_INPUT_MUTATION:
                shown.append(result)
        return shown
