// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <tilewright/Kernel.h>
using namespace tw::kernel;

TILEWRIGHT_KERNEL(add_mul_activation, "x = activation(multiplier * a + x + bias), in place") {
  Symbol M("M"), N("N");
  int64_t BM = parameter("BM", 16), BN = parameter("BN", 64);
  enum { Sigmoid, Relu, Tanh };
  int64_t activation = parameter("ACTIVATION", Sigmoid);
  Buffer x = inout("x", f32, {M, N}), a = input("a", f32, {M, N}), bias = input("bias", f32, {N});
  Scalar multiplier = scalar("multiplier", f64);
  auto [m, n] = grid(ceilDiv(M, BM), ceilDiv(N, BN));
  Tile sum = multiplier * load(a, {m * BM, n * BN}, {BM, BN}) +
             load(x, {m * BM, n * BN}, {BM, BN}) + load(bias, {n * BN}, {BN});
  Tile result = activation == Relu ? relu(sum) : activation == Tanh ? tanh(sum) : sigmoid(sum);
  store(x, {m * BM, n * BN}, result);
}
