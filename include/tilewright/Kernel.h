// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tilewright's kernel language: the only header that authors of kernels include. A kernel is a C++
// function that is run once, with symbolic values, and leaves a program for tiles:
//
//   #include <tilewright/Kernel.h>
//   using namespace tw::kernel;
//
//   TILEWRIGHT_KERNEL(softmax) {
//     Symbol M("M"), N("N");
//     Buffer x = input("x", f32, {M, N});
//     Buffer y = output("y", f32, {M, N});
//     auto [m] = grid(M);                       // one program for each row
//     Tile row = load(x, {m, 0}, {1, N});
//     Tile e = exp(row - max(row, 1));
//     store(y, {m, 0}, e / sum(e, 1));
//   }
//
// `tilewright kernel print|run|check softmax.cpp` shows, runs and checks it. docs/kernels.md is the
// reference. A kernel library needs no compiler of ours:
//
//   c++ -std=c++20 -shared -fPIC softmax.cpp -Iinclude libtilewright_kernel.a -o softmax.so
#ifndef TILEWRIGHT_KERNEL_H
#define TILEWRIGHT_KERNEL_H

#include "tilewright/kernel/Control.h"
#include "tilewright/kernel/Dispatch.h"
#include "tilewright/kernel/Operations.h"
#include "tilewright/kernel/Values.h"

namespace tw::kernel::detail {

/// Enters a kernel in this library's list, which KernelLibrary.h describes.
struct Registration {
  Registration(const char *name, void (*kernel)(), const char *doc = "",
               Here here = Here::current());
};

} // namespace tw::kernel::detail

/// Begins the definition of a kernel; an optional second argument, a string, says what it does.
#define TILEWRIGHT_KERNEL(name, ...)                                                               \
  TILEWRIGHT_KERNEL_IN(name, #name, __LINE__ __VA_OPT__(, ) __VA_ARGS__)

// What it defines has the line in its name, so that two kernels of one name pass the compiler: the
// library tells them.
#define TILEWRIGHT_KERNEL_IN(name, text, line, ...)                                                \
  TILEWRIGHT_KERNEL_AT(name, text, line __VA_OPT__(, ) __VA_ARGS__)
#define TILEWRIGHT_KERNEL_AT(name, text, line, ...)                                                \
  static void tilewrightKernel_##name##_##line();                                                  \
  static const ::tw::kernel::detail::Registration tilewrightRegistration_##name##_##line(          \
      text, &tilewrightKernel_##name##_##line __VA_OPT__(, ) __VA_ARGS__);                         \
  static void tilewrightKernel_##name##_##line()

#endif // TILEWRIGHT_KERNEL_H
