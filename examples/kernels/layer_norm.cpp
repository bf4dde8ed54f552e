// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <tilewright/Kernel.h>
using namespace tw::kernel;

TILEWRIGHT_KERNEL(layer_norm, "y = (x - mean) / sqrt(variance + eps) * weight + bias, by rows") {
  Symbol M("M"), N("N", {.min = 1});
  Buffer x = input("x", f32, {M, N}), weight = input("weight", f32, {N});
  Buffer bias = input("bias", f32, {N}), y = output("y", f32, {M, N});
  Scalar eps = scalar("eps", f64);
  auto [m] = grid(M);
  Tile row = load(x, {m, 0}, {1, N});
  Tile centred = row - sum(row, 1) / N;
  Tile variance = sum(centred * centred, 1) / N;
  Tile normal = centred * rsqrt(variance + eps);
  store(y, {m, 0}, normal * load(weight, {0}, {N}) + load(bias, {0}, {N}));
}
