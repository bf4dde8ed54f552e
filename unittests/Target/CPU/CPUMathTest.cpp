// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The errors of the cpu target's own elementary functions, in units in the last place, over floats
// of all sizes; the bounds are those that docs/performance.md states.
#include "unittests/Target/KernelJit.h"
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

const float edges[] = {INFINITY, -INFINITY, NAN, 0x1.fffffep127F, -0x1.fffffep127F, 1e30F, -1e30F,
                       1e6F,     -1e6F,     0,   -0.0F,           0x1p-149F};

double worst(const char *function, double (*exact)(double), const std::string &cpu) {
  KernelJit kernel(kernelOf(function), cpu);
  std::vector<float> x(count), y(count);
  double most = 0;
  float at = 0;
  for (uint32_t round = 0; round < 64; ++round) {
    for (uint32_t i = 0; i < count; ++i)
      x[i] = std::bit_cast<float>((round * uint32_t(count) + i) * 1021u);
    if (round == 0)
      std::copy(std::begin(edges), std::end(edges), x.begin());
    kernel.run({x.data(), y.data()});
    for (int64_t i = 0; i < count; ++i)
      if (double error = ulps(y[i], exact(x[i])); !(error <= most)) {
        most = error;
        at = x[i];
      }
  }
  std::printf("%-10s %-9s %.2f ulp at %a\n", function, cpu.c_str(), most, at);
  return most;
}

TEST(CPUMath, HasTheErrorsThatAreStated) {
  // What this machine has; and without AVX-512, which has formulas of its own.
  for (const char *cpu : {"host", "x86-64-v3"}) {
    EXPECT_LE(worst("math.exp", [](double x) { return std::exp(x); }, cpu), 1.5);
    EXPECT_LE(worst("math.exp2", [](double x) { return std::exp2(x); }, cpu), 1.5);
    EXPECT_LE(worst("math.log", [](double x) { return std::log(x); }, cpu), 1.5);
    EXPECT_LE(worst("math.tanh", [](double x) { return std::tanh(x); }, cpu), 1.5);
    EXPECT_LE(worst("math.erf", [](double x) { return std::erf(x); }, cpu), 1.5);
    EXPECT_LE(worst("math.sin", [](double x) { return std::sin(x); }, cpu), 0.6);
    EXPECT_LE(worst("math.cos", [](double x) { return std::cos(x); }, cpu), 0.6);
    EXPECT_LE(worst("math.tan", [](double x) { return std::tan(x); }, cpu), 1.5);
  }
}

/// Functions that are computed in f64 and rounded.
TEST(CPUMath, FunctionsInF64AreRounded) {
  using Exact = double (*)(double);
  const std::pair<const char *, Exact> functions[] = {
      {"math.acos", [](double x) { return std::acos(x); }},
      {"math.acosh", [](double x) { return std::acosh(x); }},
      {"math.asin", [](double x) { return std::asin(x); }},
      {"math.asinh", [](double x) { return std::asinh(x); }},
      {"math.atan", [](double x) { return std::atan(x); }},
      {"math.atanh", [](double x) { return std::atanh(x); }},
      {"math.cosh", [](double x) { return std::cosh(x); }},
      {"math.expm1", [](double x) { return std::expm1(x); }},
      {"math.log10", [](double x) { return std::log10(x); }},
      {"math.log1p", [](double x) { return std::log1p(x); }},
      {"math.log2", [](double x) { return std::log2(x); }},
      {"math.sinh", [](double x) { return std::sinh(x); }}};
  for (auto [name, exact] : functions)
    EXPECT_LE(worst(name, exact, "host"), 0.51) << name;
}

/// y = FUNCTION of x and z, 65,536 of each.
std::string kernelOfTwo(const std::string &function) {
  std::string tile = "tensor<256xf32>", buffer = "!tile.buffer<[65536], f32>";
  return "tile.kernel @k(in %x: " + buffer + ", in %z: " + buffer + ", out %y: " + buffer +
         ") grid [256] {\n%p = tile.program_id 0\n%c = arith.constant 256 : index\n"
         "%i = arith.muli %p, %c : index\n%t = tile.load %x[%i] : " +
         buffer + " -> " + tile + "\n%u = tile.load %z[%i] : " + buffer + " -> " + tile +
         "\n%r = " + function + " %t, %u : " + tile + "\ntile.store %r, %y[%i] : " + tile + ", " +
         buffer + "\n}";
}

/// Pairs of what powers and angles have rules of their own for, then pairs of all sizes.
void checkPairs(const char *function, double (*exact)(double, double)) {
  KernelJit kernel(kernelOfTwo(function));
  std::vector<float> special(std::begin(edges), std::end(edges));
  for (float value : {1.0F, 2.0F, 3.0F, 0.5F, 1.5F, 0.3F, 7.0F, 100.0F, 16777215.0F, 16777216.0F})
    special.insert(special.end(), {value, -value});
  std::vector<float> x(count), z(count), y(count);
  for (uint32_t i = 0; i < count; ++i) {
    x[i] = special[i % special.size()], z[i] = special[i / special.size() % special.size()];
    if (i < special.size() * special.size())
      continue;
    x[i] = std::bit_cast<float>(i * 2654435761u);
    z[i] = i % 2 ? std::bit_cast<float>(i * 1597334677u) : float(int(i % 41) - 20) / 4;
  }
  kernel.run({x.data(), z.data(), y.data()});
  for (uint32_t i = 0; i < count; ++i) {
    double want = exact(x[i], z[i]);
    EXPECT_LE(ulps(y[i], want), 0.51) << function << " of " << x[i] << " and " << z[i];
    if (want == 0)
      EXPECT_EQ(std::signbit(y[i]), std::signbit(want)) << x[i] << " and " << z[i];
  }
}

TEST(CPUMath, FunctionsOfTwoInF64AreRounded) {
  checkPairs("math.powf", [](double x, double y) { return std::pow(x, y); });
  checkPairs("math.atan2", [](double x, double y) { return std::atan2(x, y); });
}

/// Rows of 32 by one number each.
const char *const quotients = R"(
tile.kernel @k(in %x: !tile.buffer<[32], f32>, in %d: !tile.buffer<[512], f32>,
               out %y: !tile.buffer<[512, 32], f32>) grid [512] {
  %p = tile.program_id 0
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0] : !tile.buffer<[32], f32> -> tensor<32xf32>
  %one = tile.load %d[%p] : !tile.buffer<[512], f32> -> tensor<1xf32>
  %all = tile.broadcast %one : tensor<1xf32> -> tensor<32xf32>
  %q = arith.divf %t, %all : tensor<32xf32>
  %row = tile.reshape %q : tensor<32xf32> -> tensor<1x32xf32>
  tile.store %row, %y[%p, %c0] : tensor<1x32xf32>, !tile.buffer<[512, 32], f32>
})";

TEST(CPUMath, QuotientsByOneNumberAreRounded) {
  const float infinity = INFINITY;
  std::vector<float> x = {0.0F,     -0.0F,           1,      -3,
                          infinity, -infinity,       NAN,    0x1p-149F,
                          5e-39F,   0x1.fffffep127F, 1e-33F, 0x1p-126F};
  x.resize(32);
  std::vector<float> d(512), y(512 * 32);
  for (size_t i = 0; i < d.size(); ++i) // all exponents, both signs
    d[i] = std::bit_cast<float>(uint32_t(i) << 23 | uint32_t(i * 2654435761u) >> 9);
  d[0] = 0, d[1] = infinity, d[2] = 0x1p-149F;
  KernelJit kernel(quotients);
  for (uint32_t round = 0; round < 64; ++round) {
    for (size_t i = 12; i < x.size(); ++i)
      x[i] = std::bit_cast<float>((round * 20 + uint32_t(i)) * 2654435761u);
    kernel.run({x.data(), d.data(), y.data()});
    for (size_t i = 0; i < y.size(); ++i) {
      float top = x[i % 32], bottom = d[i / 32], exact = top / bottom;
      bool isTiny = std::min(std::fabs(top), std::fabs(exact)) < 0x1p-100F && bottom != 0 &&
                    !std::isinf(bottom);
      if (std::isnan(exact))
        ASSERT_TRUE(std::isnan(y[i])) << top << " / " << bottom << " gives " << y[i];
      else if (isTiny)
        ASSERT_LE(ulps(y[i], double(top) / double(bottom)), 1.5) << top << " / " << bottom;
      else
        ASSERT_EQ(y[i], exact) << std::hexfloat << top << " / " << bottom;
    }
  }
}

} // namespace
