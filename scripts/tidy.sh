#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Runs clang-tidy over the sources of a build (needs its compile_commands.json and generated files).
set -euo pipefail
build=${1:?build folder}
cd "$(dirname "$0")/.."
git ls-files 'lib/*.cpp' 'runtime/*.cpp' 'tools/*.cpp' |
  xargs -P "$(nproc)" -n 4 clang-tidy-22 -p "$build" --quiet
