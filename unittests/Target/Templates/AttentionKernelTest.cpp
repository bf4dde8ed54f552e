// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The attention template beside loops in double precision: interpreted, and compiled by the cpu
// target, in the configuration that is chosen and in others.
#include "AttentionTruth.h"
#include "Target/CPU/Configuration/AttentionCost.h"

using namespace tw;
using namespace tw::kernels;

namespace {

AttentionConfiguration smallBlock(const Case &c, bool isTransposed, bool splitsKeys) {
  AttentionConfiguration block{.queries = std::min<int64_t>(c.l, 8),
                               .keys = std::min<int64_t>(c.s, 6),
                               .groups = c.g % 2 == 0 ? 2 : 1};
  block.isTransposed = isTransposed, block.splitsKeys = splitsKeys;
  return block;
}

/// As chosen, and in small blocks in two ways that have nothing in common; in one loop where there
/// may be two, also in parts, of which the last ones may have hidden keys alone.
void check(const Case &c) {
  check(c, target::cpu::chooseAttention(c.spec(), {16, 32}));
  check(c, smallBlock(c, /*isTransposed=*/false, /*splitsKeys=*/true));
  AttentionConfiguration other = smallBlock(c, /*isTransposed=*/true, /*splitsKeys=*/false);
  check(c, other);
  other.isOneLoop = true;
  for (bool splitsKeys : {false, true}) {
    other.splitsKeys = splitsKeys;
    if (holds(attentionConstraints(c.spec()), numbersOf(other)))
      check(c, other);
  }
}

/// And in the other two, and as chosen for fewer registers.
void checkAll(const Case &c) {
  check(c);
  check(c, target::cpu::chooseAttention(c.spec(), {8, 16}));
  check(c, smallBlock(c, false, false));
  check(c, smallBlock(c, true, true));
}

TEST(AttentionKernel, Full) {
  checkAll({{.b = 2, .g = 1, .l = 19, .s = 24, .e = 8, .f = 16}});
  checkAll({{.b = 1, .g = 1, .l = 5, .s = 37, .e = 7, .f = 3, .hasSums = true}});
}

TEST(AttentionKernel, OneQueryOneKey) {
  check({{.b = 3, .g = 4, .l = 1, .s = 50, .e = 16, .f = 16}});
  check({{.b = 3, .g = 1, .l = 9, .s = 1, .e = 4, .f = 4, .hasSums = true}});
}

TEST(AttentionKernel, Causal) {
  check({{.b = 1, .g = 2, .l = 33, .s = 33, .e = 8, .f = 8, .isCausal = true, .hasSums = true}});
  check({{.b = 1, .g = 1, .l = 40, .s = 13, .e = 8, .f = 8, .isCausal = true}});
  check({{.b = 1, .g = 1, .l = 9, .s = 30, .e = 8, .f = 8, .isCausal = true}});
}

TEST(AttentionKernel, Masks) {
  check({{.b = 2, .g = 2, .l = 17, .s = 22, .e = 8, .f = 8, .hasSums = true, .mask = Mask::Seen}});
  check({{.b = 2,
          .g = 2,
          .l = 17,
          .s = 22,
          .e = 8,
          .f = 8,
          .mask = Mask::Added,
          .isMaskOfKeys = true}});
  // Some queries see nothing.
  check({{.b = 1, .g = 1, .l = 30, .s = 2, .e = 8, .f = 8, .hasSums = true, .mask = Mask::Seen}});
  check({{.b = 1, .g = 1, .l = 12, .s = 12, .e = 4, .f = 4, .isCausal = true, .mask = Mask::Seen}});
}

TEST(AttentionKernel, Dtypes) {
  for (kernel::DType dtype : {kernel::f16, kernel::bf16, kernel::f64})
    check({{.b = 1, .g = 2, .l = 19, .s = 24, .e = 16, .f = 16, .dtype = dtype}});
}

/// Enough queries to pack keys and values in pairs; head sizes that leave a part of a block; keys
/// that do.
TEST(AttentionKernel, Pairs) {
  int number = 0; // its bits: so that each two values of two of the four meet
  for (int64_t size : {32, 48, 64})
    for (int64_t keys : {32, 48, 112}) {
      bool isCausal = number % 2, isTransposed = number / 2 % 2;
      Case c{{.b = 1,
              .g = 2,
              .l = 80,
              .s = 112,
              .e = size,
              .f = 32,
              .isCausal = isCausal,
              .dtype = kernel::bf16}};
      check(c, {.queries = 32, .keys = keys, .groups = 2, .isTransposed = isTransposed});
      ++number;
    }
}

TEST(AttentionKernel, ConfigurationsThatAreNot) {
  Attention spec = Case{{.b = 2, .g = 6, .l = 10, .s = 20, .e = 8, .f = 8}}.spec();
  auto isLegal = [&](const AttentionConfiguration &configuration) {
    EXPECT_EQ(attentionFrom(numbersOf(configuration)), configuration);
    return holds(attentionConstraints(spec), numbersOf(configuration));
  };
  EXPECT_TRUE(isLegal({.queries = 10, .keys = 20, .groups = 3}));
  EXPECT_FALSE(isLegal({.queries = 11, .keys = 20}));
  EXPECT_FALSE(isLegal({.queries = 10, .keys = 21}));
  EXPECT_FALSE(isLegal({.queries = 10, .keys = 20, .groups = 4}));
  EXPECT_TRUE(isLegal({.queries = 10, .keys = 16, .isOneLoop = true}));
  EXPECT_FALSE(isLegal({.queries = 10, .keys = 10, .isOneLoop = true}));
  EXPECT_TRUE(isLegal({.queries = 10, .keys = 16, .splitsKeys = true, .isOneLoop = true}));
  spec.isCausal = true; // a part may have no key that some query sees
  EXPECT_FALSE(isLegal({.queries = 10, .keys = 16, .splitsKeys = true, .isOneLoop = true}));
}

} // namespace
