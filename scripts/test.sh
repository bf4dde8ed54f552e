#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Runs every test of a build: unit tests, lit, errors, models, documentation.
set -euo pipefail
build=${1:?build folder}
ctest --test-dir "$build" --output-on-failure -j "$(nproc)"
