#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Runs every test of a build, then those of code for each kind of CPU that this machine can be, and of the
# reference target, with 1 and 3 threads; the nvidia target's code, simulated; compiles all models for a GPU; and goes
# through the Python tutorial from the source on.
set -euo pipefail
build=${1:?build folder}
here=$(dirname "$0")
"$here/test.sh" "$build"
for cpu in x86-64-v3:avx2 x86-64-v4:avx512vl amx:amx_bf16; do
  grep -qw "${cpu#*:}" /proc/cpuinfo || continue
  echo "Unit tests of the target, for ${cpu%:*}"
  TW_TEST_CPU=${cpu%:*} ctest --test-dir "$build" --output-on-failure -j "$(nproc)" -R 'unit\.target_'
done
if test -d "$build/python/tilewright"; then
  echo "All operators and models of torch.compile"
  TW_ALL_OPERATORS=1 TW_ALL_MODELS=1 PYTHONPATH=$build/python "$here/../.venv/bin/python" -m pytest -q -p no:cacheprovider \
    "$here"/../python/tests/torch_compile/test_{op_db,models}.py
  echo "The Python tutorial, from the source to its end"
  "$here/test_tutorial.sh"
fi
echo "clang-tidy with all checks"
"$here/tidy.sh" "$build" --deep
"$here/../e2e/targets.py" --tool="$build/bin/tilewright" --jobs="$(nproc)"
echo "Models drawn at random, and other configurations"
python3 "$here/../e2e/random/judge.py" --tool="$build/bin/tilewright" --jobs="$(nproc)" "$here"/../e2e/random/seeds/*.tar.xz
python3 "$here/../e2e/configurations.py" --tool="$build/bin/tilewright" --jobs="$(nproc)" --count=90
echo "AArch64, emulated"
"$here/test_aarch64.sh" "$build" --jobs="$(nproc)" || [ $? = 77 ]
"$here/test_aarch64.sh" "$build" --jobs="$(nproc)" --target=cpu:aarch64+bf16+i8mm+fullfp16+lse --every=4 || [ $? = 77 ]
echo "The page of a profile, in a browser"
"$here/test_pages.py" --tool="$build/bin/tilewright" || [ $? = 77 ]
echo "Dumps of all models"
"$here/../e2e/run.py" --tool="$build/bin/tilewright" --check-dumps="$build/bin/tilewright-opt" --quiet \
  --jobs="$(nproc)" 'models/*'
echo "Dispatches of models that are tile programs"
"$here/../.venv/bin/python" "$here/tile_share.py" --tool="$build/bin/tilewright" --jobs="$(nproc)" --least=97 --measure \
  --full "$here/../e2e/models"
echo "Kernels of all models as source"
"$here/../e2e/kernel_source.py" "$build" --all
echo "Models for a GPU, simulated"
TILEWRIGHT_COMPILER="$build/lib/simulated_compiler.so" FAKE_CUDA_MEMORY=4000000000 \
  LD_LIBRARY_PATH="$build/unittests/Runtime/driver" \
  "$here/../e2e/run.py" --tool="$build/bin/tilewright" --quiet --jobs="$(nproc)" --timeout=600 'models/*'
echo "Models compiled for a GPU"
PATH=$PATH:$(realpath "$here/..")/.venv/bin
packed=$(mktemp -d)
trap 'rm -rf "$packed"' EXIT
"$here/gpu_check" pack "$packed" --tool="$build/bin/tilewright" --jobs="$(nproc)"
