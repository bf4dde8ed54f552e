// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Support/Counted.h"
#include <cstddef>
#include <gtest/gtest.h>

namespace tw {
namespace {

TEST(Counted, OneIsSingularAndAllElsePlural) {
  EXPECT_EQ(counted(0, "dimension"), "0 dimensions");
  EXPECT_EQ(counted(1, "dimension"), "1 dimension");
  EXPECT_EQ(counted(size_t(2), "dimension"), "2 dimensions");
  EXPECT_EQ(counted(-1, "dimension"), "-1 dimensions");
  EXPECT_EQ(counted("N * 2", "element"), "N * 2 elements");
  EXPECT_EQ(counted("1", "element"), "1 element");
}

TEST(Counted, OtherPlurals) {
  EXPECT_EQ(counted(1, "index", "indices"), "1 index");
  EXPECT_EQ(counted(3, "index", "indices"), "3 indices");
}

TEST(Counted, VerbsAgree) {
  EXPECT_EQ(oneOrMany(1, "is", "are"), "is");
  EXPECT_EQ(oneOrMany(size_t(0), "is", "are"), "are");
}

} // namespace
} // namespace tw
