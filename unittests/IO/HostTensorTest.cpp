// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "IO/HostTensor.h"
#include <gtest/gtest.h>

using namespace tw;

TEST(HostTensor, IsZeroedAndAligned) {
  auto t = HostTensor::create(DType::I16, {3, 5});
  ASSERT_TRUE(t.ok());
  EXPECT_EQ(t->count(), 15);
  EXPECT_EQ(t->byteSize(), 30u);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(t->bytes().data()) % 64, 0u);
  for (std::byte b : t->bytes())
    EXPECT_EQ(b, std::byte(0));
  EXPECT_EQ(t->typeText(), "3x5xi16");
}

TEST(HostTensor, ScalarAndEmpty) {
  EXPECT_EQ(HostTensor::create(DType::F64, {})->count(), 1);
  EXPECT_EQ(HostTensor::create(DType::F64, {})->typeText(), "f64");
  EXPECT_EQ(HostTensor::create(DType::F64, {4, 0})->byteSize(), 0u);
}

TEST(HostTensor, RefusesImpossibleSizes) {
  int64_t big = int64_t(1) << 40;
  EXPECT_EQ(HostTensor::create(DType::F32, {big, big}).error().code, Code::IO_3);
  EXPECT_EQ(HostTensor::create(DType::F32, {-1}).error().code, Code::IO_3);
  EXPECT_EQ(byteCount(DType::F64, std::vector<int64_t>{int64_t(1) << 61}), std::nullopt);
}
