// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loads and gathers at positions that are tiles: computed from coordinates, or from data.
#include "unittests/Target/CompiledKernel.h"
#include "unittests/Target/KernelJit.h"
#include <fmt/format.h>
#include <gtest/gtest.h>

namespace tw::target {
namespace {

/// Positions `%p`, made of coordinates `%i` of a row of `%n`; `{0}` is the tile's type.
struct Map {
  const char *name, *text;
};

constexpr Map maps[] = {
    {"reverse", "%a = tile.full %last : i64 -> {0}  %p = arith.subi %a, %i : {0}"},
    {"reflect", R"(%a = tile.full %three : i64 -> {0}  %b = arith.subi %i, %a : {0}
        %c = arith.subi %a, %i : {0}  %d = arith.maxsi %b, %c : {0}
        %e = tile.full %twice : i64 -> {0}  %f = arith.subi %e, %d : {0}
        %p = arith.minsi %d, %f : {0})"},
    {"replicate", R"(%a = tile.full %three : i64 -> {0}  %b = arith.subi %i, %a : {0}
        %c = tile.full %zero : i64 -> {0}  %d = arith.maxsi %b, %c : {0}
        %e = tile.full %last : i64 -> {0}  %p = arith.minsi %d, %e : {0})"},
    {"roll", R"(%a = tile.full %three : i64 -> {0}  %b = arith.addi %i, %a : {0}
        %c = tile.full %n : i64 -> {0}  %d = arith.cmpi slt, %b, %c : {0}
        %e = arith.subi %b, %c : {0}  %p = arith.select %d, %b, %e : {1}, {0})"},
    {"twice", "%a = tile.full %two : i64 -> {0}  %p = arith.divui %i, %a : {0}"},
    {"uneven", R"(%a = tile.full %three : i64 -> {0}  %b = arith.muli %i, %a : {0}
        %c = tile.full %two : i64 -> {0}  %p = arith.divui %b, %c : {0})"},
    {"far", R"(%a = tile.full %twice : i64 -> {0}  %b = arith.muli %i, %a : {0}
        %c = tile.full %n : i64 -> {0}  %p = arith.remui %b, %c : {0})"},
    {"outside", "%a = tile.full %three : i64 -> {0}  %p = arith.subi %i, %a : {0}"},
};

/// Rows of `size` (a number or a symbol), of which a program has `block` positions.
std::string kernelOf(const Map &map, const std::string &size, int64_t block, int64_t count,
                     const char *dtype, const char *pad) {
  std::string tile = fmt::format("tensor<{}xi64>", block);
  bool isSymbol = !isdigit(size[0]);
  return fmt::format(
      R"(
    tile.kernel @k(in %x: !tile.buffer<[2, {0}], {1}>, out %y: !tile.buffer<[2, {2}], {1}>)
        {3} grid [2, {4}] {{
      %m = tile.program_id 0
      %block = tile.program_id 1
      %extent = arith.constant {5} : index
      %from = arith.muli %block, %extent : index
      %size = tile.size {0}
      %n = arith.index_cast %size : index to i64
      %zero = arith.constant 0 : i64
      %one = arith.constant 1 : i64
      %two = arith.constant 2 : i64
      %three = arith.constant 3 : i64
      %last = arith.subi %n, %one : i64
      %twice = arith.addi %last, %last : i64
      %pad = arith.constant {6}
      %i = tile.iota 0 from %from : {7}
      {8}
      %v = tile.load %x[%m, %p : {7}] pad %pad : {1} : !tile.buffer<[2, {0}], {1}> -> tensor<1x{5}x{1}>
      tile.store %v, %y[%m, %from] : tensor<1x{5}x{1}>, !tile.buffer<[2, {2}], {1}>
    }})",
      size, dtype, count, isSymbol ? "symbols [" + size + "]" : "", (count + block - 1) / block,
      block, pad ? fmt::format("{} : {}", pad, dtype) : "true", tile,
      fmt::format(fmt::runtime(map.text), tile, fmt::format("tensor<{}xi1>", block)));
}

void expectSame(const char *cpu, const Map &map, int64_t n, int64_t block, const char *dtype,
                const char *pad, bool isSymbol = false) {
  SCOPED_TRACE(fmt::format("{}: {} of {} {}, {} a program", cpu, map.name, n, dtype, block));
  std::string size = isSymbol ? "N" : std::to_string(n);
  CompiledKernel kernel(kernelOf(map, size, block, n + 2, dtype, pad), cpu);
  kernel.expectSame({fmt::format("2x{}x{}=random:1", n, pad ? dtype : "bool")}, 0);
}

class Positions : public testing::TestWithParam<const char *> {
protected:
  void SetUp() override {
    bool isMissing = GetParam() == std::string("x86-64-v4") ? !__builtin_cpu_supports("avx512bw")
                                                            : !__builtin_cpu_supports("avx2");
    if (isMissing)
      GTEST_SKIP() << "this CPU is no " << GetParam();
  }
};
INSTANTIATE_TEST_SUITE_P(CPUs, Positions, testing::Values("x86-64-v3", "x86-64-v4"));

TEST_P(Positions, FollowFromCoordinates) {
  for (const Map &map : maps)
    for (int64_t n : {1, 5, 37, 100})
      expectSame(GetParam(), map, n, n + 2, "f32", "-3.0");
}

TEST_P(Positions, OfAllDTypes) {
  constexpr std::pair<const char *, const char *> dtypes[] = {
      {"f64", "-3.0"}, {"bf16", "-3.0"}, {"f16", "-3.0"}, {"i32", "-3"},
      {"i64", "-3"},   {"i8", "-3"},     {"i1", nullptr}};
  for (auto [dtype, pad] : dtypes)
    for (const Map &map : {maps[0], maps[1], maps[4]})
      for (int64_t n : {62, 75})
        expectSame(GetParam(), map, n, n + 2, dtype, pad);
}

TEST_P(Positions, InSeveralProgramsOfAnUnknownSize) {
  for (const Map &map : maps)
    for (bool isSymbol : {false, true})
      for (int64_t n : {3, 150})
        expectSame(GetParam(), map, n, 48, "f32", "-3.0", isSymbol);
}

/// y[m, i] = x[at[m, i], i], where `at` counts from the end below 0.
std::string lookUp(int64_t columns, const char *integer, bool isLoad) {
  std::string tile = fmt::format("tensor<16x{}xi64>", columns);
  std::string given =
      std::string(integer) == "i64"
          ? ""
          : fmt::format("%wide = arith.extsi %at : tensor<16x{}x{}> to {}", columns, integer, tile);
  std::string read =
      isLoad
          ? fmt::format("%v = tile.load %x[%flat : tensor<16xi64>, %c0] : !tile.buffer<[50, {0}], "
                        "f32> -> tensor<16x{0}xf32>",
                        columns)
          : fmt::format("%v = tile.gather %x[%safe : {1}, %column : {1}] : !tile.buffer<[50, {0}], "
                        "f32> -> tensor<16x{0}xf32>",
                        columns, tile);
  return fmt::format(R"(
    tile.kernel @k(in %ats: !tile.buffer<[40, {0}], {1}>, in %x: !tile.buffer<[50, {0}], f32>,
                   out %y: !tile.buffer<[40, {0}], f32>) grid [3] {{
      %block = tile.program_id 0
      %c16 = arith.constant 16 : index
      %c0 = arith.constant 0 : index
      %c40 = arith.constant 40 : i64
      %c50 = arith.constant 50 : index
      %zero = arith.constant 0 : i64
      %fifty = arith.constant 50 : i64
      %from = arith.muli %block, %c16 : index
      %at = tile.load %ats[%from, %c0] : !tile.buffer<[40, {0}], {1}> -> tensor<16x{0}x{1}>
      {3}
      %zeros = tile.full %zero : i64 -> {2}
      %sizes = tile.full %fifty : i64 -> {2}
      %isLow = arith.cmpi slt, %{4}, %zeros : {2}
      %up = arith.addi %{4}, %sizes : {2}
      %wrapped = arith.select %isLow, %up, %{4} : tensor<16x{0}xi1>, {2}
      %row = tile.iota 0 from %from : {2}
      %column = tile.iota 1 from %c0 : {2}
      %rows = tile.full %c40 : i64 -> {2}
      %isRow = arith.cmpi slt, %row, %rows : {2}
      %safe = tile.check %wrapped in %c50 mask %isRow : tensor<16x{0}xi1>, "row %lld of %lld" : {2}
      {5}
      %flat = tile.reshape %first : tensor<16x1xi64> -> tensor<16xi64>
      {6}
      tile.store %v, %y[%from, %c0] : tensor<16x{0}xf32>, !tile.buffer<[40, {0}], f32>
    }})",
                     columns, integer, tile, given, given.empty() ? "at" : "wide",
                     fmt::format("%first = tile.slice %safe offsets [0, 0] strides [1, 1] : {} -> "
                                 "tensor<16x1xi64>",
                                 tile),
                     read);
}

template <typename T>
void expectLookUps(const char *cpu, int64_t columns, const char *integer, bool isLoad) {
  SCOPED_TRACE(fmt::format("{}: {} columns at {}, {}", cpu, columns, integer, isLoad));
  std::vector<float> x(size_t(50 * columns)), y(size_t(40 * columns));
  std::vector<T> at(y.size());
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = float(i);
  for (size_t i = 0; i < at.size(); ++i)
    at[i] = T(int64_t(i * 7 % 100) - 50);
  KernelJit kernel(lookUp(columns, integer, isLoad), cpu);
  EXPECT_EQ(kernel.run({at.data(), x.data(), y.data()})[0], 0);
  for (int64_t i = 0; i < 40 * columns; ++i) {
    int64_t place = isLoad ? i / columns * columns : i;
    int64_t row = at[size_t(place)] < 0 ? at[size_t(place)] + 50 : at[size_t(place)];
    ASSERT_EQ(y[size_t(i)], x[size_t(row * columns + i % columns)]) << i;
  }
  for (size_t bad : {size_t(0), at.size() - 1}) {
    T before = std::exchange(at[bad], T(60));
    EXPECT_EQ(kernel.run({at.data(), x.data(), y.data()}), (std::vector<int64_t>{1, 60, 50}));
    at[bad] = before;
  }
}

TEST_P(Positions, FromDataAreChecked) {
  for (int64_t columns : {1, 4, 16, 37})
    for (bool isLoad : {false, true}) {
      expectLookUps<int64_t>(GetParam(), columns, "i64", isLoad);
      expectLookUps<int32_t>(GetParam(), columns, "i32", isLoad);
    }
}

TEST_P(Positions, NeedNoGather) {
  for (const Map &map : {maps[0], maps[1], maps[3], maps[4]})
    for (int64_t block : {226, 1026}) {
      std::string text = kernelOf(map, std::to_string(block - 2), block, block, "f32", "0.0");
      std::string code = assemblyOf(text, GetParam());
      EXPECT_EQ(code.find("gather"), std::string::npos) << map.name << "\n" << code;
    }
}

} // namespace
} // namespace tw::target
