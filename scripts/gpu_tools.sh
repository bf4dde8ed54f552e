#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Installs NVIDIA's assembler and, for tests, its disassembler from their wheels into .venv, which must be there. Optional:
# without the first artifacts have PTX (docs/nvidia-target.md), without both some tests are skipped. Status 1 if one is
# missing afterwards.
set -euo pipefail
cd "$(dirname "$0")/.."
status=0
for wheel in ptxas=nvidia-cuda-nvcc==13.0.88 nvdisasm=nvidia-cuda-nvdisasm==13.2.51; do
  program=${wheel%%=*} package=${wheel#*=}
  if command -v "$program" >/dev/null || [[ -x .venv/bin/$program ]]; then
    continue
  fi
  .venv/bin/pip install -q --disable-pip-version-check --retries 1 --timeout 10 --no-deps "$package" || true
  found=$(find .venv/lib -name "$program" -type f -print -quit)
  if [[ -n $found ]]; then
    ln -sf "$(realpath "$found")" ".venv/bin/$program"
  else
    echo "$package cannot be installed: no $program, so tests of GPU code are skipped" >&2
    status=1
  fi
done
exit $status
