// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "IO/Formats/JsonWriter.h"
#include <gtest/gtest.h>
#include <limits>

using namespace tw;

TEST(JsonWriter, NestsAndSeparates) {
  JsonWriter json;
  json.beginObject().member("a", 1).key("b").beginArray().value("x").value(true).null().endArray();
  json.key("c").beginObject().endObject().key("d").raw("{}").endObject();
  EXPECT_EQ(json.text(), R"({"a": 1, "b": ["x", true, null], "c": {}, "d": {}})");
}

TEST(JsonWriter, QuotesText) {
  EXPECT_EQ(JsonWriter().value("a\"\\\n\1\x7f").text(), R"("a\"\\\n\u0001\u007f")");
  EXPECT_EQ(JsonWriter().value("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80").text(),
            "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"");
  EXPECT_EQ(JsonWriter().value("\xff\xc3|\xed\xa0\x80").text(),
            "\"\xef\xbf\xbd\xef\xbf\xbd|\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
}

TEST(JsonWriter, NumbersReadBack) {
  EXPECT_EQ(JsonWriter().value(0.1).text(), "0.1");
  EXPECT_EQ(JsonWriter().value(std::numeric_limits<int64_t>::min()).text(), "-9223372036854775808");
  EXPECT_EQ(JsonWriter().value(-std::numeric_limits<double>::infinity()).text(), "\"-Infinity\"");
  EXPECT_EQ(JsonWriter().value(std::numeric_limits<double>::quiet_NaN()).text(), "\"NaN\"");
}
