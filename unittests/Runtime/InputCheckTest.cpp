// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/Instance/InputCheck.h"
#include <deque>
#include <gtest/gtest.h>

using namespace tw;
using namespace tw::rt;

/// Inputs y [s1, 4], x [s0, s1*2], n = s2, checked one after another.
class InputCheck : public ::testing::Test {
protected:
  InputCheck() {
    auto parsed = parseMetadata(R"({"format": 4, "abi": 2, "target": "cpu",
      "symbols": [{"name": "s0", "min": 1, "max": 8}, {"name": "s1"}, {"name": "s2", "min": 2}],
      "inputs": [{"name": "y", "dtype": "f32", "sizes": ["s1", 4]},
                 {"name": "x", "dtype": "f32", "sizes": ["s0", "s1*2"]},
                 {"name": "n", "kind": "int", "symbol": "s2"}]})");
    metadata = *std::move(parsed);
  }

  tw_tensor tensor(std::vector<int64_t> sizes, tw_dtype dtype = TW_F32) {
    const auto &kept = shapes.emplace_back(std::move(sizes));
    return {memory, sizeof memory, dtype, static_cast<int32_t>(kept.size()), kept.data()};
  }
  tw_tensor number(int64_t value) { return {&numbers.emplace_back(value), 8, TW_I64, 0, nullptr}; }
  /// "CODE message" of the check, or "".
  std::string check(std::vector<tw_tensor> inputs) {
    Status status = checkInputs(metadata, inputs, symbols);
    return status ? "" : codeName(status.error().code) + " " + status.error().message;
  }

  Metadata metadata;
  SymbolValues symbols;
  alignas(64) char memory[4096] = {};
  std::deque<std::vector<int64_t>> shapes;
  std::deque<int64_t> numbers;
};

TEST_F(InputCheck, BindsSymbols) {
  EXPECT_EQ(check({tensor({4, 4}), tensor({3, 8}), number(9)}), "");
  EXPECT_EQ(symbols, (SymbolValues{3, 4, 9}));
}

TEST_F(InputCheck, SaysWhichSizeContradictsWhich) {
  EXPECT_EQ(
      check({tensor({4, 4}), tensor({3, 7}), number(9)}),
      "TW-RUNTIME-0011 input \"x\" dimension 1 is 7, but the model says s1*2 with s1 = 4 (from "
      "input \"y\" dimension 0)");
  EXPECT_EQ(check({tensor({4, 5}), tensor({3, 8}), number(9)}),
            "TW-RUNTIME-0011 input \"y\" dimension 1 is 5, but the program takes 4");
  EXPECT_EQ(check({tensor({4}), tensor({3, 8}), number(9)}),
            "TW-RUNTIME-0011 input \"y\" has 1 dimension, but the program takes 2");
}

TEST_F(InputCheck, EqualSymbolsMustAgree) {
  metadata.inputs[1].sizes[0] = metadata.inputs[0].sizes[0];
  EXPECT_EQ(check({tensor({4, 4}), tensor({3, 8}), number(9)}),
            "TW-RUNTIME-0011 input \"x\" dimension 0 is 3, but the model says s1 = 4 (from input "
            "\"y\" dimension 0)");
}

TEST_F(InputCheck, SolvesForSymbolsThatStandOnlyInExpressions) {
  metadata.inputs[0].sizes[0].expression.reset();
  metadata.inputs[0].sizes[0].fixed = 4;
  metadata.solutions = solveInputs(metadata.inputs);
  EXPECT_EQ(check({tensor({4, 4}), tensor({3, 10}), number(9)}), "");
  EXPECT_EQ(symbols[1], 5);
  EXPECT_EQ(check({tensor({4, 4}), tensor({3, 7}), number(9)}),
            "TW-RUNTIME-0011 input \"x\" dimension 1 is 7, but the model says s1*2, which no whole "
            "number makes 7");
}

TEST_F(InputCheck, ChecksRanges) {
  EXPECT_EQ(
      check({tensor({4, 4}), tensor({9, 8}), number(9)}),
      "TW-RUNTIME-0012 input \"x\" dimension 0 makes s0 9, but the model was exported with s0 "
      "<= 8");
  EXPECT_EQ(check({tensor({4, 4}), tensor({3, 8}), number(1)}),
            "TW-RUNTIME-0012 input \"n\" makes s2 1, but the model was exported with s2 >= 2");
}

/// Of a kernel nothing was exported, and its author's name for it is known.
TEST_F(InputCheck, SpeaksOfTheKernelOfAKernel) {
  metadata.isKernel = true;
  metadata.model = "scale";
  EXPECT_EQ(check({tensor({4, 4}), tensor({3, 7}), number(9)}),
            "TW-RUNTIME-0011 kernel scale: input \"x\" dimension 1 is 7, but its declaration says "
            "s1*2 with s1 = 4 (from input \"y\" dimension 0)");
  EXPECT_EQ(check({tensor({4, 4}), tensor({9, 8}), number(9)}),
            "TW-RUNTIME-0012 kernel scale: input \"x\" dimension 0 makes s0 9, but its declaration "
            "says s0 <= 8");
  EXPECT_EQ(check({tensor({4, 4}, TW_F64), tensor({3, 8}), number(9)}),
            "TW-RUNTIME-0010 kernel scale: input \"y\" is f64, but the kernel takes f32");
  Status wrong =
      checkInputs(metadata, std::vector{tensor({4, 5}), tensor({3, 8}), number(9)}, symbols);
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().notes,
            std::vector<std::string>{"given [4, 5], the kernel takes [s1, 4]"});
  EXPECT_EQ(wrong.error().help,
            "give sizes that fit each other as the kernel declares its arguments");
}

TEST_F(InputCheck, ChecksNumberTypesAndMemory) {
  EXPECT_EQ(check({tensor({4, 4})}), "TW-RUNTIME-0009 the program takes 3 inputs, but 1 was given");
  EXPECT_EQ(check({tensor({4, 4}, TW_F64), tensor({3, 8}), number(9)}),
            "TW-RUNTIME-0010 input \"y\" is f64, but the program takes f32");
  EXPECT_EQ(check({tensor({4, 4}), tensor({3, 8}), tensor({}, static_cast<tw_dtype>(77))}),
            "TW-RUNTIME-0010 input \"n\" is of an unknown dtype, but the program takes i64");
  tw_tensor missing = tensor({4, 4}), small = missing;
  missing.data = nullptr;
  small.bytes = 63;
  EXPECT_EQ(check({missing, tensor({3, 8}), number(9)}),
            "TW-RUNTIME-0014 input \"y\" has no data, but its sizes need 64 bytes");
  EXPECT_EQ(check({small, tensor({3, 8}), number(9)}),
            "TW-RUNTIME-0014 input \"y\" has 63 bytes, but its sizes need 64");
  EXPECT_EQ(check({tensor({-1, 4}), tensor({3, 8}), number(9)}),
            "TW-RUNTIME-0011 input \"y\" has sizes that no tensor can have");
  EXPECT_EQ(check({tensor({INT64_MAX, 4}), tensor({3, 8}), number(9)}),
            "TW-RUNTIME-0011 input \"y\" has sizes that no tensor can have");
}
