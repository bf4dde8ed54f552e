#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls of the C API that the tool never makes, on fake/device.so and the tests' driver; they end as the tool would.

    calls/device.py host|other|twice|free

host, other: an input is in memory of the host, or of the GPU that the program is not on. twice: a call begins while
another one asks for memory. free: the stream is none.
"""
import ctypes
import os
import pathlib
import shutil
import sys

TW_F32, TW_F64 = 2, 3


class Tensor(ctypes.Structure):
    """tw_tensor."""

    _fields_ = [("data", ctypes.c_void_p), ("bytes", ctypes.c_int64), ("dtype", ctypes.c_int32),
                ("rank", ctypes.c_int32), ("sizes", ctypes.POINTER(ctypes.c_int64))]


LIBRARY = ctypes.CDLL(str(pathlib.Path(shutil.which("tilewright")).parent.parent / "lib" / "libtilewright.so"))
LIBRARY.tw_status_text.restype = ctypes.c_char_p
ALLOCATE = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int32, ctypes.POINTER(Tensor))


def call(name: str, *arguments) -> None:
    """Ends the process as the tool does where the function gives a status."""
    function = getattr(LIBRARY, name)
    function.restype = ctypes.c_void_p
    status = function(*arguments)
    if status:
        sys.stderr.write(LIBRARY.tw_status_text(ctypes.c_void_p(status)).decode())
        sys.stderr.flush()
        os._exit(LIBRARY.tw_status_category(ctypes.c_void_p(status)))  # also where C calls back


def gpu_memory(ordinal: int, count: int) -> int:
    """The address of `count` bytes."""
    driver = ctypes.CDLL("libcuda.so.1")
    context, address = ctypes.c_void_p(), ctypes.c_uint64()
    for status in (driver.cuInit(0), driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), ordinal),
                   driver.cuCtxPushCurrent_v2(context), driver.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(count)),
                   driver.cuCtxPopCurrent_v2(ctypes.byref(context))):
        assert status == 0, status
    return address.value


def inputs(address: int):
    """x, of four floats at `address`, and what else fake/device.so takes, on the host."""
    four, limit, cache = (ctypes.c_int64 * 1)(4), ctypes.c_double(9), (ctypes.c_float * 4)()
    tensors = (Tensor * 3)(Tensor(address, 16, TW_F32, 1, four),
                           Tensor(ctypes.addressof(cache), 16, TW_F32, 1, four),
                           Tensor(ctypes.addressof(limit), 8, TW_F64, 0, None))
    tensors.kept = four, limit, cache
    return tensors


def main(what: str) -> None:
    program, instance = ctypes.c_void_p(), ctypes.c_void_p()
    call("tw_program_load", b"fake/device.so", None, ctypes.byref(program))
    call("tw_instance_create", program, None, ctypes.byref(instance))
    host = (ctypes.c_float * 4)()
    if what == "twice":
        allocate = ALLOCATE(lambda user, output, tensor: call("tw_instance_wait", instance))
        call("tw_instance_run_allocating", instance, inputs(ctypes.addressof(host)), 3, allocate, None)
    address = ctypes.addressof(host) if what == "host" else gpu_memory(1 if what == "other" else 0, 16)
    stream = ctypes.c_void_p(1 << 20) if what == "free" else None
    call("tw_instance_enqueue", instance, stream, inputs(address), 3, None, 0)


if __name__ == "__main__":
    main(sys.argv[1])
