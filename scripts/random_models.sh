#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Makes and judges random models with torch 2.13 in .venv:
#   scripts/random_models.sh BUILD SEED COUNT      COUNT models from SEED on
#   scripts/random_models.sh --seeds               writes e2e/random/seeds, the 200 models of the tests
set -euo pipefail
cd "$(dirname "$0")/.."
[ -x .venv/bin/python ] || python3 -m venv .venv
.venv/bin/pip install --quiet --disable-pip-version-check torch==2.13.0 numpy
if [ "$1" != --seeds ]; then
  exec .venv/bin/python e2e/random/explore.py --tool="$1/bin/tilewright" --seed="$2" --count="$3"
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# Some draw what torch cannot export.
.venv/bin/python e2e/random/make.py "$folder" 0 206
find "$folder" -name source.py -delete
python3 e2e/random/pack.py "$folder" e2e/random/seeds
