// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A whole perceptron of two layers in one kernel: a block of the hidden layer lives only between
// the two products. What is outside of the buffers reads as 0, and so adds nothing.
#include <tilewright/Kernel.h>
using namespace tw::kernel;

TILEWRIGHT_KERNEL(mlp, "y = sigmoid(relu(x w1 + b1) w2 + b2)") {
  Symbol M("M"), K("K"), H("H"), N("N");
  int64_t BM = parameter("BM", 32), BH = parameter("BH", 64), BK = parameter("BK", 64);
  Buffer x = input("x", f32, {M, K}), w1 = input("w1", f32, {K, H}), b1 = input("b1", f32, {H});
  Buffer w2 = input("w2", f32, {H, N}), b2 = input("b2", f32, {N}), y = output("y", f32, {M, N});
  auto [m] = grid(ceilDiv(M, BM));
  Tile out = forLoop(0, ceilDiv(H, BH), 1, zeros({BM, N}, f32), [&](Index h, Tile out) {
    Tile zero = zeros({BM, BH}, f32);
    Tile hidden = forLoop(0, ceilDiv(K, BK), 1, zero, [&](Index k, Tile acc) {
      return dot(load(x, {m * BM, k * BK}, {BM, BK}), load(w1, {k * BK, h * BH}, {BK, BH}), acc);
    });
    Tile active = relu(hidden + load(b1, {h * BH}, {BH}));
    return dot(active, load(w2, {h * BH, 0}, {BH, N}), out);
  });
  store(y, {m * BM, 0}, sigmoid(out + load(b2, {0}, {N})));
}
