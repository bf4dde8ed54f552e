// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <tilewright/Kernel.h>
using namespace tw::kernel;

TILEWRIGHT_KERNEL(gemm, "C = A B^T") {
  Symbol M("M"), N("N"), K("K");
  int64_t BM = parameter("BM", 32), BN = parameter("BN", 32), BK = parameter("BK", 64);
  Buffer a = input("a", f32, {M, K}), b = input("b", f32, {N, K}), c = output("c", f32, {M, N});
  auto [m, n] = grid(ceilDiv(M, BM), ceilDiv(N, BN));
  Tile acc = forLoop(0, ceilDiv(K, BK), 1, zeros({BM, BN}, f32), [&](Index k, Tile acc) {
    Tile rows = load(a, {m * BM, k * BK}, {BM, BK}), columns = load(b, {n * BN, k * BK}, {BN, BK});
    return dot(rows, transpose(columns), acc);
  });
  store(c, {m * BM, n * BN}, acc);
}
