#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# tidy.sh BUILD [--deep] [FILE...]: runs clang-tidy over the sources, or over some of them (needs the build's
# compile_commands.json and generated files). --deep: with the checks that ask for a node's parents, too. Those read the
# whole precompiled header, which is 5 of 7 seconds a file, and so are not part of every run.
set -euo pipefail
build=${1:?build folder}
shift
needs_parents=(
  bugprone-assignment-in-if-condition bugprone-bool-pointer-implicit-conversion bugprone-inc-dec-in-conditions
  bugprone-infinite-loop bugprone-integer-division bugprone-sizeof-container bugprone-standalone-empty
  bugprone-std-namespace-modification bugprone-suspicious-stringview-data-usage bugprone-swapped-arguments
  bugprone-terminating-continue bugprone-throw-keyword-missing bugprone-throwing-static-initialization
  bugprone-undelegated-constructor bugprone-unused-raii bugprone-use-after-move performance-move-const-arg
  performance-unnecessary-copy-initialization performance-unnecessary-value-param readability-container-size-empty
)
checks=$(printf -- ',-%s' "${needs_parents[@]}")
if [ "${1:-}" = --deep ]; then
  checks=
  shift
fi
cd "$(dirname "$0")/.."
if [ $# = 0 ]; then
  mapfile -t files < <(git ls-files 'lib/*.cpp' 'runtime/*.cpp' 'tools/*.cpp')
  set -- "${files[@]}"
fi
printf '%s\0' "$@" | xargs -0 -P "$(nproc)" -n 4 clang-tidy-22 -p "$build" --quiet ${checks:+"--checks=${checks#,}"}
