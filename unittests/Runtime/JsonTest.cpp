// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/Artifact/Json.h"
#include <gtest/gtest.h>

using namespace tw::rt;

TEST(Json, ReadsEveryKindOfValue) {
  auto json = Json::parse(R"( {"a": [1, -2, 3.5, true, false, null], "b": {"c": "x"}, "a": 0} )");
  ASSERT_TRUE(json.ok());
  const Json::Array &a = *json->find("a")->array();
  ASSERT_EQ(a.size(), 6u);
  EXPECT_EQ(*a[1].integer(), -2);
  EXPECT_FALSE(a[2].integer());
  EXPECT_TRUE(*a[3].boolean());
  EXPECT_TRUE(a[5].isNull());
  EXPECT_EQ(*json->find("b")->find("c")->string(), "x");
  EXPECT_EQ(json->find("z"), nullptr);
}

TEST(Json, DecodesEscapes) {
  auto json = Json::parse(R"("\"\\\/\b\f\n\r\t\u0041\u00e9\u20ac\ud83d\ude00")");
  ASSERT_TRUE(json.ok());
  EXPECT_EQ(*json->string(), "\"\\/\b\f\n\r\tA\u00e9\u20ac\U0001F600");
}

TEST(Json, RefusesWhatIsNotJson) {
  for (const char *text : {"",
                           "{",
                           "[1,]",
                           "[1 2]",
                           "{\"a\"}",
                           "{\"a\":}",
                           "{a:1}",
                           "\"",
                           "\"\\",
                           "\"\\x\"",
                           "\"\\u12\"",
                           "\"\\ud800\"",
                           "\"\\ud800\\u0041\"",
                           "\"\n\"",
                           "tru",
                           "+1",
                           "1-2",
                           "-",
                           "1 2",
                           "[",
                           "1e999",
                           "9223372036854775808",
                           "{\"a\":1,}",
                           "NaN"})
    EXPECT_FALSE(Json::parse(text).ok()) << text;
}

TEST(Json, LimitsDepth) {
  EXPECT_TRUE(Json::parse(std::string(60, '[') + std::string(60, ']')).ok());
  EXPECT_FALSE(Json::parse(std::string(100000, '[')).ok());
}

TEST(Json, SaysWhere) {
  EXPECT_EQ(Json::parse("[1, x]").error().message,
            "the metadata is not valid JSON: at byte 4: a value is expected");
}
