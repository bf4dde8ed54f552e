// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Support/KernelName.h"
#include <gtest/gtest.h>

namespace tw {
namespace {

TEST(KernelName, ForOperators) {
  KernelNames kernels = {"rope", "mylib_softmax", "softmax", "norm_out"};
  EXPECT_EQ(kernelFor("rope", kernels), "rope");
  EXPECT_EQ(kernelFor("mylib.rope", kernels), "rope");
  EXPECT_EQ(kernelFor("mylib.softmax", kernels), "mylib_softmax");
  EXPECT_EQ(kernelFor("other.softmax", kernels), "softmax");
  EXPECT_EQ(kernelFor("mylib.norm.out", kernels), "norm_out");
  EXPECT_EQ(kernelFor("mylib.rope.out", kernels), std::nullopt);
  EXPECT_EQ(kernelFor("attention", kernels), std::nullopt);
}

} // namespace
} // namespace tw
