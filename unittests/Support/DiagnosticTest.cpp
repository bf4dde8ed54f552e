// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Support/Diagnostic.h"
#include "Support/Advice.h"
#include "Support/Checked.h"
#include <fmt/format.h>
#include <gtest/gtest.h>

using namespace tw;

TEST(Diagnostic, RendersEveryPart) {
  Diagnostic d{Code::CLI_2, "cannot write y.npy", "y.npy", {"permission denied"}, "choose another"};
  EXPECT_EQ(d.render(), "error[TW-CLI-0002]: cannot write y.npy\n  --> y.npy\n"
                        "  note: permission denied\n  help: choose another\n");
}

TEST(Diagnostic, CodesRoundTrip) {
  EXPECT_EQ(parseCode("TW-CLI-0004"), Code::CLI_4);
  EXPECT_EQ(parseCode("TW-CLI-9999"), std::nullopt);
  EXPECT_EQ(static_cast<int>(info(Code::CLI_4).category), 5);
}

static constexpr Code codes[] = {
#define TW_CODE(area, number, category, meaning) Code::area##_##number,
#include "Support/Codes.def"
#undef TW_CODE
};

TEST(Diagnostic, EveryErrorSaysWhatToDo) {
  for (Code code : codes) {
    Diagnostic error{code, "message"};
    std::string begin = fmt::format("error[{}]: message\n", codeName(code));
    EXPECT_NE(adviceFor(code), "") << begin;
    EXPECT_EQ(error.render(), fmt::format("{}  help: {}\n", begin, adviceFor(code)));
    EXPECT_EQ(renderRepeated(error), begin);
    error.help = "do this";
    EXPECT_EQ(adviceOf(error), "do this");
    EXPECT_EQ(error.render(), renderRepeated(error));
  }
}

static Result<int> half(int x) {
  if (x % 2)
    return Diagnostic{Code::CLI_1, "odd"};
  return x / 2;
}
static Result<int> quarter(int x) {
  TW_ASSIGN(int h, half(x));
  return half(h);
}

TEST(Result, PropagatesErrors) {
  EXPECT_EQ(*quarter(8), 2);
  EXPECT_EQ(quarter(6).error().message, "odd");
  EXPECT_EQ(quarter(5).error().message, "odd");
}

TEST(Checked, ReportsOverflow) {
  int64_t big[] = {int64_t(1) << 40, int64_t(1) << 40};
  EXPECT_FALSE(checkedProduct(big));
  int64_t negative[] = {3, -1};
  EXPECT_FALSE(checkedProduct(negative));
  int64_t zero[] = {0, int64_t(1) << 62, 4};
  EXPECT_EQ(checkedProduct(zero), 0);
}
