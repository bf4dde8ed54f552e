// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <tilewright/Kernel.h>
using namespace tw::kernel;

TILEWRIGHT_KERNEL(softmax, "y = softmax(x) over rows") {
  Symbol M("M"), N("N");
  Buffer x = input("x", f32, {M, N});
  Buffer y = output("y", f32, {M, N});
  auto [m] = grid(M);
  Tile row = load(x, {m, 0}, {1, N});
  Tile e = exp(row - max(row, 1));
  store(y, {m, 0}, e / sum(e, 1));
}
