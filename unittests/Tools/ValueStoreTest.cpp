// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/tilewright/Check/ValueStore.h"
#include "IO/InputSpec.h"
#include <algorithm>
#include <gtest/gtest.h>

using namespace tw;
using namespace tw::cli;

TEST(ValueStore, KeepsValuesByNumberAndRound) {
  auto store = ValueStore::create();
  ASSERT_TRUE(store.ok());
  HostTensor a = *readInput(*parseInputSpec("2x3xf32=1,2,3,4,5,6")),
             b = *readInput(*parseInputSpec("4xi64=7,8,9,10"));
  ASSERT_TRUE(store->put({17, 0}, a, 3).ok());
  ASSERT_TRUE(store->put({17, 1}, b, 4).ok());
  EXPECT_FALSE(store->has({17, 2}));
  EXPECT_EQ(store->dispatchOf({17, 1}), 4);
  for (auto &[round, wanted] : {std::pair(0, &a), {1, &b}}) {
    auto value = store->get({17, round});
    ASSERT_TRUE(value.ok());
    EXPECT_EQ(value->typeText(), wanted->typeText());
    EXPECT_TRUE(std::ranges::equal(value->bytes(), wanted->bytes()));
  }
  store->clear();
  EXPECT_FALSE(store->has({17, 0}));
}
