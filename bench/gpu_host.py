# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What bench/gpu.py measures of the host: how long `tw_instance_enqueue` takes for a deep chain of small kernels, as a
CUDA graph and piece by piece, and how long the GPU then takes. PyTorch's are a captured graph and eager calls."""

import ctypes
import time

# Layers, each a product and a softmax; rows and columns.
CHAINS = {"chain_500": (500, 64, 64)}
CALLS = 200


class Options(ctypes.Structure):
    """tw_instance_options."""

    _fields_ = [("struct_size", ctypes.c_size_t), ("threads", ctypes.c_int32), ("unused", ctypes.c_int32),
                ("graphs", ctypes.c_int32)]


class GraphInfo(ctypes.Structure):
    """tw_graph_info."""

    _fields_ = [("calls", ctypes.c_int64), ("graph_calls", ctypes.c_int64), ("entries", ctypes.c_int64),
                ("graphs_made", ctypes.c_int64), ("changes", ctypes.c_int64), ("graphs", ctypes.c_int32),
                ("reason", ctypes.c_char_p)]


def module(row: dict):
    import torch

    class Chain(torch.nn.Module):
        def forward(self, x, w):
            for _ in range(row["layers"]):
                x = torch.softmax(x @ w, -1)
            return x

    return Chain()


def shapes(row: dict) -> dict[str, tuple]:
    return {"x": (row["rows"], row["columns"]), "w": (row["columns"], row["columns"])}


def host_times(calls: list) -> tuple[float, float, float]:
    """Microseconds of the host in the fastest and in the median call, and of the GPU with the host in a median one.
    Each call has an idle GPU before it, so that none waits for room among what is enqueued."""
    import torch

    host, whole = [], []
    for i in range(CALLS + 10):
        torch.cuda.synchronize()
        begin = time.perf_counter_ns()
        calls[i % len(calls)]()
        enqueued = time.perf_counter_ns()
        torch.cuda.synchronize()
        host.append((enqueued - begin) / 1e3)
        whole.append((time.perf_counter_ns() - begin) / 1e3)
    host, whole = sorted(host[10:]), sorted(whole[10:])
    return host[0], host[len(host) // 2], whole[len(whole) // 2]


def torch_graph(function):
    import torch

    function()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        function()
    return graph.replay


def measure(name: str, row: dict, open_artifact) -> bool:
    """Prints the row's table; whether all results are PyTorch's. `open_artifact(graphs)` gives what gpu.py's
    Compiled is, and its number of dispatches."""
    import torch

    def random_input():
        return {key: torch.randn(*shape, device="cuda", dtype=torch.float16) * 0.5
                for key, shape in shapes(row).items()}

    first, chain = random_input(), module(row)
    sets = [(given, torch.empty(row["rows"], row["columns"], device="cuda", dtype=torch.float16))
            for given in [first] + [dict(first, x=first["x"].clone()) for _ in range(3)]]
    want, right = chain(**first), True
    print(f"{name}: microseconds      host, fastest  host, median  with the GPU")

    def show(what: str, calls: list) -> None:
        fastest, median, whole = host_times(calls)
        print(f"  {what:30} {fastest:10.1f} {median:13.1f} {whole:13.1f}", flush=True)

    for what, graphs in (("a graph", 0), ("piece by piece", 1)):
        compiled, dispatches = open_artifact(graphs)
        calls = [compiled.call(row, given, result) for given, result in sets]
        for call in calls * 3:
            call()
        compiled.check(compiled.library.tw_instance_wait(compiled.instance))
        right &= all(torch.allclose(result, want, rtol=0.02, atol=2e-3) for _, result in sets)
        show(f"{dispatches} dispatches, {what}", calls[:1] * 2)
        show("  other addresses in each call", calls)
        compiled.library.tw_instance_graphs.restype = GraphInfo
        info = compiled.library.tw_instance_graphs(compiled.instance)
        print(f"    {info.graph_calls} of {info.calls} calls were graphs, {info.graphs_made} made, {info.changes} pieces "
              f"of work changed" + (f"; the last was none: {info.reason.decode()}" if info.reason else ""))
    with torch.no_grad():
        show("PyTorch, a graph", [torch_graph(lambda: chain(**first))])
        show("PyTorch, eager", [lambda: chain(**first)])
    return right
