// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What operations are traced to. The tile dialect parses and verifies all of it.
#include "Parse.h"
#include <gtest/gtest.h>

using namespace tw::kernel;

namespace {

/// The operations of a kernel with a grid of 1 that loads t = x[0, 0], f32[4, 6]: what follows the
/// load.
std::string operations(void (*kernel)(Tile)) {
  std::string text = tw::traced([&] {
    Buffer x = input("x", f32, {4, 6});
    grid(1);
    kernel(load(x, {0, 0}, {4, 6}));
  });
  size_t start = text.find('\n', text.find("tile.load"));
  return start == std::string::npos ? text : text.substr(start + 1, text.size() - start - 3);
}

TEST(Operations, Numbers) {
  EXPECT_EQ(operations([](Tile) { full({2}, -inf, f32); }),
            "%1 = arith.constant 0xFF800000 : f32\n"
            "%2 = tile.full %1 : f32 -> tensor<2xf32>\n");
  EXPECT_EQ(operations([](Tile) { full({2}, 1e-5, f16); }),
            "%1 = arith.constant 1.0e-05 : f16\n"
            "%2 = tile.full %1 : f16 -> tensor<2xf16>\n");
  EXPECT_EQ(operations([](Tile) { full({}, 1e9, f16); }),
            "%1 = arith.constant 1.0e+09 : f16\n"
            "%2 = tile.full %1 : f16 -> tensor<f16>\n");
  EXPECT_EQ(operations([](Tile) { full({2}, 200, u8); }),
            "%1 = arith.constant -56 : i8\n"
            "%2 = tile.full %1 : i8 -> tensor<2xi8>\n");
  EXPECT_EQ(operations([](Tile) { full({2}, true, i1); }),
            "%1 = arith.constant true\n"
            "%2 = tile.full %1 : i1 -> tensor<2xi1>\n");
  EXPECT_EQ(operations([](Tile) { iota({2, 3}, -1, i32, 5); }),
            "%c5 = arith.constant 5 : index\n"
            "%1 = tile.iota 1 from %c5 : tensor<2x3xi32>\n");
  EXPECT_EQ(operations([](Tile) { iota({3}, 0, u8); }),
            "%1 = tile.iota 0 from %c0 : tensor<3xi64>\n"
            "%2 = arith.trunci %1 : tensor<3xi64> to tensor<3xi8>\n");
}

TEST(Operations, Broadcast) {
  EXPECT_EQ(operations([](Tile t) { t + zeros({6}, f32); }),
            "%1 = arith.constant 0.0 : f32\n"
            "%2 = tile.full %1 : f32 -> tensor<6xf32>\n"
            "%3 = tile.reshape %2 : tensor<6xf32> -> tensor<1x6xf32>\n"
            "%4 = tile.broadcast %3 : tensor<1x6xf32> -> tensor<4x6xf32>\n"
            "%5 = arith.addf %0, %4 : tensor<4x6xf32>\n");
  EXPECT_EQ(operations([](Tile t) { 2 * t; }), "%1 = arith.constant 2.0 : f32\n"
                                               "%2 = tile.full %1 : f32 -> tensor<4x6xf32>\n"
                                               "%3 = arith.mulf %2, %0 : tensor<4x6xf32>\n");
  EXPECT_EQ(
      operations([](Tile t) { broadcast(slice(t, {0, 0}, {1, 6}), {3, 1, 6}); }),
      "%1 = tile.slice %0 offsets [0, 0] strides [1, 1] : tensor<4x6xf32> -> tensor<1x6xf32>\n"
      "%2 = tile.reshape %1 : tensor<1x6xf32> -> tensor<1x1x6xf32>\n"
      "%3 = tile.broadcast %2 : tensor<1x1x6xf32> -> tensor<3x1x6xf32>\n");
}

TEST(Operations, Assignments) {
  EXPECT_EQ(operations([](Tile t) {
              Tile u = t;
              for (int i = 0; i < 2; ++i)
                u *= t;
              u /= u - t;
            }),
            "%1 = arith.mulf %0, %0 : tensor<4x6xf32>\n"
            "%2 = arith.mulf %1, %0 : tensor<4x6xf32>\n"
            "%3 = arith.subf %2, %0 : tensor<4x6xf32>\n"
            "%4 = arith.divf %2, %3 : tensor<4x6xf32>\n");
}

TEST(Operations, Shapes) {
  EXPECT_EQ(operations([](Tile t) { transpose(t); }),
            "%1 = tile.transpose %0 [1, 0] : tensor<4x6xf32> -> tensor<6x4xf32>\n");
  EXPECT_EQ(operations([](Tile t) { transpose(reshape(t, {2, 2, 6}), {-1, 0, 1}); }),
            "%1 = tile.reshape %0 : tensor<4x6xf32> -> tensor<2x2x6xf32>\n"
            "%2 = tile.transpose %1 [2, 0, 1] : tensor<2x2x6xf32> -> tensor<6x2x2xf32>\n");
  EXPECT_EQ(operations([](Tile t) { slice(t, {3, 1}, {4, 3}, {-1, 2}); }),
            "%1 = tile.slice %0 offsets [3, 1] strides [-1, 2] : tensor<4x6xf32> -> "
            "tensor<4x3xf32>\n");
  EXPECT_EQ(
      operations([](Tile t) { extract(slice(t, {3, 1}, {1, 1})); }),
      "%1 = tile.slice %0 offsets [3, 1] strides [1, 1] : tensor<4x6xf32> -> tensor<1x1xf32>\n"
      "%2 = tile.extract %1 : tensor<1x1xf32> -> f32\n");
}

TEST(Operations, Reductions) {
  EXPECT_EQ(operations([](Tile t) { sum(t, -2, KeepDim::no); }),
            "%1 = tile.reduce sum %0 axis 0 : tensor<4x6xf32> -> tensor<6xf32>\n");
  EXPECT_EQ(operations([](Tile t) { argmax(t, 1); }),
            "%1 = tile.reduce argmax %0 axis 1 : tensor<4x6xf32> -> tensor<4xi64>\n"
            "%2 = tile.reshape %1 : tensor<4xi64> -> tensor<4x1xi64>\n");
  EXPECT_EQ(operations([](Tile t) { cumsum(t, 1, Direction::backward); }),
            "%1 = tile.scan sum %0 axis 1 reverse : tensor<4x6xf32>\n");
}

TEST(Operations, Sorts) {
  EXPECT_EQ(operations([](Tile t) { sort(t, -1); }),
            "%1, %2 = tile.sort %0 axis 1 : tensor<4x6xf32> -> tensor<4x6xf32>, tensor<4x6xi64>\n");
  EXPECT_EQ(operations([](Tile t) { sort(t, 0, Order::descending, 2); }),
            "%1, %2 = tile.sort %0 axis 0 descending : tensor<4x6xf32> -> tensor<2x6xf32>, "
            "tensor<2x6xi64>\n");
  std::string bytes = operations([](Tile t) { sort(cast(t, u8), 1); });
  EXPECT_NE(bytes.find("axis 1 unsigned : tensor<4x6xi8>"), std::string::npos) << bytes;
}

TEST(Operations, Dot) {
  EXPECT_EQ(operations([](Tile t) { dot(t, transpose(t)); }),
            "%1 = tile.transpose %0 [1, 0] : tensor<4x6xf32> -> tensor<6x4xf32>\n"
            "%2 = arith.constant 0.0 : f32\n"
            "%3 = tile.full %2 : f32 -> tensor<4x4xf32>\n"
            "%4 = tile.dot %0, %1, %3 : tensor<4x6xf32>, tensor<6x4xf32>, tensor<4x4xf32>\n");
  std::string halves = operations([](Tile t) {
    Tile half = reshape(cast(t, f16), {2, 2, 6});
    dot(half, transpose(half));
  });
  EXPECT_NE(halves.find(": tensor<2x2x6xf16>, tensor<2x6x2xf16>, tensor<2x2x2xf32>"),
            std::string::npos)
      << halves;
}

TEST(Operations, Select) {
  EXPECT_EQ(operations([](Tile t) { select(t < t, t, 0); }),
            "%1 = arith.cmpf olt, %0, %0 : tensor<4x6xf32>\n"
            "%2 = arith.constant 0.0 : f32\n"
            "%3 = tile.full %2 : f32 -> tensor<4x6xf32>\n"
            "%4 = arith.select %1, %0, %3 : tensor<4x6xi1>, tensor<4x6xf32>\n");
  EXPECT_EQ(operations([](Tile t) { select(true, t, t); }),
            "%1 = arith.constant true\n"
            "%2 = arith.select %1, %0, %0 : tensor<4x6xf32>\n");
}

TEST(Operations, Relu) {
  EXPECT_EQ(operations([](Tile t) { relu(t); }), "%1 = arith.constant 0.0 : f32\n"
                                                 "%2 = tile.full %1 : f32 -> tensor<4x6xf32>\n"
                                                 "%3 = arith.maximumf %0, %2 : tensor<4x6xf32>\n");
}

/// What compilers write and people rarely.
TEST(Operations, WithoutASign) {
  EXPECT_EQ(operations([](Tile) {
              Tile a = zeros({2}, i32);
              divUnsigned(a, a), shiftRightUnsigned(a, a), compare(Comparison::ult, a, a);
              castUnsigned(a, i64), castSigned(castSigned(a, i1), i32);
            }),
            "%1 = arith.constant 0 : i32\n"
            "%2 = tile.full %1 : i32 -> tensor<2xi32>\n"
            "%3 = arith.divui %2, %2 : tensor<2xi32>\n"
            "%4 = arith.shrui %2, %2 : tensor<2xi32>\n"
            "%5 = arith.cmpi ult, %2, %2 : tensor<2xi32>\n"
            "%6 = arith.extui %2 : tensor<2xi32> to tensor<2xi64>\n"
            "%7 = arith.trunci %2 : tensor<2xi32> to tensor<2xi1>\n"
            "%8 = arith.extsi %7 : tensor<2xi1> to tensor<2xi32>\n");
  EXPECT_EQ(operations([](Tile t) { isNaN(t), maximumNumber(t, t); }),
            "%1 = arith.cmpf uno, %0, %0 : tensor<4x6xf32>\n"
            "%2 = arith.maxnumf %0, %0 : tensor<4x6xf32>\n");
}

TEST(Operations, Scalars) {
  EXPECT_EQ(operations([](Tile t) { t *rsqrt(scalar("d", f64)); }),
            "%1 = math.rsqrt %d : f64\n"
            "%2 = arith.truncf %1 : f64 to f32\n"
            "%3 = tile.full %2 : f32 -> tensor<4x6xf32>\n"
            "%4 = arith.mulf %0, %3 : tensor<4x6xf32>\n");
  EXPECT_EQ(operations([](Tile) { (scalar("n", i64) + 1 < 5) && scalar("flag", i1); }),
            "%1 = arith.constant 1 : i64\n"
            "%2 = arith.addi %n, %1 : i64\n"
            "%3 = arith.constant 5 : i64\n"
            "%4 = arith.cmpi slt, %2, %3 : i64\n"
            "%5 = arith.andi %4, %flag : i1\n");
}

} // namespace
