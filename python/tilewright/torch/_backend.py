# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The backend "tilewright" of torch.compile: each graph that AOTAutograd makes becomes one program, or, where some
of its operators are not supported, programs with eager PyTorch between them."""
from __future__ import annotations

import atexit
import contextlib
import weakref
from collections.abc import Callable
from typing import Any

from torch.fx import GraphModule

from .. import _native
from . import _cache, _explain, _kernel_views, _order, _partition, _place, _private, _random, _strides, _support
from ._graph_writer import Unwritable
from ._layout import FROZEN, Layout
from ._partition import NotCompiled
from ._options import Options, read
from ._sizes import Unplannable


# Areas of codes that say what a graph has, and not how it was asked for.
ABOUT_THE_MODEL = {"IMPORT", "LOWER", "PROGRAM", "TARGET", "TILE"}
# But this one: code of an architecture that the compiler does not know.
ABOUT_THE_TARGET = {"TW-PROGRAM-0009"}


def backend(module: GraphModule, example_inputs: list[Any], *, mode: Any = None, options: Any = None) -> Any:
    """Compiles a graph of torch.compile(f, backend="tilewright", options={...}).

    options: "target" ("cpu", "cpu:NAME", "nvidia:sm_90a" or "reference"; default: that of the device on which a graph's
    tensors are), "threads" (default: torch.get_num_threads() at each call), "kernels" (as for tilewright.compile),
    "dump_to" (a folder that gets the IR; passes by the cache), "precision" (as for tilewright.compile; without a target,
    of graphs on GPUs), "freeze" (True: parameters and buffers of graphs without gradients are laid out for the kernels once, and
    again when one is replaced or written to; writes through .data are not seen).
    Unknown ones raise TW-PYTHON-0005. What is not supported runs eagerly: the logger "tilewright.torch" says at
    the level INFO what, and why; see explain.
    """
    return compile_for(module, example_inputs, read(mode, options))


def compile_for(module: GraphModule, example_inputs: list[Any], options: Options,
                listener: Callable[[_explain.GraphRecord], None] | None = None) -> Any:
    """What `backend` does; the `listener` is told of each graph of AOTAutograd."""
    in_eager = _strides.InEager()

    def compiler(kind: str) -> Callable[[GraphModule, Any], Any]:
        return lambda graph, inputs: compile_graph(graph, kind, options, listener, in_eager)

    return _private.aot_autograd(fw_compiler=compiler("forward"), bw_compiler=compiler("backward"),
                                 inference_compiler=compiler("inference"), partition_fn=_private.min_cut(),
                                 keep_inference_input_mutations=True)(module, example_inputs)


def compile_graph(module: GraphModule, kind: str, options: Options,
                  listener: Callable[[_explain.GraphRecord], None] | None, in_eager: _strides.InEager) -> Any:
    """What runs a graph of functional ATen: it takes one list, which it empties, and returns a list. `in_eager` is shared
    by a forward graph and its backward graph."""
    module = in_eager.corrected(module, kind == "inference")
    _kernel_views.make_views_explicit(module)
    if options.freeze and kind == "inference":
        placeholders = [node for node in module.graph.nodes if node.op == "placeholder"]
        for index in _private.static_arguments():
            placeholders[index].meta[FROZEN] = True
    seen = _explain.GraphRecord(kind, sum(node.op == "call_function" for node in module.graph.nodes))
    place = _place.of_graph(module, options.target)
    prologue, drawn = _random.extract(module, _opaque(module, options, place))
    run = None
    if not drawn:
        with contextlib.suppress(NotCompiled):
            run = compile_partition(module, options, seen)
    if run is None:
        reasons = _support.unsupported(module, options.sources(), place, drawn)
        run = _partition.run_in_pieces(module, reasons, lambda part, seen: compile_partition(part, options, seen), seen)
    seen.tell()
    if listener is not None:
        listener(seen)
    return run if prologue is None else _behind(prologue, run)


def _opaque(module: GraphModule, options: Options, place: Any) -> Callable[[Any], bool]:
    """Which nodes may draw from a generator without saying so: what a kernel of the user's stands for does not."""
    if not options.kernels or not any(map(_order.is_opaque, module.graph.nodes)):
        return _order.is_opaque
    eager = _support.unsupported(module, options.sources(), place)
    return lambda node: node in eager and _order.is_opaque(node)


def _behind(prologue: _random.Prologue, run: Any) -> Any:
    def call(args: list[Any]) -> Any:
        prologue.add_to(args)
        return run(args)

    return _private.boxed(call)


def _compiled(module: GraphModule, layout: Layout, options: Options, place: _place.Place) -> tuple[Any, Any]:
    """The graph's program; and what _native.Graph is to know of its weights, None where none is frozen."""
    frozen = layout.frozen_inputs()
    json, kernels = _support.serialize(module, frozen=frozen)
    program, preparation = _cache.compile(json, options, kernels, frozen, place)
    if preparation is None:
        return program, None
    prepared = {value.name: ~number for number, value in enumerate(preparation.outputs)}
    places = {name: index for index, name in enumerate(layout.names)} | prepared
    return program, (preparation, [places[value.name] for value in preparation.inputs],
                     [places[value.name] for value in program.inputs], _private.WRITES)


def compile_partition(module: GraphModule, options: Options, seen: _explain.GraphRecord) -> Any:
    """What runs the whole of `module`, in which nothing is random, a _native.Graph. Raises NotCompiled when something in it
    is not supported."""
    place = _place.of_graph(module, options.target)
    for node in module.graph.nodes:
        if why := _support.foreign(node.meta.get("val"), place):
            raise NotCompiled(why)
        if why := _support.about_memory(node):
            raise NotCompiled(why, [node.name])
    if isinstance(place, str):
        raise NotCompiled(place)
    try:
        work = _private.copied(module)
        layout = Layout(work)
        program, frozen = (None, None) if layout.is_empty else _compiled(work, layout, options, place)
    except Unplannable as error:
        raise NotCompiled(f"it has {error}", error.names) from error
    except Unwritable as error:
        raise NotCompiled(f"it has {error}") from error
    except (_native.UnsupportedError, _native.InternalError) as error:
        if error.code.split("-")[1] not in ABOUT_THE_MODEL or error.code in ABOUT_THE_TARGET:
            raise
        if isinstance(error, _native.InternalError):
            _private.logger.warning("a graph runs eagerly because of a mistake of Tilewright, please report it: %s",
                                    error.text)
        raise NotCompiled(error.message, _support.names_in(error)) from error
    if program is not None:
        seen.add_program(program)
    return _until_the_end(_native.Graph(program, *layout.native(), options.thread_count(), frozen, place.tensors))


_in_use: weakref.WeakSet[_native.GraphFunction] = weakref.WeakSet()


def _until_the_end(graph: _native.Graph) -> _native.GraphFunction:
    """`graph` as a function that takes one list."""
    run = _native.GraphFunction(graph)
    _in_use.add(run)
    return _private.boxed(run)


@atexit.register
def _release() -> None:
    for run in list(_in_use):
        run.end()
