// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel whose own C++ prints to stdout.
#include <cstdio>
#include <tilewright/Kernel.h>
#include <unistd.h>
using namespace tw::kernel;

static const struct Loud {
  Loud() { std::printf("loaded\n"); }
  ~Loud() { std::printf("unloaded\n"); }
} loud;

TILEWRIGHT_KERNEL(loud_copy, "copies a vector") {
  (void)!write(STDOUT_FILENO, "traced\n", 7);
  Symbol N("N");
  Buffer x = input("x", f32, {N}), y = output("y", f32, {N});
  auto [i] = grid(ceilDiv(N, 16));
  store(y, {i * 16}, load(x, {i * 16}, {16}));
}
