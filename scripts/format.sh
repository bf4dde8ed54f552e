#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Formats the C and C++ sources; with --check only says which are not formatted.
set -euo pipefail
cd "$(dirname "$0")/.."
how=(-i)
[ "${1:-}" = --check ] && how=(--dry-run --Werror)
git ls-files '*.cpp' '*.h' '*.c' | xargs -P "$(nproc)" -n 20 clang-format-22 "${how[@]}"
