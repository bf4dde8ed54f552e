// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Kernels/Fields.h"
#include <gtest/gtest.h>

using namespace tw::kernels;

static Fields sample() {
  Fields fields({{"parts", 1}});
  fields.lists["block"] = {4, 0};
  return fields;
}

TEST(Fields, ElementsOfListsAreSymbols) {
  Fields fields = sample();
  EXPECT_EQ(fields.symbols(), (Numbers{{"block_0", 4}, {"block_1", 0}, {"parts", 1}}));
  fields.update({{"block_1", 7}, {"parts", 2}, {"block_2", 5}, {"other", 1}});
  EXPECT_EQ(fields.numbers, (Numbers{{"parts", 2}}));
  EXPECT_EQ(fields.lists.at("block"), (std::vector<int64_t>{4, 7}));
}

TEST(Fields, ANameWithANumberIsNoElement) {
  Fields number({{"block_0", 4}});
  Fields list;
  list.lists["block"] = {4};
  EXPECT_FALSE(number == list);
  EXPECT_TRUE(number.texts().empty());
  number.update(list.symbols());
  EXPECT_TRUE(number.lists.empty());
}

TEST(Fields, MessagesHaveSubscripts) {
  Fields fields = sample();
  fields.numbers["x_0"] = 3;
  Constraint constraint("2 * block_0 + x_0", "block_1 * (1 ceildiv parts)", "they are too many");
  EXPECT_EQ(describe(constraint, fields.symbols(), fields.texts()),
            "2 * block[0] + x_0 = 11 must not be more than block[1] * (1 ceildiv parts) = 0: they "
            "are too many");
}
