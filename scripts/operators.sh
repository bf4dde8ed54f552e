#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Writes docs/operators.md from the lowerings of a build; with --check only compares.
set -euo pipefail
build=${1:?build folder}
page=$(dirname "$0")/../docs/operators.md
if [ "${2:-}" = --check ]; then
  "$build/bin/tilewright-opt" --operators-page | diff -u "$page" - ||
    { echo "docs/operators.md is stale; run scripts/operators.sh BUILD"; exit 1; }
else
  text=$("$build/bin/tilewright-opt" --operators-page) # whole, or the page stays as it is
  printf '%s\n' "$text" > "$page"
fi
