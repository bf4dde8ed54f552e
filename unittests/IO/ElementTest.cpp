// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "IO/Element.h"
#include <bit>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>

using namespace tw;

static double through(DType dtype, double value) {
  std::byte bytes[8];
  storeFloat(dtype, value, bytes);
  return loadDouble(dtype, bytes);
}

TEST(Element, BFloat16RoundsToNearestEven) {
  EXPECT_EQ(fromBFloat16(toBFloat16(1.0f + 1.0f / 256)), 1.0f);
  EXPECT_EQ(fromBFloat16(toBFloat16(1.0f + 3.0f / 256)), 1.0f + 4.0f / 256);
  EXPECT_EQ(fromBFloat16(toBFloat16(1.0f + 1.1f / 256)), 1.0f + 2.0f / 256);
  EXPECT_TRUE(std::isinf(fromBFloat16(toBFloat16(3.4e38f))));
  EXPECT_TRUE(std::isnan(fromBFloat16(toBFloat16(std::bit_cast<float>(0x7f800001)))));
}

TEST(Element, FloatsRoundToTheirDtype) {
  EXPECT_EQ(through(DType::F16, 2049), 2048);
  EXPECT_EQ(through(DType::F16, 65504), largestFinite(DType::F16));
  EXPECT_TRUE(std::isinf(through(DType::F16, 65520)));
  EXPECT_EQ(through(DType::F32, 16777217), 16777216);
  EXPECT_EQ(through(DType::F64, 0.1), 0.1);
}

TEST(Element, IntegersAreExactAtTheirLimits) {
  for (DType dtype : {DType::I8, DType::I16, DType::I32, DType::I64, DType::U8, DType::Bool})
    for (int64_t value : {integerRange(dtype).min, integerRange(dtype).max}) {
      std::byte bytes[8];
      storeInteger(dtype, value, bytes);
      EXPECT_EQ(loadInteger(dtype, bytes), value);
    }
  EXPECT_EQ(integerRange(DType::I64).min, std::numeric_limits<int64_t>::min());
  EXPECT_EQ(integerRange(DType::U8).max, 255);
}

TEST(Element, EveryF16IsReadAsTheCompilerReadsIt) {
  for (uint32_t bits = 0; bits <= 0xffff; ++bits) {
    auto half = uint16_t(bits);
    double read = loadDouble(DType::F16, reinterpret_cast<const std::byte *>(&half));
    auto expected = double(std::bit_cast<_Float16>(half));
    if (std::isnan(expected))
      ASSERT_TRUE(std::isnan(read)) << bits;
    else
      ASSERT_EQ(std::bit_cast<uint64_t>(read), std::bit_cast<uint64_t>(expected)) << bits;
  }
}
