# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensors of a library that has nothing but DLPack, of any dtype: capsules made by hand, as its C structures lie in memory."""
import ctypes

INT, UINT, FLOAT, OPAQUE, BFLOAT, COMPLEX, BOOL = range(7)  # codes of dtypes

new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype, new_capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device", ctypes.c_int32 * 2), ("rank", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("sizes", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("offset", ctypes.c_uint64), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


class OnlyDLPack:
    """`values` of ctypes (or bytes) as elements of the dtype that DLPack gives this code, bits and lanes; strides of 2 with
    `has_gaps`."""

    def __init__(self, values, code, bits, lanes=1, has_gaps=False):
        self.memory = (ctypes.c_char * len(bytes(values))).from_buffer_copy(bytes(values))
        count = max(len(self.memory) * 8 // (bits * lanes or 1) // (2 if has_gaps else 1), 1)
        self.sizes, self.strides = (ctypes.c_int64 * 1)(count), (ctypes.c_int64 * 1)(2)
        self.tensor = Tensor(ctypes.addressof(self.memory), (1, 0), 1, code, bits, lanes, self.sizes,
                             self.strides if has_gaps else None)

    def __dlpack__(self, **_):
        return new_capsule(ctypes.addressof(self.tensor), b"dltensor", None)

    def __dlpack_device__(self):
        return tuple(self.tensor.device)
