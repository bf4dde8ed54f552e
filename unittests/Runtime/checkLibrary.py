# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""checkLibrary.py libtilewright.so tilewright.h: the library exports exactly the functions of the
header, needs only the C and C++ libraries, and is below 2 MB without debugging information."""
import os
import re
import subprocess
import sys
import tempfile

library, header = sys.argv[1:]


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


symbols = output("nm", "-D", "--defined-only", library)
if re.search("__(asan|tsan)", output("nm", "-D", library)):
    print("a sanitized library is not what users get: not checked")
    sys.exit(0)
exported = {line.split()[-1] for line in symbols.splitlines()}
declared = set(re.findall(r"TW_API[^;]*?\b(tw_\w+)\(", open(header).read()))
assert len(declared) > 20, declared
assert exported == declared, f"exported {exported - declared}, not exported {declared - exported}"

needed = re.findall(r"\(NEEDED\).*\[(.*)\]", output("readelf", "-d", library))
allowed = r"(libc|libm|libstdc\+\+|libgcc_s|libdl|libpthread|ld-linux-x86-64)\.so\.\d+"
assert needed and all(re.fullmatch(allowed, name) for name in needed), needed

with tempfile.TemporaryDirectory() as folder:
    stripped = os.path.join(folder, "stripped.so")
    subprocess.run(["strip", "-o", stripped, library], check=True)
    size = os.path.getsize(stripped)
assert size < 2_000_000, size
print(f"{len(exported)} functions, {size} bytes, needs {' '.join(needed)}")
