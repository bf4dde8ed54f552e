# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""All that this package uses of torch beyond its public interface, in one place with a version check."""
from __future__ import annotations

import collections
import contextlib
import functools
import logging
import os
import sys
import traceback
from collections.abc import Iterator
from typing import Any

import torch

from .. import _native

OLDEST = (2, 13)
TESTED = (2, 13)

logger = logging.getLogger("tilewright.torch")


def _check_version() -> None:
    version = tuple(int(part) for part in torch.__version__.split("+")[0].split(".")[:2])
    if version < OLDEST:
        _native.refuse("TW-PYTHON-0009", f"torch {torch.__version__} is older than 2.13",
                       "install torch 2.13 or later")
    if version > TESTED:
        logger.warning("torch %s is later than those this version of tilewright was tested with (%d.%d)",
                       torch.__version__, *TESTED)


_check_version()

OpOverload = torch._ops.OpOverload
HigherOrderOperator = torch._ops.HigherOrderOperator

# Operators that torch puts into graphs and documents nowhere. They call another operator: one that draws, and give the
# generator's state before; one that draws, from a given state, which for a GPU is a torch.Generator; one that writes to its
# arguments, and give what these are then; one that has an effect outside of the graph.
SAVE_STATE, FROM_STATE = torch.ops.higher_order.run_and_save_rng_state, torch.ops.higher_order.run_with_rng_state
FROM_GENERATOR = torch.ops.higher_order.graphsafe_run_with_rng_state
FUNCTIONAL = torch.ops.higher_order.auto_functionalized_v2
WITH_EFFECTS = torch.ops.higher_order.with_effects

# The attribute of a tensor that counts the writes to it, but for those through .data: by that, and by where it lies, frozen
# graphs know that a weight has changed (python/native/PreparedWeights.h).
WRITES = "_version"

# check(condition, text) raises a RuntimeError where a condition, on sizes that may be symbolic, does not hold.
check = torch._check


def schema_of(op: Any) -> Any:
    """The schema of an OpOverload: arguments and returns with names and types."""
    return op._schema


def operator_name(op: Any) -> str:
    """"aten.add.Tensor"."""
    return str(op)


def can_be_operator(library: str, name: str) -> bool:
    """Whether torch.ops.library.name is an operator or nothing yet: these modules have attributes of their own."""
    there = getattr(torch.ops, library)
    if not isinstance(there, torch._ops._OpNamespace) or (name.startswith("__") and name.endswith("__")):
        return False
    return isinstance(getattr(there, name, None), (torch._ops.OpOverloadPacket, type(None)))


def target_name(target: Any) -> str:
    """Of what a node calls, as torch.export.save writes it: "torch.ops.aten.add.Tensor", "_operator.mul"."""
    module = target.__module__
    if module.startswith("torch._ops"):
        module = module.replace("torch._ops", "torch.ops")
    return f"{module}.{target.__name__}"


def returns_one_list(op: Any) -> bool:
    """Whether an operator returns one list of tensors."""
    returns = op._schema.returns
    return len(returns) == 1 and str(returns[0].type).startswith("List[")


def expression_of(value: Any) -> Any:
    """The sympy expression of a SymInt, SymFloat or SymBool."""
    return value.node.expr


def symbols_in(values: Any, of_tensors: bool = True) -> set[Any]:
    """The symbols in SymInts, and in the sizes, strides and offsets of tensors."""
    found: set[Any] = set()
    for value in values:
        if isinstance(value, torch.SymInt):
            found |= value.node.expr.free_symbols
        elif isinstance(value, torch.Tensor) and of_tensors and value.layout is torch.strided:
            found |= symbols_in((*value.shape, *value.stride(), value.storage_offset()))
        elif isinstance(value, (list, tuple)):
            found |= symbols_in(value, of_tensors)
    return found


def values_of(arguments: Any) -> Any:
    """What the nodes among `arguments` stand for."""
    return torch.fx.node.map_arg(arguments, lambda node: node.meta["val"])


def is_known(condition: Any) -> bool:
    """Whether a condition on sizes holds for all of them. Adds no guard and reads no hint."""
    from torch.fx.experimental.symbolic_shapes import statically_known_true

    return statically_known_true(condition)


def ranges_of(values: Any) -> dict[str, tuple[int | None, int | None]]:
    """The ranges of the symbols that these values (fake tensors, SymInts) are made of."""
    from torch._guards import detect_fake_mode

    mode = detect_fake_mode([value for value in values if isinstance(value, torch.Tensor)])
    environment = getattr(mode, "shape_env", None)
    if environment is None:
        for value in values:
            if isinstance(value, torch.SymInt):
                environment = value.node.shape_env
    if environment is None:
        return {}

    def bound(limit: Any) -> int | None:
        return int(limit) if limit.is_Integer and abs(int(limit)) < 2**62 else None

    return {str(symbol): (bound(limits.lower), bound(limits.upper))
            for symbol, limits in environment.var_to_range.items()}


def fake_mode_of(module: Any) -> Any:
    """In which operators tell what they give for what a graph's nodes say of themselves."""
    from torch._guards import detect_fake_mode

    values = [node.meta.get("val") for node in module.graph.nodes]
    return detect_fake_mode([value for value in values if isinstance(value, torch.Tensor)]) or contextlib.nullcontext()


@contextlib.contextmanager
def drawing_from(generator: Any) -> Iterator[None]:
    """In the block the GPU's own generator is in the state of this one, which goes on with it."""
    own = torch.cuda.default_generators[generator.device.index]
    before = own.graphsafe_get_state()
    own.graphsafe_set_state(generator)
    try:
        yield
    finally:
        own.graphsafe_set_state(before)


def tracing_lock() -> Any:
    """What one thread holds that traces: torch.compile takes it itself, and torch.export does not."""
    from torch._dynamo.convert_frame import compile_lock

    return compile_lock


_is_lock_lost = False


def is_tracing_possible() -> bool:
    """Not in the child of a fork, if another thread of its parent was tracing: that holds the lock for ever."""
    return not _is_lock_lost


def _look_at_lock() -> None:
    global _is_lock_lost
    lock = getattr(sys.modules.get("torch._dynamo.convert_frame"), "compile_lock", None)
    if lock is not None:
        _is_lock_lost = not lock.acquire(blocking=False)
        if not _is_lock_lost:
            lock.release()


os.register_at_fork(after_in_child=_look_at_lock)


def aot_autograd(**options: Any) -> Any:
    """A backend of torch.compile that turns Dynamo's graphs into functional ATen."""
    from torch._dynamo.backends.common import aot_autograd as make

    return make(**options)


def boxed(call: Any) -> Any:
    """Says of a compiled graph that it takes one list, which it empties."""
    call._boxed_call = True
    return call


CUTS, LEFT_OUT = "graph_break", "unimplemented"


def dynamo_reasons(kind: str) -> collections.Counter[str]:
    """Why Dynamo has cut functions (CUTS), or left them to Python (LEFT_OUT), and how often, since the process began: a reset
    leaves its counts."""
    return collections.Counter({str(reason): count for reason, count in torch._dynamo.utils.counters[kind].items()})


def cut_behind(module: Any) -> tuple[str, list[traceback.FrameSummary]] | None:
    """Of a graph that Dynamo gives a backend: why the function is cut behind it, and where; None where it ends there."""
    cut = getattr(module, "compile_subgraph_reason", None)
    return (str(cut.reason), list(cut.user_stack)) if cut is not None and cut.graph_break else None


def dynamo_attempts() -> list[Any]:
    """Dynamo's latest attempts to compile functions."""
    return list(torch._dynamo.utils.get_compilation_metrics())


def failure_of(attempt: Any) -> tuple[str, str, str] | None:
    """What an attempt has left to Python: the function, with its place, why, and the line that is at fault ("" where that is
    not known); None where it did not fail."""
    if attempt.fail_reason is None:
        return None
    line = f"{attempt.fail_user_frame_filename}:{attempt.fail_user_frame_lineno}" if attempt.fail_user_frame_filename else ""
    return f"{attempt.co_name} ({attempt.co_filename}:{attempt.co_firstlineno})", str(attempt.fail_reason), line


def tree_leaves(tree: Any) -> list[Any]:
    """What is nested in lists, tuples, dicts and other containers that torch knows."""
    return torch.utils._pytree.tree_leaves(tree)


def treespec_text(spec: Any) -> str:
    """How something is nested, as torch.export.save writes it."""
    return torch.utils._pytree.treespec_dumps(spec)


def is_tangent(node: Any) -> bool:
    """Whether a placeholder of a backward graph is a gradient of a result, of which Dynamo guards nothing."""
    return node.op == "placeholder" and "tangents" in str(node.target)


def tangent_of(node: Any) -> Any:
    """Of which result a placeholder of a backward graph is the gradient, as described_results describes them; None of
    other placeholders."""
    return getattr(node.meta.get("desc"), "output", None) if node.op == "placeholder" else None


def described_results(module: Any) -> list[tuple[Any, Any]]:
    """AOTAutograd's descriptions of a graph's results, with these."""
    end = module.graph.output_node()
    results = end.args[0] if isinstance(end.args[0], (list, tuple)) else [end.args[0]]
    return list(zip(end.meta.get("desc") or [], results))


def called_for(node: Any) -> Any:
    """What the program calls where Dynamo has seen the call that a node is a part of: a function, a class of modules or the
    name of a method; None where it has not."""
    calls = node.meta.get("source_fn_stack")
    return calls[-1][1] if calls else None


def is_slow_convolution(_: Any, x: Any, weight: Any, biases: Any, stride: Any, padding: Any, dilation: Any, transposed: bool,
                        output_padding: Any, groups: int) -> bool:
    """Whether PyTorch runs the convolution whose backward operator has these arguments without oneDNN."""
    backend = torch._C._select_conv_backend(x, weight, stride=stride, padding=padding, dilation=dilation, transposed=transposed,
                                            output_padding=output_padding, groups=groups, bias=None, bias_sizes=biases)
    return bool(backend.name == "Slow2d")


def static_arguments() -> list[int]:
    """Which arguments of the graph that is being compiled are parameters and buffers."""
    from torch._guards import TracingContext

    context = TracingContext.try_get()
    metadata = context.fw_metadata if context else None
    return list(metadata.static_input_indices or []) if metadata else []


def min_cut() -> Any:
    """What cuts a joint graph into forward and backward, recomputing what is cheap."""
    from functorch.compile import min_cut_rematerialization_partition

    return min_cut_rematerialization_partition


def graph_module(root: Any, graph: Any) -> Any:
    """A GraphModule that generates no code before it is called: most are not."""
    from torch.fx._lazy_graph_module import _LazyGraphModule

    return _LazyGraphModule(root, graph)


def copied(module: Any) -> Any:
    """A copy of the graph on the same tensors: the caller's is not ours to change."""
    graph = torch.fx.Graph()
    graph.output(graph.graph_copy(module.graph, {})).meta = dict(module.graph.output_node().meta)
    return graph_module(module, graph)


def release_compiled() -> None:
    """torch.compile, with any backend, hangs what it compiled on code objects, and keeps backends, where Python's collector
    does not see them: a function of __main__ would keep all of __main__ beyond the interpreter's end, with the programs
    and kernels in it."""
    if "torch._dynamo" in sys.modules and is_tracing_possible():
        # With a torch for GPUs it ends by importing Inductor, of which Python's end lets parts no longer be imported.
        with contextlib.suppress(RuntimeError):
            torch.compiler.reset()
        _clear_caches()


def _clear_caches() -> None:
    """Dynamo's cached functions are keyed by users' classes, and so by the methods, globals and kernels of these. About 10 ms."""
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "torch":
            for value in list(vars(module).values()):
                if type(value) is functools._lru_cache_wrapper:  # isinstance would ask the value, which may warn
                    value.cache_clear()


_GENERATED = torch._library.autograd
_ORDINARY = (torch._C.DispatchKeySet(torch._C.DispatchKey.CPU) |
             torch._C.DispatchKeySet(torch._C.DispatchKey.AutogradCPU)).raw_repr()


def register_autograd(library: Any, name: str, run: Any, backward: Any, setup_context: Any) -> None:
    """As torch.library.register_autograd does; but a call that needs no gradients, of ordinary tensors and with no mode
    around it, is run(*args) at once, without another turn through the dispatcher."""
    differentiable = _GENERATED.make_autograd_impl(torch._library.utils.lookup_op(name),
                                                   _GENERATED.Info(backward, setup_context))
    is_grad_enabled, needs_gradients = torch.is_grad_enabled, torch._C._any_requires_grad

    def call(keys: Any, *args: Any) -> Any:
        if keys.raw_repr() == _ORDINARY and not (is_grad_enabled() and needs_gradients(*args)):
            return run(*args)
        return differentiable(keys, *args)

    library.impl(name.partition("::")[2], call, "Autograd", with_keyset=True)


def leave_negated(library: Any, name: str) -> None:
    """An operator that writes is called with negated views as they are: torch resolves those of what is written only where
    an operator gives it back."""
    library.impl(name.partition("::")[2], torch.library.fallthrough_kernel, "Negative")
