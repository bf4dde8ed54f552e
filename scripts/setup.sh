#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Installs what the build and the tests need on Debian 12. Does nothing when all of it is there.
set -euo pipefail
packages=(
  clang-22 lld-22 llvm-22-dev llvm-22-tools libmlir-22-dev mlir-22-tools liblld-22-dev
  libclang-rt-22-dev clang-tidy-22 clang-format-22 libzstd-dev zlib1g-dev
  cmake ninja-build ccache make git python3 python3-dev python3-venv
  libgtest-dev libbenchmark-dev libcli11-dev libfmt-dev libsimdjson-dev libminizip-dev libxxhash-dev libz3-dev libsqlite3-dev)
missing=()
for p in "${packages[@]}"; do
  dpkg-query -W -f '${Status}' "$p" 2>/dev/null | grep -q 'install ok installed' || missing+=("$p")
done
if ((${#missing[@]})); then
  as_root=(); if ((EUID != 0)); then as_root=(sudo); fi
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"
fi
# Code for AArch64 is run by an emulator in tests (scripts/test_aarch64.sh), which are skipped without.
if ! command -v qemu-aarch64 >/dev/null; then
  as_root=(); if ((EUID != 0)); then as_root=(sudo); fi
  { "${as_root[@]}" apt-get update -qq && "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends qemu-user; } || echo "qemu-user is not there: no tests of AArch64" >&2
fi
