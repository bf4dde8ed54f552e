# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a process of bench/cpu.py does: it writes a workload's program, inputs and exact results, or runs a peer (eager,
inductor, onnxruntime or iree) when it is told to.

A peer first sends its error (the distance from the exact results; with those that a program of another kind of artifact
does not return, none), then receives (threads, seconds) and answers each with the fastest tenth and the median of the
calls that it made, in microseconds. It needs no tool of ours.
"""
import copy
import inspect
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

import cpu_workloads
import numpy
import torch
from cpu_numbers import FEWEST_CALLS, error, exact
from torch.utils import _pytree as pytree



def arrays(values):
    return [(x.float() if x.dtype == torch.bfloat16 else x).detach().numpy() for x in pytree.tree_leaves(values) if torch.is_tensor(x)]


def step(module, given):
    """The loss of a training step; gradients are left at the parameters."""
    for parameter in module.parameters():
        parameter.grad = None
    loss = module(*given)
    loss.backward()
    return loss


def calling(workload, module, given):
    return (lambda: step(module, given)) if workload.trains else (lambda: module(*given))


def results(workload, module, given):
    """By name, if it is a gradient."""
    values = calling(workload, module, given)()
    gradients = {name: p.grad for name, p in module.named_parameters() if p.grad is not None} if workload.trains else {}
    return arrays(values), {name: arrays(value)[0] for name, value in gradients.items()}


# ===--- export -------------------------------------------------------------=== #

def exported(workload, module, given):
    sizes = {at: {dim: torch.export.Dim(f"size_{at}_{dim}", min=1, max=cpu_workloads.MANY_ROWS) for i, dim in workload.dynamic if i == at}
             for at in range(len(given))}
    example = list(given)
    for at, dim in workload.dynamic:  # a size of 1 would be taken as a constant
        example[at] = torch.cat([given[at]] * 3, dim).narrow(dim, 0, 3)
    shapes = tuple(sizes.values())
    first = next(iter(inspect.signature(module.forward).parameters.values()))
    if first.kind is inspect.Parameter.VAR_POSITIONAL:  # one argument, to torch.export
        shapes = (shapes,)
    program = torch.export.export(module, tuple(example), dynamic_shapes=shapes if workload.dynamic else None)
    if workload.trains:
        from torch.export.experimental import _export_forward_backward
        program = _export_forward_backward(program)
    return program


def ordered(program, values, gradients):
    """As the exported program orders its results."""
    waiting = list(values)
    return [gradients[spec.target] if spec.kind.name == "GRADIENT_TO_PARAMETER" else waiting.pop(0)
            for spec in program.graph_signature.output_specs if spec.kind.name in ("LOSS_OUTPUT", "USER_OUTPUT", "GRADIENT_TO_PARAMETER")]


def least_work(workload, module, given):
    """Floating-point operations of products, and bytes of what is read and written: parameters but for tables that are
    looked up in, inputs, results; of tables, the rows that are looked up."""
    from torch.utils.flop_counter import FlopCounterMode
    tables = [each for each in module.modules() if isinstance(each, (torch.nn.Embedding, torch.nn.EmbeddingBag))]
    used = {id(p): p for each in module.modules() if each not in tables for p in each.parameters(recurse=False)}
    looked_up = []
    for table in tables:
        row = table.weight[0].nbytes
        table.register_forward_pre_hook(lambda _, at, row=row: looked_up.append(row * at[0].unique().numel()))
    with FlopCounterMode(display=False) as counter:
        values = calling(workload, module, given)()
    weights, others, gradients = (sum(x.numel() * x.element_size() for x in each if torch.is_tensor(x))
                                  for each in (used.values(), [*given, *pytree.tree_leaves(values)], [p.grad for p in module.parameters()]))
    return {"flops": workload.flops or counter.get_total_flops(), "bytes": weights + others, "given_bytes": others + gradients,
            "looked_up_bytes": sum(looked_up)}


def to_double(value):
    return value.double() if torch.is_tensor(value) and value.is_floating_point() else value


def export(name, folder):
    workload, module, given = cpu_workloads.made(name)
    program = exported(workload, copy.deepcopy(module), given)
    torch.export.save(program, folder / "model.pt2")
    values = ordered(program, *results(workload, copy.deepcopy(module), given))
    expected = ordered(program, *results(workload, copy.deepcopy(module).double(), tuple(map(to_double, given))))
    for i, x in enumerate(arrays(given)):
        numpy.save(folder / f"in{i}.npy", x)
    numpy.savez(folder / "exact.npz", *expected)
    floating = [x.dtype for x in pytree.tree_leaves((given, list(module.parameters()))) if x.is_floating_point()]
    bits = min(torch.finfo(dtype).bits for dtype in floating)
    facts = {"error": error(values, expected), "bits": bits, **least_work(workload, module, given)}
    (folder / "facts.json").write_text(json.dumps(facts))
    if not workload.trains:  # the last, for it fails where ONNX lacks something
        torch.onnx.export(module, given, str(folder / "model.onnx"), dynamo=True, verbose=False)


# ===--- peers --------------------------------------------------------------=== #

def torch_calls(kind, workload, module, given, folder, threads):
    if kind == "inductor":
        import torch._inductor.config as config
        config.freezing = not workload.trains
        if workload.is_avx2:
            config.cpp.simdlen = 256
    for count in threads:
        torch.set_num_threads(count)
        torch._dynamo.reset()
        yield count, calling(workload, module if kind == "eager" else torch.compile(module), given)


def onnxruntime_calls(kind, workload, module, given, folder, threads):
    import onnxruntime
    for count in threads:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = count
        session = onnxruntime.InferenceSession(str(folder / "model.onnx"), options)
        feed = {i.name: x.numpy() for i, x in zip(session.get_inputs(), given)}
        yield count, lambda session=session, feed=feed: session.run(None, feed)


def iree_calls(kind, workload, module, given, folder, threads):
    import iree.compiler
    import iree.runtime as runtime
    scripts = pathlib.Path(sys.executable).parent
    text, program = folder / "model.mlir", folder / "model.vmfb"
    for command in ([scripts / "iree-import-onnx", folder / "model.onnx", "-o", text],
                    [scripts / "iree-compile", "--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu",
                     "--iree-llvmcpu-target-cpu=host", "--iree-opt-level=O3", text, "-o", program]):
        done = subprocess.run(list(map(str, command)), check=False, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(next((line for line in done.stderr.splitlines() if "error:" in line), "it cannot compile this"))
    for count in threads:
        runtime.flags.parse_flags(f"--task_topology_max_group_count={count}")
        device = runtime.get_device("local-sync" if count == 1 else "local-task", cache=False)
        context = runtime.SystemContext(config=runtime.Config(device=device))
        context.add_vm_module(runtime.VmModule.mmap(context.instance, str(program)))
        module = [each for name, each in context.modules.items() if name != "hal"][0]
        entry = next(module[name] for name in module.vm_module.function_names if not name.startswith("__") and not name.endswith("$async"))
        on_device = [runtime.asdevicearray(device, x.numpy()) for x in given]
        yield count, lambda entry=entry, on_device=on_device: entry(*on_device)


CALLS = {"eager": torch_calls, "inductor": torch_calls, "onnxruntime": onnxruntime_calls, "iree": iree_calls}


def returned(value):
    """Arrays of whatever kind of results a peer has."""
    leaves = value if isinstance(value, (list, tuple)) else [value]
    return arrays(value) or [numpy.asarray(x) for x in leaves]


def received(pipe):
    """The next question, or None where there will be no more."""
    try:
        return pipe.recv()
    except EOFError:
        return None


def serve(kind, name, folder, threads, pipe):
    workload, module, given = cpu_workloads.made(name)
    torch.set_grad_enabled(workload.trains)
    calls = dict(CALLS[kind](kind, workload, module, given, folder, threads))
    expected, found = exact(folder), []
    for count, call in calls.items():
        torch.set_num_threads(count)
        values = returned(call())
        found.append(error(values, expected[:len(values)]))
    pipe.send(max(found))
    for count, seconds in iter(lambda: received(pipe), None):
        torch.set_num_threads(count)
        call, times, end = calls[count], [], time.perf_counter() + seconds
        call()
        while time.perf_counter() < end or len(times) < FEWEST_CALLS:
            start = time.perf_counter()
            call()
            times.append(1e6 * (time.perf_counter() - start))
        pipe.send((sorted(times)[len(times) // 10], statistics.median(times)))


def main(kind, name, folder, threads, pipe):
    """`threads` are the numbers of them that a peer is prepared for, and what an export may use."""
    if kind == "export":
        torch.set_num_threads(*threads)
        export(name, folder)
    else:
        serve(kind, name, folder, threads, pipe)
