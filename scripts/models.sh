#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Exports the models that are not in the repository into e2e/extra, with torch 2.13 in .venv.
# Arguments: the tags to export (default: extra full).
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- extra full
[ -x .venv/bin/python ] || python3 -m venv .venv
.venv/bin/pip install --quiet --disable-pip-version-check torch==2.13.0 transformers==5.23.0 numpy
for tag in "$@"; do
  (cd e2e && ../.venv/bin/python -m export --missing --tag="$tag" --out=extra)
done
