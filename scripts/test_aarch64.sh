#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Compiles end-to-end cases for AArch64 and runs them here: by the runtime and the command line built for AArch64, in
# Debian's user-mode emulator. Ends with 77 and says why where this machine has no emulator or cannot get the packages.
#   scripts/test_aarch64.sh BUILD [--every=N] [--target=cpu:aarch64+bf16] [--OPTION=VALUE ...] [CASE ...]
# --every=N takes one case of N. Other options, and cases, are those of e2e/run.py.
set -euo pipefail
build=$(realpath "${1:?build folder}")
shift
cd "$(dirname "$0")/.."
every=1 options=() wanted=() target=--target=cpu:aarch64
for argument in "$@"; do
  case $argument in
  --every=*) every=${argument#*=} ;;
  --target=*) target=$argument ;;
  -*) options+=("$argument") ;;
  *) wanted+=("$argument") ;;
  esac
done
skip() {
  echo "skipped: $1"
  exit 77
}
command -v qemu-aarch64 >/dev/null || skip "there is no qemu-aarch64 (Debian's package qemu-user)"
scripts/aarch64_sysroot.sh build/aarch64-sysroot || skip "Debian's packages for arm64 cannot be had"
[[ -f build/aarch64/build.ninja ]] || cmake --preset aarch64 >/dev/null
cmake --build --preset aarch64 -- --quiet
mapfile -t cases < <(e2e/run.py --tool="$build/bin/tilewright" --list "${wanted[@]}" | awk "NR % $every == 0")
((${#cases[@]})) || exit 1
echo "${target#*=}, ${#cases[@]} cases:"
e2e/run.py --tool="$build/bin/tilewright" --quiet --timeout=600 "$target" \
  --runner="qemu-aarch64 -L $PWD/build/aarch64-sysroot $PWD/build/aarch64/bin/tilewright" "${options[@]}" "${cases[@]}"
