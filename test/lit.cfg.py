# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import os
import shutil
import sys

import lit.formats

config.name = "tilewright"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs", "Install"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.tw_build, "test")
config.environment["PATH"] = os.pathsep.join(
    [os.path.join(config.tw_build, "bin"), config.llvm_tools, os.environ["PATH"]]
)
config.substitutions.append(("%python", sys.executable))
config.substitutions.append(("%build", config.tw_build))
config.substitutions.append(("%models", os.path.join(config.tw_source, "e2e", "models")))
# Artifacts made by hand, a stand-in for the compiler library, one whose fusion is wrong, and one that
# makes wrong code.
config.substitutions.append(
    ("%fake_compiler", os.path.join(config.tw_build, "unittests", "Tools", "fake_compiler.so")))
config.substitutions.append(("%fake", os.path.join(config.tw_build, "unittests", "Runtime", "fake")))
# A folder with a libcuda.so.1 of the tests, for LD_LIBRARY_PATH.
config.substitutions.append(
    ("%old_driver", os.path.join(config.tw_build, "unittests", "Runtime", "old_driver")))
config.substitutions.append(
    ("%driver", os.path.join(config.tw_build, "unittests", "Runtime", "driver")))
config.substitutions.append(
    ("%broken_compiler", os.path.join(config.tw_build, "unittests", "Tools", "broken_compiler.so")))
config.substitutions.append(
    ("%broken_code", os.path.join(config.tw_build, "unittests", "Tools", "broken_code.so")))
config.substitutions.append(
    ("%broken_products", os.path.join(config.tw_build, "unittests", "Tools", "broken_products.so")))
config.substitutions.append(
    ("%faulty_products", os.path.join(config.tw_build, "unittests", "Tools", "faulty_products.so")))
config.substitutions.append(
    ("%tilewright_by_clock", os.path.join(config.tw_build, "bin", "tilewright_fake_clock")))
config.substitutions.append(
    ("%device_compiler", os.path.join(config.tw_build, "lib", "device_compiler.so")))
config.substitutions.append(
    ("%simulated_compiler", os.path.join(config.tw_build, "lib", "simulated_compiler.so")))
# NVIDIA's assembler and disassembler, which scripts/gpu_tools.sh puts into .venv.
config.environment["PATH"] += os.pathsep + os.path.join(config.tw_source, ".venv", "bin")
if all(shutil.which(name, path=config.environment["PATH"]) for name in ("ptxas", "nvdisasm")):
    config.available_features.add("sass")
