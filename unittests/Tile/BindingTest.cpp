// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What binds symbols, and what is said where sizes do not fit.
#include "Tile/Binding/Binding.h"
#include <gtest/gtest.h>

namespace tw {
namespace {

Size parsed(std::string_view text) {
  std::string why;
  return *Size::parse(text, why);
}

KernelArgument buffer(std::string name, std::vector<std::string> sizes,
                      KernelAccess access = KernelAccess::In) {
  KernelArgument argument{std::move(name), access, DType::F32, {}, {}};
  for (const std::string &text : sizes)
    argument.sizes.push_back(parsed(text));
  return argument;
}

GivenArgument given(std::vector<int64_t> sizes) { return {DType::F32, std::move(sizes), 0}; }

/// The error's message with its notes, or what was bound: "M=4 N=8 y=[4] grid=[2]".
std::string bind(const KernelSignature &kernel, std::vector<GivenArgument> arguments) {
  auto bound = bindKernel(kernel, arguments);
  std::string text;
  if (!bound) {
    text = bound.error().message;
    for (const std::string &note : bound.error().notes)
      text += "; " + note;
    return text;
  }
  for (const auto &[name, value] : bound->symbols)
    text += name + "=" + std::to_string(value) + " ";
  auto list = [&](const std::string &name, const std::vector<int64_t> &values) {
    text += name + "=[";
    for (int64_t value : values)
      text += (text.ends_with('[') ? "" : ",") + std::to_string(value);
    text += "] ";
  };
  for (size_t i = 0; i < kernel.arguments.size(); ++i)
    if (kernel.arguments[i].access == KernelAccess::Out)
      list(kernel.arguments[i].name, bound->sizes[i]);
  list("grid", bound->grid);
  return text;
}

const KernelSignature gemm = {
    "gemm",
    {buffer("a", {"M", "K"}), buffer("b", {"N", "K"}), buffer("c", {"M", "N"}, KernelAccess::Out)},
    {{"M"}, {"N"}, {"K", 1, 64, 8}},
    {parsed("M ceildiv 6")}};

TEST(Binding, Solves) {
  EXPECT_EQ(bind(gemm, {given({7, 16}), given({5, 16}), {}}), "K=16 M=7 N=5 c=[7,5] grid=[2] ");
  KernelSignature chain = {"chain",
                           {buffer("y", {"M * N + K"}),
                            buffer("x", {"N", "2 * K + 1"}),
                            {"m", KernelAccess::Scalar, DType::I64, {}, "M"}},
                           {{"M"}, {"N"}, {"K"}},
                           {parsed("1")}};
  EXPECT_EQ(bind(chain, {given({14}), given({3, 5}), {DType::I64, {}, 4}}),
            "K=2 M=4 N=3 grid=[1] ");
  EXPECT_EQ(
      bind(chain, {given({15}), given({3, 5}), {DType::I64, {}, 4}}),
      "size 0 of \"y\", [15]: must be K + M * N = 14; K = 2 by size 1 of \"x\", [3, 5]; M = 4 "
      "by argument \"m\"; N = 3 by size 0 of \"x\", [3, 5]");
  EXPECT_EQ(bind(chain, {given({14}), given({3, 4}), {DType::I64, {}, 4}}),
            "no integer K gives K * 2 + 1 = 4 (size 1 of \"x\", [3, 4])");
  EXPECT_EQ(bind(chain, {given({14}), given({3, 0}), {DType::I64, {}, 4}}),
            "no integer K gives K * 2 + 1 = 0 (size 1 of \"x\", [3, 0])");
  EXPECT_EQ(bind(chain, {given({14}), given({3, 5}), {DType::I64, {}, -4}}),
            "symbol M would be -4 by argument \"m\"; symbols are not negative");
}

TEST(Binding, NothingFollowsFromAFactorOfZero) {
  KernelSignature flat = {
      "flat", {buffer("x", {"M * N"}), buffer("y", {"M"})}, {{"M"}, {"N"}}, {parsed("1")}};
  EXPECT_EQ(bind(flat, {given({6}), given({2})}), "M=2 N=3 grid=[1] ");
  EXPECT_EQ(bind(flat, {given({0}), given({0})}), "symbol N does not follow from the arguments");
  EXPECT_EQ(bind(flat, {given({6}), given({0})}), "symbol N does not follow from the arguments");
  flat.arguments.push_back(buffer("z", {"N * 2"}));
  EXPECT_EQ(bind(flat, {given({0}), given({0}), given({8})}), "M=0 N=4 grid=[1] ");
}

TEST(Binding, Contradictions) {
  EXPECT_EQ(bind(gemm, {given({7, 16}), given({5, 24}), {}}),
            "size 1 of \"b\", [5, 24]: must be K = 16; K = 16 by size 1 of \"a\", [7, 16]");
  KernelSignature fixed = {"f", {buffer("x", {"4"})}, {}, {parsed("1")}};
  EXPECT_EQ(bind(fixed, {given({5})}), "size 0 of \"x\", [5]: must be 4");
}

TEST(Binding, Limits) {
  EXPECT_EQ(bind(gemm, {given({7, 12}), given({5, 12}), {}}),
            "symbol K is 12 by size 1 of \"a\", [7, 12], but must be a multiple of 8");
  EXPECT_EQ(bind(gemm, {given({7, 72}), given({5, 72}), {}}),
            "symbol K is 72 by size 1 of \"a\", [7, 72], but must be at most 64");
  EXPECT_EQ(bind(gemm, {given({7, 0}), given({5, 0}), {}}),
            "symbol K is 0 by size 1 of \"a\", [7, 0], but must be at least 1");
}

TEST(Binding, Arguments) {
  EXPECT_EQ(bind(gemm, {given({7}), given({5, 8}), {}}),
            "argument \"a\" has 2 dimensions, [M, K], but 1 is given, [7]");
  EXPECT_EQ(bind(gemm, {{DType::F64, {7, 8}, 0}, given({5, 8}), {}}),
            "argument \"a\" is f32, but f64 is given");
  EXPECT_EQ(bind(gemm, {given({7, 8})}), "the kernel has 3 arguments, but 1 is given");
  EXPECT_EQ(bind(gemm, {given({-7, 8}), given({5, 8}), {}}),
            "argument \"a\" is given with the negative size -7");
}

TEST(Binding, SizesOfOutputs) {
  KernelSignature kernel = {"k",
                            {buffer("x", {"N"}), buffer("y", {"N - 4"}, KernelAccess::Out)},
                            {{"N"}},
                            {parsed("16 floordiv N")}};
  EXPECT_EQ(bind(kernel, {given({6}), {}}), "N=6 y=[2] grid=[2] ");
  EXPECT_EQ(bind(kernel, {given({3}), {}}),
            "size 0 of \"y\", N - 4, is -1, which is negative; N = 3 by size 0 of \"x\", [3]");
  kernel.arguments.pop_back();
  EXPECT_EQ(bind(kernel, {given({0})}),
            "size 0 of the grid, 16 floordiv N, overflows or divides by "
            "0; N = 0 by size 0 of \"x\", [0]");
}

TEST(Binding, ProgramsOfTheGrid) {
  KernelSignature kernel = {
      "k", {buffer("x", {"M"})}, {{"M"}}, {parsed("M * 1048576"), parsed("M * 524288")}};
  EXPECT_EQ(bind(kernel, {given({1})}), "M=1 grid=[1048576,524288] ");
  EXPECT_EQ(bind(kernel, {given({2})}),
            "the grid, [2097152, 1048576], has more than 1099511627776 programs; M = 2 by size 0 "
            "of \"x\", [2]");
  EXPECT_EQ(bind(kernel, {given({0})}), "M=0 grid=[0,0] ");
}

TEST(Binding, SizesInTheBody) {
  KernelSignature kernel = {"k", {buffer("x", {"M", "N"})}, {{"M"}, {"N"}}, {parsed("M")}};
  kernel.sizes = {{parsed("N - 4"), /*isExtent=*/true, "k.py:3"},
                  {parsed("M floordiv (N - 6)"), /*isExtent=*/false, "k.py:4"}};
  EXPECT_EQ(bind(kernel, {given({2, 5})}), "M=2 N=5 grid=[2] ");
  EXPECT_EQ(
      bind(kernel, {given({2, 3})}),
      "an extent of a tile, N - 4, is -1, which is negative; N = 3 by size 1 of \"x\", [2, 3]");
  EXPECT_EQ(bind(kernel, {given({2, 6})}),
            "a size, M floordiv (N - 6), overflows or divides by 0; M = 2 by size 0 of \"x\", [2, "
            "6]; N = 6 by size 1 of \"x\", [2, 6]");
}

TEST(Binding, ElementsOfTiles) {
  KernelSignature kernel = {"k", {buffer("x", {"M", "N"})}, {{"M"}, {"N"}}, {parsed("M")}};
  kernel.tiles = {{{parsed("N * 65536"), parsed("M * 65536")}, "k.py:3"}};
  EXPECT_EQ(bind(kernel, {given({2, 5})}), "M=2 N=5 grid=[2] ");
  EXPECT_EQ(bind(kernel, {given({2, 9})}),
            "a tile, [589824, 131072], has more than 68719476736 elements; N = 9 by size 1 of "
            "\"x\", [2, 9]; M = 2 by size 0 of \"x\", [2, 9]");
}

TEST(Binding, BeforeTheCall) {
  auto known = [](std::vector<GivenArgument> arguments) {
    auto bound = bindKnown(gemm, arguments);
    if (!bound)
      return bound.error().message;
    std::string text;
    for (const auto &[name, value] : bound->symbols)
      text += name + "=" + std::to_string(value) + " ";
    for (int64_t size : bound->sizes[2])
      text += size == unknownSize ? "? " : std::to_string(size) + " ";
    return text;
  };
  EXPECT_EQ(known({given({unknownSize, 8}), given({5, unknownSize}), {}}), "K=8 N=5 ? 5 ");
  EXPECT_EQ(known({given({unknownSize, unknownSize}), given({unknownSize, unknownSize}), {}}),
            "? ? ");
  EXPECT_EQ(known({given({unknownSize, 8}), given({5, 9}), {}}),
            "size 1 of \"b\", [5, 9]: must be K = 8");
}

} // namespace
} // namespace tw
