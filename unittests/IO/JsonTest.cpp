// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "IO/Formats/Json.h"
#include <gtest/gtest.h>

using namespace tw;

namespace {

TEST(Json, ValuesAndTheirPaths) {
  auto document = JsonDocument::parse(R"({"a": [1, {"b": "x"}], "n": null, "f": 2})", "m.json");
  ASSERT_TRUE(document.ok());
  Json root = document->root();
  EXPECT_FALSE(root.find("n"));
  EXPECT_FALSE(root.find("missing"));
  EXPECT_EQ(*root.get("f")->number(), 2.0);
  Status status = root.get("a")->forEach([&](Json element) -> Status {
    if (element.isInteger())
      return {};
    EXPECT_EQ(*element.get("b")->string(), "x");
    TW_TRY(element.get("b")->integer());
    return {};
  });
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().location, "m.json: a[1].b");
  EXPECT_EQ(status.error().message, "the file has a string where an integer is expected");
  EXPECT_EQ(root.get("zz").error().message, "the member \"zz\" is missing");
}

TEST(Json, IntegersAreExactOrRefused) {
  auto document = JsonDocument::parse("[9223372036854775807, 9223372036854775808, 1.5]", "m");
  ASSERT_TRUE(document.ok());
  std::vector<std::string> read;
  (void)document->root().forEach([&](Json element) -> Status {
    auto value = element.integer();
    read.push_back(value ? std::to_string(*value) : codeName(value.error().code));
    return {};
  });
  EXPECT_EQ(read, (std::vector<std::string>{"9223372036854775807", "TW-IO-0017", "TW-IO-0017"}));
}

TEST(Json, WhatIsNotJsonIsRefused) {
  for (std::string text : {"", "{", "[1,]", "nul", "{\"a\" 1}", "\"\xff\"", "[1] 2"})
    EXPECT_FALSE(JsonDocument::parse(text, "m").ok()) << text;
  EXPECT_FALSE(JsonDocument::parse({}, "m").ok()) << "no data at all";
}

TEST(Json, DepthIsLimited) {
  auto nested = [](size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_TRUE(JsonDocument::parse(nested(JsonDocument::maxDepth - 1), "m").ok());
  auto deep = JsonDocument::parse(nested(100000), "m");
  ASSERT_FALSE(deep.ok());
  EXPECT_EQ(deep.error().message, "m is nested deeper than 64 levels");
}

} // namespace
