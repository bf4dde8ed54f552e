// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <tilewright/Kernel.h>
using namespace tw::kernel;

TILEWRIGHT_KERNEL(twice, "y = 2 x") {
  Symbol N("N");
  Buffer x = input("x", f32, {N});
  Buffer y = output("y", f32, {N});
  auto [i] = grid(N);
  store(y, {i}, load(x, {i}, {1}) * 2);
}
