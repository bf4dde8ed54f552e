// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Program.h"
#include <fmt/format.h>
#include <fstream>
#include <iterator>

using namespace tw::test;

static const std::string chain = R"(
      %a = tw.dispatch @twice(%x) outs(%e) : (tensor<4xf32>) outs (tensor<4xf32>) -> tensor<4xf32>
      %b = tw.dispatch @twice(%a) outs(%e) : (tensor<4xf32>) outs (tensor<4xf32>) -> tensor<4xf32>
      %c = tw.dispatch @twice(%b) outs(%e) : (tensor<4xf32>) outs (tensor<4xf32>) -> tensor<4xf32>)";

TEST_F(Program, ElementwiseChainsRunInTheOutput) {
  build(twice +
        "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
        "%e = tensor.empty() : tensor<4xf32>" +
        chain + "return %c : tensor<4xf32> }");
  EXPECT_EQ(tw_program_describe(program)->arena_bytes, 0);
  EXPECT_EQ(run({{1, 2, 3, 4}})[0], (Floats{8, 16, 24, 32}));
}

TEST_F(Program, WhatIsStillReadIsNotOverwritten) {
  build(twice +
        "func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {\n"
        "%e = tensor.empty() : tensor<4xf32>" +
        chain +
        "%d = tw.dispatch @twice(%a) outs(%e) : (tensor<4xf32>) outs (tensor<4xf32>)"
        " -> tensor<4xf32>\n return %c, %d : tensor<4xf32>, tensor<4xf32> }");
  auto out = run({{1, 2, 3, 4}});
  EXPECT_EQ(out[0], (Floats{8, 16, 24, 32}));
  EXPECT_EQ(out[1], (Floats{4, 8, 12, 16}));
}

TEST_F(Program, WeightsAreMadeContiguous) {
  std::filesystem::create_directories(folder);
  std::string file = folder + "/weights.bin";
  Floats values{9, 1, 2, 3, 4, 5, 6};
  std::ofstream(file, std::ios::binary).write(reinterpret_cast<char *>(values.data()), 28);
  // A transposed view of [[1, 2, 3], [4, 5, 6]], and a tied second use of it.
  std::string weight =
      "tw.weight <\"w\" in \"" + file + "\" [4, 24] start 0 strides [1, 3]> : tensor<3x2xf32>\n";
  build("func.func @main() -> (tensor<3x2xf32>, tensor<3x2xf32>) {\n %w = " + weight +
        "%v = " + weight + "return %w, %v : tensor<3x2xf32>, tensor<3x2xf32> }");
  EXPECT_EQ(tw_program_describe(program)->weight_bytes, 64);
  EXPECT_EQ(run({})[0], (Floats{1, 4, 2, 5, 3, 6}));
}

/// A kernel prefetches beyond its weight: the next launch's weight lies there.
TEST_F(Program, WeightsLieInTheOrderOfTheirUses) {
  std::filesystem::create_directories(folder);
  std::string file = folder + "/weights.bin";
  Floats values{1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5};
  std::ofstream(file, std::ios::binary).write(reinterpret_cast<char *>(values.data()), 32);
  auto weight = [&](const char *name, int begin) {
    return fmt::format("%{} = tw.weight <\"{}\" in \"{}\" [{}, 16] start 0 strides [1]> : "
                       "tensor<4xf32>\n",
                       name, name, file, begin);
  };
  build(twice + "func.func @main() -> (tensor<4xf32>, tensor<4xf32>) {\n" + weight("late", 0) +
        weight("early", 16) +
        R"(%e = tensor.empty() : tensor<4xf32>
      %a = tw.dispatch @twice(%early) outs(%e) : (tensor<4xf32>) outs (tensor<4xf32>) -> tensor<4xf32>
      %b = tw.dispatch @twice(%late) outs(%e) : (tensor<4xf32>) outs (tensor<4xf32>) -> tensor<4xf32>
      return %a, %b : tensor<4xf32>, tensor<4xf32> })");
  std::ifstream in(folder + "/program.so", std::ios::binary);
  std::string artifact{std::istreambuf_iterator<char>(in), {}};
  auto place = [&](int first) {
    return artifact.find(std::string(reinterpret_cast<char *>(&values[first]), 16));
  };
  ASSERT_NE(place(0), artifact.npos);
  EXPECT_EQ(place(0), place(4) + 64);
  EXPECT_EQ(run({})[0], (Floats{11, 13, 15, 17}));
}
