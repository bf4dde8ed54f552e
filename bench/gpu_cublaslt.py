# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The products of bench/gpu.py by cublasLt itself: each of the candidates that its heuristic names, so that the peer
is the best of them and not only the one that PyTorch takes. By ctypes, from the library that PyTorch has loaded."""

import ctypes
import pathlib

CANDIDATES, WORKSPACE_BYTES = 8, 64 << 20
# Of cublasLt.h and library_types.h.
TYPES = {"f16": 2, "bf16": 14, "f32": 0}
COMPUTE_32F, COMPUTE_TF32, EPILOGUE_GELU_BIAS = 68, 77, 32 | 4
TRANS_A, TRANS_B, EPILOGUE, BIAS_POINTER, BIAS_TYPE, MAX_WORKSPACE = 3, 4, 7, 8, 26, 1


class Heuristic(ctypes.Structure):
    """cublasLtMatmulHeuristicResult_t."""

    _fields_ = [("algorithm", ctypes.c_uint64 * 8), ("workspace", ctypes.c_size_t), ("state", ctypes.c_int),
                ("waves", ctypes.c_float), ("reserved", ctypes.c_int * 4)]


def library() -> ctypes.CDLL:
    import torch

    torch.mm(*(torch.ones(8, 8, device="cuda") for _ in range(2)))  # loads it
    for line in pathlib.Path("/proc/self/maps").read_text().splitlines():
        if "libcublasLt.so" in line:
            return ctypes.CDLL(line.split()[-1])
    raise RuntimeError("PyTorch has not loaded libcublasLt")


_state: dict = {}


def state() -> dict:
    """The library, a handle and a workspace."""
    import torch

    if not _state:
        _state["library"], _state["handle"] = library(), ctypes.c_void_p()
        check(_state["library"].cublasLtCreate(ctypes.byref(_state["handle"])))
        _state["workspace"] = torch.empty(WORKSPACE_BYTES, dtype=torch.uint8, device="cuda")
    return _state


def check(status: int) -> None:
    if status:
        raise RuntimeError(f"cublasLt returns {status}")


def pointer(tensor) -> ctypes.c_void_p:
    return ctypes.c_void_p(tensor.data_ptr())


class Product:
    """x [m, k] by w, [n, k] or [k, n], into [m, n]; to a library that counts columns first, the transposed one."""

    def __init__(self, row: dict):
        lt, (m, n, k) = state()["library"], (row["m"], row["n"], row["k"])
        self.description, dtype = ctypes.c_void_p(), TYPES[row["dtype"]]
        compute = COMPUTE_TF32 if row["dtype"] == "f32" else COMPUTE_32F
        check(lt.cublasLtMatmulDescCreate(ctypes.byref(self.description), compute, TYPES["f32"]))
        self.set(TRANS_A, ctypes.c_int(row["layout"] == "nk"))
        self.has_bias = bool(row["epilogue"])
        if self.has_bias:
            self.set(EPILOGUE, ctypes.c_int(EPILOGUE_GELU_BIAS))
            self.set(BIAS_TYPE, ctypes.c_int(dtype))
        self.w = self.layout(dtype, *((k, n) if row["layout"] == "nk" else (n, k)))
        self.x, self.out = self.layout(dtype, k, m), self.layout(dtype, n, m)

    def set(self, attribute: int, value) -> None:
        check(state()["library"].cublasLtMatmulDescSetAttribute(self.description, attribute, ctypes.byref(value),
                                                                ctypes.c_size_t(ctypes.sizeof(value))))

    @staticmethod
    def layout(dtype: int, rows: int, columns: int) -> ctypes.c_void_p:
        made = ctypes.c_void_p()
        check(state()["library"].cublasLtMatrixLayoutCreate(ctypes.byref(made), dtype, ctypes.c_uint64(rows),
                                                            ctypes.c_uint64(columns), ctypes.c_int64(rows)))
        return made

    def candidates(self, bias) -> list[Heuristic]:
        lt, preference, limit = state()["library"], ctypes.c_void_p(), ctypes.c_uint64(WORKSPACE_BYTES)
        if self.has_bias:
            self.set(BIAS_POINTER, pointer(bias))
        check(lt.cublasLtMatmulPreferenceCreate(ctypes.byref(preference)))
        check(lt.cublasLtMatmulPreferenceSetAttribute(preference, MAX_WORKSPACE, ctypes.byref(limit),
                                                      ctypes.c_size_t(8)))
        found, count = (Heuristic * CANDIDATES)(), ctypes.c_int()
        check(lt.cublasLtMatmulAlgoGetHeuristic(state()["handle"], self.description, self.w, self.x, self.out,
                                                self.out, preference, CANDIDATES, found, ctypes.byref(count)))
        check(lt.cublasLtMatmulPreferenceDestroy(preference))
        return [one for one in found[:count.value] if one.state == 0]

    def run(self, given: dict, out, candidate: Heuristic):
        import torch

        one, none = ctypes.c_float(1), ctypes.c_float(0)
        if self.has_bias:
            self.set(BIAS_POINTER, pointer(given["bias"]))
        check(state()["library"].cublasLtMatmul(
            state()["handle"], self.description, ctypes.byref(one), pointer(given["w"]), self.w, pointer(given["x"]),
            self.x, ctypes.byref(none), pointer(out), self.out, pointer(out), self.out,
            ctypes.byref(candidate.algorithm), pointer(state()["workspace"]), ctypes.c_size_t(WORKSPACE_BYTES),
            ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)))
        return out


_products: dict = {}


def functions(row: dict, given: dict, out) -> dict:
    """A function for each candidate, which computes into `out`."""
    key = tuple(sorted((name, str(value)) for name, value in row.items()))
    if key not in _products:
        made = Product(row)
        _products[key] = made, made.candidates(given["bias"])
    product, found = _products[key]
    return {f"lt{i}": lambda one=one: product.run(given, out, one) for i, one in enumerate(found)}
