#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Runs the Python tests on an installed wheel, in a fresh environment in which no LLVM can be loaded: the folders of
# LLVM's packages are hidden, and so is this one, but for the tests.
#   scripts/test_wheel.sh dist/tilewright-....whl [what pytest is to run, default all]
# TW_WHEEL_REQUIREMENTS: what the environment gets beside the wheel; default its extra "test".
set -euo pipefail
cd "$(dirname "$0")/.."
wheel=$(realpath "${1:?the wheel}")
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"${TW_WHEEL_PYTHON:-python3}" -m venv "$work/env"
# shellcheck disable=SC2086
if [ -n "${TW_WHEEL_REQUIREMENTS:-}" ]; then
  "$work/env/bin/pip" install --quiet --disable-pip-version-check "$wheel" $TW_WHEEL_REQUIREMENTS
else
  "$work/env/bin/pip" install --quiet --disable-pip-version-check "$wheel[test]"
fi
cp -r python/tests docs examples "$work/"
mkdir -p "$work/tree/python" "$work/empty"
mv "$work/tests" "$work/tree/python/"
mv "$work/docs" "$work/examples" "$work/tree/"
cp pyproject.toml README.md "$work/tree/"
# In a mount namespace of its own, so that nothing outside changes.
hide='for each in /usr/lib/llvm-* /usr/lib/x86_64-linux-gnu/libLLVM* /usr/lib/x86_64-linux-gnu/libMLIR*; do
  if [ -d "$each" ]; then mount --bind "$0/empty" "$each"; elif [ -e "$each" ]; then mount --bind /dev/null "$each"; fi
done
cd "$0/tree" && exec "$0/env/bin/python" -m pytest -q -p no:cacheprovider "$@"'
as_root=()
((EUID == 0)) || as_root=(--map-root-user)
HF_HUB_OFFLINE=1 PYTHONDONTWRITEBYTECODE=1 unshare "${as_root[@]}" --mount bash -c "$hide" "$work" "$@"
