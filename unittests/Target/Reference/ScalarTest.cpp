// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scalar operations in bodies: halves, bools, division, libm; and operations that move tensors.
#include "unittests/Target/KernelJit.h"
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>

using namespace tw::target;

namespace {

/// out[i] = body(x[i], y[i]).
KernelJit binary(const std::string &in, const std::string &out, const std::string &body) {
  return KernelJit("func.func private @k(%x: tensor<?x" + in + ">, %y: tensor<?x" + in +
                   ">, %out: tensor<?x" + out + ">) -> tensor<?x" + out +
                   "> attributes {tw.kernel} {\n"
                   "%r = linalg.map ins(%x, %y : tensor<?x" +
                   in + ">, tensor<?x" + in + ">) outs(%out : tensor<?x" + out + ">) (%a: " + in +
                   ", %b: " + in + ", %o: " + out + ") { " + body + " linalg.yield %c : " + out +
                   " }\nreturn %r : tensor<?x" + out + "> }");
}

template <typename In, typename Out>
std::vector<Out> apply(KernelJit kernel, std::vector<In> x, std::vector<In> y) {
  int64_t n = x.size();
  std::vector<Out> out(n);
  kernel.run({x.data(), y.data(), out.data()}, {n, n, n});
  return out;
}

TEST(Scalars, DivisionNeverTraps) {
  int32_t low = std::numeric_limits<int32_t>::min();
  std::vector<int32_t> x{7, -7, 7, low, 5}, y{2, 2, -2, -1, 0};
  auto quotient =
      apply<int32_t, int32_t>(binary("i32", "i32", "%c = arith.divsi %a, %b : i32"), x, y);
  EXPECT_EQ(quotient, (std::vector<int32_t>{3, -3, -3, low, 5}));
  auto floor =
      apply<int32_t, int32_t>(binary("i32", "i32", "%c = arith.floordivsi %a, %b : i32"), x, y);
  EXPECT_EQ(floor, (std::vector<int32_t>{3, -4, -4, low, 5}));
}

TEST(Scalars, Bf16RoundsToNearestEven) {
  // 1 + 2^-8 is a tie, 1 + 3 * 2^-8 too; NaN stays NaN, infinity stays.
  std::vector<float> x{1.00390625f, 1.01171875f, NAN, INFINITY, -0.0f}, y(5);
  auto bits =
      apply<float, uint16_t>(binary("f32", "bf16", "%c = arith.truncf %a : f32 to bf16"), x, y);
  EXPECT_EQ(bits[0], 0x3f80);
  EXPECT_EQ(bits[1], 0x3f82);
  EXPECT_EQ(bits[2] & 0x7fc0, 0x7fc0);
  EXPECT_EQ(bits[3], 0x7f80);
  EXPECT_EQ(bits[4], 0x8000);
}

TEST(Scalars, HalvesAreComputedInSingle) {
  std::vector<uint16_t> x{0x3c00, 0x4000}, y{0x3c00, 0xc000}; // 1, 2; 1, -2
  auto sums = apply<uint16_t, uint16_t>(
      binary("f16", "f16", "%s = arith.addf %a, %b : f16 %c = math.exp %s : f16"), x, y);
  EXPECT_EQ(sums, (std::vector<uint16_t>{0x4764, 0x3c00})); // e^2, e^0
}

TEST(Scalars, DoublesAndIntegersBecomeHalves) {
  auto halves = apply<double, uint16_t>(
      binary("f64", "f16", "%s = arith.mulf %a, %b : f64 %c = arith.truncf %s : f64 to f16"), {1.5},
      {-2});
  EXPECT_EQ(halves, (std::vector<uint16_t>{0xc200}));
  auto rounded = apply<int64_t, uint16_t>(
      binary("i64", "bf16", "%s = arith.addi %a, %b : i64 %c = arith.sitofp %s : i64 to bf16"),
      {257}, {0});
  EXPECT_EQ(rounded, (std::vector<uint16_t>{0x4380})); // 256: a tie
}

TEST(Scalars, IntegerPowers) {
  auto powers = apply<int32_t, int32_t>(binary("i32", "i32", "%c = math.ipowi %a, %b : i32"),
                                        {3, -2, 2, -1, 1, 0}, {4, 5, -1, -3, -7, 0});
  EXPECT_EQ(powers, (std::vector<int32_t>{81, -32, 0, -1, 1, 1}));
}

TEST(Scalars, BoolsAreBytes) {
  std::vector<uint8_t> x{0, 1, 1}, y{1, 1, 0};
  auto both = apply<uint8_t, uint8_t>(binary("i1", "i1", "%c = arith.andi %a, %b : i1"), x, y);
  EXPECT_EQ(both, (std::vector<uint8_t>{0, 1, 0}));
}

TEST(Scalars, LibmOfDoubles) {
  KernelJit kernel = binary("f64", "f64", "%t = math.erf %a : f64 %c = math.powf %t, %b : f64");
  EXPECT_EQ(kernel.info().imports, (std::vector<std::string>{"erf", "pow"}));
  auto z = apply<double, double>(std::move(kernel), {0.5}, {3});
  EXPECT_DOUBLE_EQ(z[0], std::pow(std::erf(0.5), 3));
}

TEST(Scalars, ArgumentsAndConditions) {
  KernelJit kernel(R"(
    func.func private @k(%x: tensor<?xi8>, %s: f32, %n: i1, %out: tensor<?xf32>) -> tensor<?xf32>
        attributes {tw.kernel} {
      %y = linalg.generic {indexing_maps = [affine_map<(a) -> (a)>, affine_map<(a) -> (a)>],
          iterator_types = ["parallel"]} ins(%x : tensor<?xi8>) outs(%out : tensor<?xf32>) {
        ^bb0(%v: i8, %o: f32):
          %f = arith.uitofp %v : i8 to f32
          %r = scf.if %n -> f32 {
            %p = arith.mulf %f, %s : f32
            scf.yield %p : f32
          } else {
            scf.yield %f : f32
          }
          linalg.yield %r : f32 } -> tensor<?xf32>
      return %y : tensor<?xf32>
    })");
  std::vector<uint8_t> x{200, 3};
  std::vector<float> y(2);
  double factor = 0.5;
  int64_t bits;
  memcpy(&bits, &factor, 8);
  kernel.run({x.data(), y.data()}, {2, 2, bits, 1});
  EXPECT_EQ(y, (std::vector<float>{100, 1.5}));
  kernel.run({x.data(), y.data()}, {2, 2, bits, 0});
  EXPECT_EQ(y, (std::vector<float>{200, 3}));
}

TEST(Tensors, SlicesReshapesAndConstants) {
  KernelJit kernel(R"(
    func.func private @k(%x: tensor<4x6xi32>, %out: tensor<8xi32>) -> tensor<8xi32>
        attributes {tw.kernel} {
      %c = arith.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
      %seven = arith.constant 7 : i32
      %s = tensor.extract_slice %x[1, 0] [2, 3] [1, 2] : tensor<4x6xi32> to tensor<2x3xi32>
      %e = tensor.empty() : tensor<2x3xi32>
      %a = linalg.add ins(%s, %c : tensor<2x3xi32>, tensor<2x3xi32>) outs(%e : tensor<2x3xi32>) -> tensor<2x3xi32>
      %e1 = tensor.empty() : tensor<2x4xi32>
      %f = linalg.fill ins(%seven : i32) outs(%e1 : tensor<2x4xi32>) -> tensor<2x4xi32>
      %p = tensor.insert_slice %a into %f[0, 1] [2, 3] [1, 1] : tensor<2x3xi32> into tensor<2x4xi32>
      %r = tensor.collapse_shape %p [[0, 1]] : tensor<2x4xi32> into tensor<8xi32>
      return %r : tensor<8xi32>
    })");
  std::vector<int32_t> x(24), y(8);
  for (int i = 0; i < 24; ++i)
    x[i] = 10 * i;
  kernel.run({x.data(), y.data()});
  EXPECT_EQ(y, (std::vector<int32_t>{7, 61, 82, 103, 7, 124, 145, 166}));
}

} // namespace
