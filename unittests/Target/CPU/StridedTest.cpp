// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loads of every n-th element, in reverse, and beyond the edges of their buffer.
#include "unittests/Target/KernelJit.h"
#include <fmt/format.h>
#include <gtest/gtest.h>

namespace tw::target {
namespace {

struct Steps {
  int64_t size, position, step, count;
};

std::string kernelOf(const Steps &s, const char *dtype, const char *pad, int64_t rows = 1) {
  return fmt::format(R"(
    tile.kernel @k(in %x: !tile.buffer<[{5}, {0}], {4}>, out %y: !tile.buffer<[{5}, {3}], {4}>)
        grid [{5}] {{
      %m = tile.program_id 0
      %from = arith.constant {1} : index
      %c0 = arith.constant 0 : index
      %pad = arith.constant {6} : {4}
      %v = tile.load %x[%m, %from] strides [1, {2}] pad %pad : {4} : !tile.buffer<[{5}, {0}], {4}> -> tensor<1x{3}x{4}>
      tile.store %v, %y[%m, %c0] : tensor<1x{3}x{4}>, !tile.buffer<[{5}, {3}], {4}>
    }})",
                     s.size, s.position, s.step, s.count, dtype, rows, pad);
}

template <typename T>
void expectSteps(const std::string &cpu, const Steps &s, const char *dtype, const char *pad,
                 T outside) {
  SCOPED_TRACE(
      fmt::format("{} from {} by {}, {} of {}", dtype, s.position, s.step, s.count, s.size));
  std::vector<T> x(size_t(2 * s.size)), y(size_t(2 * s.count));
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = T(i % 100 + 1);
  KernelJit(kernelOf(s, dtype, pad, 2), cpu).run({x.data(), y.data()});
  for (int64_t row = 0; row < 2; ++row)
    for (int64_t i = 0; i < s.count; ++i) {
      int64_t at = s.position + i * s.step;
      T expected = at >= 0 && at < s.size ? x[size_t(row * s.size + at)] : outside;
      EXPECT_EQ(y[size_t(row * s.count + i)], expected) << row << ", " << i;
    }
}

void expectSteps(const std::string &cpu) {
  for (int64_t step : {2, 3, 4, 5})
    for (int64_t position : {0, -1})
      for (int64_t count : {3, 37, 100})
        for (int64_t cut : {int64_t(0), 3 * step}) {
          int64_t size = std::max<int64_t>(position + (count - 1) * step + 1 - cut, 1);
          Steps steps{size, position, step, count};
          expectSteps<float>(cpu, steps, "f32", "-3.0", -3);
          expectSteps<int64_t>(cpu, steps, "i64", "-7", -7);
          expectSteps<int8_t>(cpu, steps, "i8", "-7", -7);
        }
}

TEST(Strided, LoadsEveryNth) { expectSteps("host"); }

TEST(Strided, LoadsEveryNthWithAVX2) {
  if (!__builtin_cpu_supports("avx2"))
    GTEST_SKIP() << "this CPU has no AVX2";
  expectSteps("x86-64-v3");
}

TEST(Strided, ReadsASliceInReverse) {
  for (int64_t count : {5, 16, 100}) {
    std::string text = fmt::format(R"(
      tile.kernel @k(in %x: !tile.buffer<[{0}], f32>, out %y: !tile.buffer<[{0}], f32>) grid [1] {{
        %c0 = arith.constant 0 : index
        %v = tile.load %x[%c0] : !tile.buffer<[{0}], f32> -> tensor<{0}xf32>
        %r = tile.slice %v offsets [{1}] strides [-1] : tensor<{0}xf32> -> tensor<{0}xf32>
        tile.store %r, %y[%c0] : tensor<{0}xf32>, !tile.buffer<[{0}], f32>
      }})",
                                   count, count - 1);
    std::vector<float> x = numbers<float>(size_t(count)), y(x.size());
    KernelJit(text).run({x.data(), y.data()});
    EXPECT_EQ(y, std::vector<float>(x.rbegin(), x.rend()));
  }
}

/// Rows that lie side by side become columns: `count` of them.
template <typename T>
void expectInterleaved(int64_t count, int64_t length, const char *dtype) {
  SCOPED_TRACE(fmt::format("{} x {} {}", length, count, dtype));
  std::string text = fmt::format(R"(
    tile.kernel @k(in %x: !tile.buffer<[3, {0}, {1}], {2}>, out %y: !tile.buffer<[3, {1}, {0}], {2}>)
        grid [3] {{
      %m = tile.program_id 0
      %c0 = arith.constant 0 : index
      %v = tile.load %x[%m, %c0, %c0] : !tile.buffer<[3, {0}, {1}], {2}> -> tensor<1x{0}x{1}x{2}>
      %t = tile.transpose %v [0, 2, 1] : tensor<1x{0}x{1}x{2}> -> tensor<1x{1}x{0}x{2}>
      tile.store %t, %y[%m, %c0, %c0] : tensor<1x{1}x{0}x{2}>, !tile.buffer<[3, {1}, {0}], {2}>
    }})",
                                 count, length, dtype);
  std::vector<T> x(size_t(3 * count * length)), y(x.size());
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = T(i);
  KernelJit(text).run({x.data(), y.data()});
  for (int64_t m = 0; m < 3; ++m)
    for (int64_t i = 0; i < length; ++i)
      for (int64_t k = 0; k < count; ++k)
        ASSERT_EQ(y[size_t((m * length + i) * count + k)], x[size_t((m * count + k) * length + i)])
            << m << ", " << i << ", " << k;
}

TEST(Strided, InterleavesShortColumns) {
  for (int64_t count : {2, 3, 4, 5})
    for (int64_t length : {3, 16, 37, 64}) {
      expectInterleaved<float>(count, length, "f32");
      expectInterleaved<int64_t>(count, length, "i64");
    }
}

/// Windows of pooling over a padded row: vectors are loaded and shuffled, at the edges too.
TEST(Strided, NeedsNoGather) {
  for (const char *cpu : {"x86-64-v3", "x86-64-v4"})
    for (int64_t step : {2, 3}) {
      std::string code = assemblyOf(kernelOf({112, -1, step, 112 / step}, "f32", "0.0", 8), cpu);
      EXPECT_EQ(code.find("gather"), std::string::npos) << cpu << "\n" << code;
    }
}

} // namespace
} // namespace tw::target
