# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check.py BUILD: installs the build into an empty folder, and builds and runs this project with it."""
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


with tempfile.TemporaryDirectory() as folder:
    installed, made = pathlib.Path(folder, "installed"), pathlib.Path(folder, "made")
    run("cmake", "--install", sys.argv[1], "--prefix", installed)
    run("cmake", "-S", HERE, "-B", made, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={installed}",
        "-DCMAKE_C_COMPILER=clang-22", "-DCMAKE_CXX_COMPILER=clang++-22")
    run("cmake", "--build", made)
    run(made / "embed", made / "model.so")
    tool = installed / "bin" / "tilewright"
    said = run(tool, "kernel", "run", made / "kernels.so", "--input=4xf32=5")
    assert "[10, 10, 10, 10]" in said, said
    # Kernels as source find the installed header and archive.
    said = run("env", f"XDG_CACHE_HOME={folder}", tool, "kernel", "print", HERE / "kernels.cpp")
    assert "tile.kernel @twice" in said, said
print("fine")
