// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The errors of the cpu target's own elementary functions, in units in the last place, over floats
// of all sizes; the bounds are those that docs/performance.md states.
#include "KernelJit.h"
#include <bit>
#include <cmath>
#include <gtest/gtest.h>

using namespace tw::target;

namespace {

constexpr int64_t count = 1 << 16;

std::string kernelOf(const std::string &function) {
  std::string tile = "tensor<256xf32>", buffer = "!tile.buffer<[65536], f32>";
  return "tile.kernel @k(in %x: " + buffer + ", out %y: " + buffer + ") grid [256] {\n" +
         "%p = tile.program_id 0\n%c = arith.constant 256 : index\n%i = arith.muli %p, %c : "
         "index\n" +
         "%t = tile.load %x[%i] : " + buffer + " -> " + tile + "\n%r = " + function +
         " %t : " + tile + "\ntile.store %r, %y[%i] : " + tile + ", " + buffer + "\n}";
}

/// The distance of `got` from `exact` in units in the last place of the nearest float.
double ulps(float got, double exact) {
  if (std::isnan(exact))
    return std::isnan(got) ? 0 : INFINITY;
  if (float(exact) == got)
    return 0;
  if (std::isinf(float(exact)) || std::isinf(got))
    return std::fabs(exact) > 3.402823e38 && std::isinf(got) ? 0 : INFINITY;
  int exponent;
  std::frexp(std::max(std::fabs(exact), 0x1p-126), &exponent);
  return std::fabs(got - exact) / std::ldexp(1.0, exponent - 24);
}

double worst(const char *function, double (*exact)(double)) {
  KernelJit kernel(kernelOf(function));
  std::vector<float> x(count), y(count);
  double most = 0;
  float at = 0;
  for (uint32_t round = 0; round < 64; ++round) {
    for (uint32_t i = 0; i < count; ++i)
      x[i] = std::bit_cast<float>((round * uint32_t(count) + i) * 1021u);
    kernel.run({x.data(), y.data()});
    for (int64_t i = 0; i < count; ++i)
      if (double error = ulps(y[i], exact(x[i])); !(error <= most)) {
        most = error;
        at = x[i];
      }
  }
  std::printf("%-10s %.2f ulp at %a\n", function, most, at);
  return most;
}

TEST(CPUMath, HasTheErrorsThatAreStated) {
  EXPECT_LE(worst("math.exp", [](double x) { return std::exp(x); }), 1.5);
  EXPECT_LE(worst("math.exp2", [](double x) { return std::exp2(x); }), 1.5);
  EXPECT_LE(worst("math.log", [](double x) { return std::log(x); }), 1.5);
  EXPECT_LE(worst("math.tanh", [](double x) { return std::tanh(x); }), 1.5);
  EXPECT_LE(worst("math.erf", [](double x) { return std::erf(x); }), 1.5);
}

} // namespace
