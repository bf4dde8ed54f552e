# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Appends the payload of fake artifacts with weights at offset 65536: f32 [1, 2, 3, 4], then i64 5 at 64."""
import struct
import sys

OFFSET = 65536
with open(sys.argv[1], "r+b") as f:
    image = f.read()
    if b'"where": "embedded"' not in image:
        sys.exit()
    assert len(image) <= OFFSET, len(image)
    f.write(b"\0" * (OFFSET - len(image)))
    f.write(struct.pack("<4f", 1, 2, 3, 4).ljust(64, b"\0") + struct.pack("<q", 5))
