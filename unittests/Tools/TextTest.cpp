// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "IO/InputSpec.h"
#include "tools/tilewright/Compiler/TimeReport.h"
#include "tools/tilewright/Program/Values.h"
#include "tools/tilewright/Progress.h"
#include "tools/tilewright/Statistics.h"
#include <gtest/gtest.h>

using namespace tw;
using namespace tw::cli;

static HostTensor make(std::string_view text) { return *readInput(*parseInputSpec(text)); }

TEST(Values, PrintInNestedBrackets) {
  EXPECT_EQ(valuesText(make("2x2xf32=1,2.5,nan,-inf")), "[[1, 2.5],\n [nan, -inf]]");
  EXPECT_EQ(valuesText(make("2x1x2xbool=1,0,0,1")), "[[[true, false]],\n [[false, true]]]");
  EXPECT_EQ(valuesText(make("f16=0.1")), "0.099975586");
  EXPECT_EQ(valuesText(make("i64=-9223372036854775808")), "-9223372036854775808");
  EXPECT_EQ(valuesText(make("0x3xf32=")), "[]");
}

TEST(Values, LargeOnesAreCutShort) {
  EXPECT_EQ(valuesText(make("1001xi8=1")), "[1, 1, 1, ..., 1, 1, 1]");
  EXPECT_EQ(valuesText(make("2x501xi8=1")), "[[1, 1, 1, ..., 1, 1, 1],\n [1, 1, 1, ..., 1, 1, 1]]");
}

TEST(Values, JsonHasValuesUpToALimit) {
  JsonWriter few, many;
  writeJson(few, "y", make("3xf32=1,nan,inf"), 3);
  EXPECT_EQ(few.text(),
            R"({"name": "y", "dtype": "f32", "sizes": [3], "values": [1, "NaN", "Infinity"]})");
  writeJson(many, "y", make("3xf32=1"), 2);
  EXPECT_EQ(many.text(), R"({"name": "y", "dtype": "f32", "sizes": [3]})");
}

TEST(Values, Bytes) {
  EXPECT_EQ(bytesText(9999), "9999 bytes");
  EXPECT_EQ(bytesText(1234567), "1.23 MB (1234567 bytes)");
}

TEST(Progress, IsOneLineOfTheGivenWidth) {
  EXPECT_EQ(progressText("code\nk1", 0.425, 80), "[ 42%] code k1");
  EXPECT_EQ(progressText("import", -1, 80), "import");
  EXPECT_EQ(progressText("import", 2, 8), "[100%] i");
}

TEST(Progress, TellsTheTimeLeft) {
  EXPECT_EQ(timeLeftText(0, 0), "");
  EXPECT_EQ(timeLeftText(100, 1 / 3.0), ", 3:20 left");
  EXPECT_EQ(timeLeftText(3600, 0.5), ", 1:00:00 left");
  EXPECT_EQ(timeLeftText(50, 1.2), ", 0:00 left");
}

TEST(Statistics, Percentiles) {
  Statistics s = statistics({5, 1, 3, 2, 4});
  EXPECT_EQ(s.median, 3);
  EXPECT_EQ(s.min, 1);
  EXPECT_DOUBLE_EQ(s.p10, 1.4);
  EXPECT_DOUBLE_EQ(s.p90, 4.6);
  EXPECT_EQ(statistics({7}).p90, 7);
}

TEST(TimeReport, IsATable) {
  EXPECT_EQ(timeReportText(R"({"total_ms": 8, "stages": [{"name": "a", "ms": 6, "children":
                              [{"name": "b", "ms": 2}]}]})"),
            "       6.0 ms  75.0%  a\n       2.0 ms  25.0%    b\n       8.0 ms 100.0%  total\n");
  EXPECT_EQ(timeReportText("{}"), "{}\n");
}
