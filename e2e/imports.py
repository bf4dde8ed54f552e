# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What an artifact takes from the machine it runs on: a handful of functions of libc and libm."""

import re
import subprocess

MEMORY = {"memcpy", "memmove", "memset"}
ONE_TYPE = {"sincos"} | set("""acos acosh asin asinh atan atan2 atanh cbrt cos cosh erf erfc exp exp2 expm1 fma fmax fmin fmod
    log log10 log1p log2 pow sin sinh tan tanh ceil floor round roundeven trunc""".split())
ALLOWED = MEMORY | ONE_TYPE | {name + "f" for name in ONE_TYPE}
LIBRARIES = {"libc.so.6", "libm.so.6"}


def unexpected(artifact) -> list[str]:
    """What the artifact needs or exports beyond the rule of docs/artifact.md."""
    text = subprocess.run(["readelf", "--wide", "--dynamic", "--dyn-syms", artifact], capture_output=True,
                          text=True, check=True).stdout
    return judge(text)


def judge(text: str) -> list[str]:
    """The same from what `readelf --wide --dynamic --dyn-syms` prints."""
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", text)
    symbols = re.findall(r"^ *\d+: \S+ +\d+ \S+ +(?:GLOBAL|WEAK) +\S+ +(\S+) ([^@\s]+)", text, re.MULTILINE)
    exported = [name for index, name in symbols if index != "UND"]
    wrong = [f"needs {name}" for name in needed if name not in LIBRARIES]
    wrong += [f"imports {name}" for index, name in symbols if index == "UND" and name not in ALLOWED]
    if exported != ["tilewright_program"]:
        wrong.append(f"exports {', '.join(exported) or 'nothing'}, not tilewright_program alone")
    return wrong
