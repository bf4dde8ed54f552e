#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Runs every test of a build: unit tests, lit, errors, models, documentation.
set -euo pipefail
build=${1:?build folder}
# For sanitized builds: LLVM's libraries are not sanitized, so memory that inlined code of theirs
# poisons is used by code that does not know; and a size that cannot be had must come back as null.
export ASAN_OPTIONS=allow_user_poisoning=0:allocator_may_return_null=1:${ASAN_OPTIONS:-}
ctest --test-dir "$build" --output-on-failure -j "$(nproc)"
