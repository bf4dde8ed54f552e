#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes the bad files that the cases name, in the folder given: make_inputs.py FOLDER
SEAL (unittests/Runtime/seal.cpp).

FOLDER/fake and FOLDER/models are there already (run.py)."""
import pathlib
import struct
import subprocess
import sys

import make_kernels
import make_pt2
import make_specs
import make_text


def npy(dict_text, data=b"", version=1):
    dict_bytes = dict_text.encode()
    length = struct.pack("<H" if version == 1 else "<I", len(dict_bytes))
    return b"\x93NUMPY" + bytes([version, 0]) + length + dict_bytes + data


def header(descr, shape, fortran=False):
    return f"{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}\n"


def npy_files():
    good = npy(header("<f4", "(4,)"), bytes(16))
    yield "good.npy", good
    yield "empty.npy", b""
    yield "text.npy", b"1 2 3 4\n"
    yield "version.npy", npy(header("<f4", "(4,)"), bytes(16), version=9)
    yield "short_magic.npy", good[:9]
    yield "lying_header.npy", good[:8] + struct.pack("<H", 60000) + good[10:]
    yield "lying_header_2.npy", npy(header("<f4", "(4,)"), bytes(16), version=2)[:8] + b"\xff" * 4
    yield "cut_header.npy", good[:40]
    yield "cut_data.npy", good[:-3]
    yield "long_data.npy", good + bytes(5)
    yield "not_a_dict.npy", npy("[1, 2]")
    yield "deep.npy", npy("{'descr': " + "[" * 30000)
    yield "no_shape.npy", npy("{'descr': '<f4', 'fortran_order': False}", bytes(16))
    yield "key_twice.npy", npy("{'shape': (4,), 'shape': (4,)}", bytes(16))
    yield "negative.npy", npy(header("<f4", "(-4,)"), bytes(16))
    yield "huge.npy", npy(header("<f4", "(1000000, 1000000)"), bytes(16))
    yield "overflow.npy", npy(header("<f8", "(4294967296, 4294967296)"), bytes(16))
    yield "rank_65.npy", npy(header("<f4", "(" + "1, " * 65 + ")"), bytes(4))
    yield "object.npy", npy(header("|O", "(1,)"), b"\x80\x04]\x94.")
    yield "structured.npy", npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (4,)}",
                                bytes(16))
    for name, descr, size in [("complex", "<c8", 8), ("u4", "<u4", 4), ("u2", "<u2", 2),
                              ("unicode", "<U1", 4), ("void", "|V2", 2)]:
        yield f"{name}.npy", npy(header(descr, "(4,)"), bytes(4 * size))
    yield "f64.npy", npy(header("<f8", "(4,)"), bytes(32))
    yield "rank_2.npy", npy(header("<f4", "(2, 2)"), bytes(16))
    yield "twelve_bytes.raw", bytes(12)


def json_span(artifact):
    """Where the metadata's length and JSON are."""
    start = artifact.index(b"TWPROG02") + 8
    (length,) = struct.unpack_from("<Q", artifact, start)
    return start, length


def with_json(artifact, old, new):
    """The artifact with a part of its JSON replaced by something that is not longer."""
    assert len(new) <= len(old) and artifact.count(old) == 1, (old, new)
    return artifact.replace(old, new + b" " * (len(old) - len(new)))


def flipped(data, at):
    """The bytes with one bit changed."""
    return data[:at] + bytes([data[at] ^ 8]) + data[at + 1:]


def artifact_files(fake):
    good = (fake / "counter.so").read_bytes()
    start, length = json_span(good)
    yield "empty.so", b""
    yield "text.so", b"not a library\n"
    yield "cut_elf.so", good[:40]
    yield "cut_weights.so", good[:-8]
    yield "wrong_magic.so", good.replace(b"TWPROG02", b"TWPROGXX")
    yield "lying_length.so", good[:start] + struct.pack("<Q", 1 << 60) + good[start + 8:]
    yield "cut_json.so", good[:start] + struct.pack("<Q", length // 2) + good[start + 8:]
    yield "format.so", with_json(good, b'"format": 4', b'"format": 7')
    yield "abi.so", with_json(good, b'"abi": 2', b'"abi": 9')
    yield "dtype.so", with_json(good, b'"dtype": "i64"', b'"dtype": "q9"')
    yield "feature.so", with_json(good, b'"sse2"', b'"zzz9"')
    yield "aarch64.so", good[:18] + struct.pack("<H", 183) + good[20:]  # e_machine
    yield "weights_far.so", with_json(good, b'"where": "embedded", "offset": 65536',
                                      b'"where":"embedded", "offset": 131072')
    yield "weights_large.so", with_json(good, b'"offset": 65536, "bytes": 72',
                                        b'"offset": 65536, "bytes": 99')
    yield "plan.so", with_json(good, b'"bytes": 16, "offset": 0', b'"bytes": 99, "offset": 0')
    yield "negative.so", with_json(good, b'"arena_bytes": 64', b'"arena_bytes": -1')
    beside = with_json(good, b'"where": "embedded", "offset": 65536',
                       b'"where": "external", "offset": 4096')[:65536]
    yield "external.so", beside
    yield "external_cut.so", beside
    yield "external_cut.so.weights", bytes(8)
    yield "external_other.so", beside
    yield "external_other.so.weights", bytes(4096 + 72)
    yield "format_1.so", good.replace(b"TWPROG02", b"TWPROG01")


def damaged_files(fake):
    """What hashes are for: not sealed again."""
    good = (fake / "counter.so").read_bytes()
    yield "code.so", flipped(good, good.index(b"tilewright_program") - 100)
    yield "json.so", flipped(good, good.index(b'"compiler"') + 14)
    yield "payload.so", flipped(good, 65536 + 3)
    yield "longer.so", good + bytes(100)


CODE_MAGIC = b"\x7fELF\x02\x01\x01"  # with which a file of 64 bits begins


def device_files(fake):
    good = (fake / "device.so").read_bytes()
    images = b'"images": [{"offset": 0, "bytes": 16384}]'
    yield "no_device.so", with_json(good, b'"device": {', b'"devicx": {')
    yield "no_image.so", with_json(good, images, b'"images": []')
    yield "image_beyond.so", with_json(good, images, b'"images": [{"offset": 9, "bytes": 16384}]')
    yield "not_an_image.so", with_json(good, images, b'"images": [{"offset": 9, "bytes": 16375}]')
    assert good.count(CODE_MAGIC) == 2  # the artifact, and the code in it
    at = good.rindex(CODE_MAGIC)
    made_by = b"Cuda compilation tools, release 13.0, V13.0.88\0"
    yield "newer_code.so", good[:at] + made_by + good[at + len(made_by):]
    yield "no_kernel.so", with_json(good, b'{"name": "scale", "image"', b'{"name": "scalx", "image"')
    yield "shared_memory.so", with_json(good, b'"shared_bytes": 100000', b'"shared_bytes": 300000')
    yield "libcuda.so.1", b"not a library\n"


def main():
    folder, seal = pathlib.Path(sys.argv[1]), sys.argv[2]
    groups = {"npy": npy_files(), "bad": artifact_files(folder / "fake"),
              "device": device_files(folder / "fake"), "damaged": damaged_files(folder / "fake"),
              "pt2": make_pt2.pt2_files(), "spec": make_specs.spec_files(),
              "text": make_text.text_files(),
              "kernel": [(name, text.encode())
                         for name, text in [*make_kernels.kernel_files(), *make_kernels.call_files(),
                                            *make_kernels.source_files()]]}
    for name, files in groups.items():
        (folder / name).mkdir()
        for file, content in files:
            (folder / name / file).write_bytes(content)
    sealed = [path for name in ("bad", "device") for path in sorted((folder / name).iterdir())
              if path.suffix == ".so" and b"TWPROG02" in path.read_bytes()]
    subprocess.run([seal, *sealed], check=True)


if __name__ == "__main__":
    main()
