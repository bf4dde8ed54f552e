#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Compiles a model as torch.export wrote it, runs it, and compares it with what PyTorch computed.
set -euo pipefail
build=${1:?build folder}
cd "$(dirname "$0")/.."
tool=$build/bin/tilewright model=e2e/models/mlp_classifier out=$build/demo
mkdir -p "$out"
say() { printf '\n$ %s\n' "$*"; "$@"; }
echo "A classifier of 28x28 images, exported by torch.export with a dynamic batch size."
say "$tool" compile $model/mlp_classifier.pt2 -o "$out/classifier.so" --report
say "$tool" inspect "$out/classifier.so"
say "$tool" run "$out/classifier.so" --input=@$model/c0s0_in0.npy --expected-output=@$model/c0s0_out0.npy
say "$tool" bench "$out/classifier.so" --input=@$model/c2s0_in0.npy --threads=1
echo
echo "The artifact is $out/classifier.so; docs/embedding.md shows how a program of yours calls it."
