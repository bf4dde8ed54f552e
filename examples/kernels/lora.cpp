// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <tilewright/Kernel.h>
using namespace tw::kernel;

TILEWRIGHT_KERNEL(lora, "y = relu(x w^T + bias + scale (x a^T) b^T), a and b of a low rank R") {
  Symbol M("M"), N("N"), K("K"), R("R");
  int64_t BM = parameter("BM", 32), BN = parameter("BN", 64), BK = parameter("BK", 64);
  Buffer x = input("x", f32, {M, K}), w = input("w", f32, {N, K}), bias = input("bias", f32, {N});
  Buffer a = input("a", f32, {R, K}), b = input("b", f32, {N, R}), y = output("y", f32, {M, N});
  Scalar scale = scalar("scale", f64);
  auto [m, n] = grid(ceilDiv(M, BM), ceilDiv(N, BN));
  auto start = carry(zeros({BM, BN}, f32), zeros({BM, R}, f32));
  auto [wide, low] = forLoop(0, ceilDiv(K, BK), 1, start, [&](Index k, Tile wide, Tile low) {
    Tile rows = load(x, {m * BM, k * BK}, {BM, BK});
    return carry(dot(rows, transpose(load(w, {n * BN, k * BK}, {BN, BK})), wide),
                 dot(rows, transpose(load(a, {0, k * BK}, {R, BK})), low));
  });
  Tile sum = dot(low * scale, transpose(load(b, {n * BN, 0}, {BN, R})), wide);
  store(y, {m * BM, n * BN}, relu(sum + load(bias, {n * BN}, {BN})));
}
