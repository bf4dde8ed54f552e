// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tile.sort through the cpu target, against std::stable_sort: lengths around those where another
// way of sorting begins, equal elements, NaN of both signs, -0, and the first ones alone.
#include "unittests/Target/KernelJit.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <numeric>

using namespace tw::target;

namespace {

std::string textOf(std::string text,
                   const std::vector<std::pair<std::string, std::string>> &words) {
  for (const auto &[word, by] : words)
    for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + by.size()))
      text.replace(at, word.size(), by);
  return text;
}

/// Rows of N, of which the first K are wanted; of which all are.
std::string sortRows(const std::string &element, const std::string &flags, bool wantsAll = false) {
  std::string text =
      textOf(R"(
    tile.kernel @k(in %x: !tile.buffer<[M, N], T>, out %v: !tile.buffer<[M, K], T>,
                   out %p: !tile.buffer<[M, K], i64>) symbols [M, N, K] grid [M]
        attributes {tile.destinations} {
      %m = tile.program_id 0
      %c0 = arith.constant 0 : index
      %row = tile.load %x[%m, %c0] : !tile.buffer<[M, N], T> -> tensor<1x?xT, #tile.dims<[N]>>
      %values, %positions = tile.sort %row axis 1 FLAGS : tensor<1x?xT, #tile.dims<[N]>>
        -> tensor<1x?xT, #tile.dims<[K]>>, tensor<1x?xi64, #tile.dims<[K]>>
      tile.store %values, %v[%m, %c0]
        : tensor<1x?xT, #tile.dims<[K]>>, !tile.buffer<[M, K], T>
      tile.store %positions, %p[%m, %c0]
        : tensor<1x?xi64, #tile.dims<[K]>>, !tile.buffer<[M, K], i64>
    })",
             {{"xT", "x" + element}, {", T>", ", " + element + ">"}, {"FLAGS", flags}});
  return wantsAll
             ? textOf(text, {{"[M, N, K]", "[M, N]"}, {"[M, K]", "[M, N]"}, {"<[K]>", "<[N]>"}})
             : text;
}

template <typename T>
bool isLess(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return std::isnan(b) ? !std::isnan(a) : a < b;
  return a < b;
}

template <typename T>
std::vector<int64_t> orderOf(const T *row, int64_t n, bool isDescending) {
  std::vector<int64_t> order(size_t(n), 0);
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int64_t x, int64_t y) {
    T a = row[isDescending ? y : x], b = row[isDescending ? x : y];
    return isLess(a, b) || (!isLess(b, a) && x < y);
  });
  return order;
}

/// Two rows of n elements, the first k of each.
template <typename T>
void check(KernelJit &kernel, const std::vector<T> &x, int64_t n, int64_t k, bool isDescending) {
  std::vector<T> v(size_t(2 * k));
  std::vector<int64_t> p(size_t(2 * k), -1);
  std::vector<T> input = x;
  kernel.run({input.data(), v.data(), p.data()}, {2, n, 2, k, 2, k});
  for (int64_t row = 0; row < 2; ++row) {
    std::vector<int64_t> order = orderOf(&x[size_t(row * n)], n, isDescending);
    for (int64_t i = 0; i < k; ++i) {
      ASSERT_EQ(p[size_t(row * k + i)], order[size_t(i)]) << n << " " << k << " at " << i;
      ASSERT_EQ(memcmp(&v[size_t(row * k + i)], &x[size_t(row * n + order[size_t(i)])], sizeof(T)),
                0);
    }
  }
}

template <typename T>
std::vector<T> elements(int64_t n, bool hasEqual) {
  std::vector<T> x = numbers<T>(size_t(2 * n), unsigned(n));
  if constexpr (std::is_integral_v<T>) {
    std::vector<double> reals = numbers<double>(size_t(2 * n), unsigned(n));
    for (size_t i = 0; i < x.size(); ++i)
      x[i] = T(int64_t(reals[i] * (hasEqual ? 5 : 1e18)));
  } else if (hasEqual) {
    for (size_t i = 0; i < x.size(); ++i)
      x[i] = i % 13 == 4   ? T(i % 2 ? -NAN : NAN)
             : i % 17 == 6 ? T(i % 2 ? -INFINITY : INFINITY)
                           : std::round(x[i] * 4) * (i % 5 == 0 ? T(-0.0) : T(1));
  }
  return x;
}

template <typename T>
void checkAll(const std::string &element, const std::string &unsignedFlag = "") {
  for (bool isDescending : {false, true}) {
    std::string flags = (isDescending ? "descending" : "") + unsignedFlag;
    KernelJit kernel(sortRows(element, flags)), whole(sortRows(element, flags, true));
    for (int64_t n : {0, 1, 2, 7, 8, 9, 63, 64, 65, 128, 129, 1000, 2050})
      for (bool hasEqual : {false, true}) {
        std::vector<T> x = elements<T>(n, hasEqual);
        check<T>(whole, x, n, n, isDescending);
        for (int64_t k : {int64_t(0), int64_t(1), int64_t(5), n / 9, n / 2, n})
          if (k <= n)
            check<T>(kernel, x, n, k, isDescending);
      }
  }
}

TEST(Sort, F32) { checkAll<float>("f32"); }
TEST(Sort, F64) { checkAll<double>("f64"); }
TEST(Sort, I64) { checkAll<int64_t>("i64"); }
TEST(Sort, I32) { checkAll<int32_t>("i32"); }
TEST(Sort, I8) { checkAll<int8_t>("i8"); }
TEST(Sort, UnsignedI16) { checkAll<uint16_t>("i16", " unsigned"); }

/// What is worst for the first ones: each element comes before all that were.
TEST(Sort, FirstOfThoseThatFall) {
  KernelJit kernel(sortRows("f32", ""));
  std::vector<float> x(2 * 3000);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = -float(i);
  for (int64_t k : {1, 64, 100, 3000})
    check<float>(kernel, x, 3000, k, false);
}

TEST(Sort, OtherCpus) {
  for (const char *cpu : {"x86-64", "x86-64-v3"}) {
    std::string assembly = assemblyOf(sortRows("f32", "descending"), cpu);
    EXPECT_NE(assembly.find("ret"), std::string::npos);
  }
  KernelJit kernel(sortRows("f32", ""), "x86-64-v3");
  for (int64_t n : {5, 100, 300})
    for (int64_t k : {int64_t(3), n})
      check<float>(kernel, elements<float>(n, true), n, k, false);
}

/// Along the first axis of a block, of computed elements, with static extents.
TEST(Sort, ColumnsOfComputedElements) {
  KernelJit kernel(R"(
    tile.kernel @k(in %x: !tile.buffer<[300, 6], f32>, out %v: !tile.buffer<[300, 6], f32>,
                   out %p: !tile.buffer<[4, 6], i64>) grid [1] {
      %c0 = arith.constant 0 : index
      %all = tile.load %x[%c0, %c0] : !tile.buffer<[300, 6], f32> -> tensor<300x6xf32>
      %e = math.exp %all : tensor<300x6xf32>
      %values, %0 = tile.sort %e axis 0 : tensor<300x6xf32> -> tensor<300x6xf32>, tensor<300x6xi64>
      %1, %first = tile.sort %e axis 0 descending
        : tensor<300x6xf32> -> tensor<4x6xf32>, tensor<4x6xi64>
      tile.store %values, %v[%c0, %c0] : tensor<300x6xf32>, !tile.buffer<[300, 6], f32>
      tile.store %first, %p[%c0, %c0] : tensor<4x6xi64>, !tile.buffer<[4, 6], i64>
    })");
  std::vector<float> x = numbers<float>(1800), v(1800);
  std::vector<int64_t> p(24);
  kernel.run({x.data(), v.data(), p.data()});
  for (size_t column = 0; column < 6; ++column) {
    std::vector<float> own(300);
    for (size_t i = 0; i < 300; ++i)
      own[i] = x[i * 6 + column];
    std::vector<int64_t> up = orderOf(own.data(), 300, false),
                         down = orderOf(own.data(), 300, true);
    for (size_t i = 0; i < 300; ++i)
      ASSERT_NEAR(v[i * 6 + column], std::exp(own[size_t(up[i])]), 1e-6);
    for (size_t i = 0; i < 4; ++i)
      ASSERT_EQ(p[i * 6 + column], down[i]);
  }
}

} // namespace
