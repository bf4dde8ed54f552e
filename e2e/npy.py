# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads .npy files with the standard library alone."""

import array
import ast
import struct

CODES = {"f8": "d", "f4": "f", "i8": "q", "i4": "i", "i2": "h", "i1": "b", "u8": "Q", "u4": "I", "u2": "H", "u1": "B",
         "b1": "B"}


def parse(data: bytes) -> tuple[tuple, str, list]:
    """Shape, numpy type code without byte order ("f4"), and the values in row-major order."""
    if data[:6] != b"\x93NUMPY":
        raise ValueError("not an .npy file")
    wide = data[6] > 1
    (length,) = struct.unpack_from("<I" if wide else "<H", data, 8)
    start = (12 if wide else 10) + length
    header = ast.literal_eval(data[12 if wide else 10:start].decode("latin1"))
    if header["fortran_order"] and len(header["shape"]) > 1:
        raise ValueError("column-major arrays are not expected here")
    code, body = header["descr"][1:], data[start:]
    if code == "f2":
        values = [item[0] for item in struct.iter_unpack("<e", body)]
    else:
        values = array.array(CODES[code])
        values.frombytes(body)
    return header["shape"], code, list(values)


def widen_bf16(bits: list) -> list:
    """The values of bfloat16 numbers that were written as 16-bit integers."""
    packed = b"".join(struct.pack("<I", value << 16) for value in bits)
    return list(array.array("f", packed))
