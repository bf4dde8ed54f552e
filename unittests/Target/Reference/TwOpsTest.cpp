// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tw.scan, tw.sort, tw.scatter and tw.check_index.
#include "unittests/Target/KernelJit.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

using namespace tw::target;

namespace {

TEST(Scan, RunsAlongADimensionBothWays) {
  for (bool reverse : {false, true}) {
    KernelJit kernel(std::string(R"(
      func.func private @k(%x: tensor<?x?x3xi64>, %out: tensor<?x?x3xi64>) -> tensor<?x?x3xi64>
          attributes {tw.kernel} {
        %one = arith.constant 1 : i64
        %y = tw.scan dim 1 )") +
                     (reverse ? "reverse" : "") + R"( ins(%x : tensor<?x?x3xi64>)
            initial(%one : i64) outs(%out : tensor<?x?x3xi64>) {
          ^bb0(%s: i64, %v: i64):
            %i = tw.index 1
            %p = arith.index_cast %i : index to i64
            %t = arith.muli %v, %p : i64
            %n = arith.addi %s, %t : i64
            tw.yield %n : i64 } -> tensor<?x?x3xi64>
        return %y : tensor<?x?x3xi64>
      })");
    for (int64_t n : {0, 1, 13}) {
      std::vector<int64_t> x(4 * n * 3), y(x.size());
      for (size_t i = 0; i < x.size(); ++i)
        x[i] = i * 7 % 11;
      kernel.run({x.data(), y.data()}, {4, n, 4, n});
      for (int64_t a = 0; a < 4; ++a)
        for (int64_t c = 0; c < 3; ++c) {
          int64_t state = 1;
          for (int64_t i = 0; i < n; ++i) {
            int64_t at = reverse ? n - 1 - i : i, e = (a * n + at) * 3 + c;
            ASSERT_EQ(y[e], state += x[e] * at);
          }
        }
    }
  }
}

TEST(Sort, IsStableAndPutsNanLast) {
  for (bool descending : {false, true}) {
    KernelJit kernel(std::string(R"(
      func.func private @k(%x: tensor<2x?xf32>, %v: tensor<2x?xf32>, %p: tensor<2x?xi64>)
          -> (tensor<2x?xf32>, tensor<2x?xi64>) attributes {tw.kernel} {
        %a, %b = tw.sort dim 1 ins(%x : tensor<2x?xf32>)
          outs(%v, %p : tensor<2x?xf32>, tensor<2x?xi64>))") +
                     (descending ? " {descending}" : "") + R"( -> tensor<2x?xf32>, tensor<2x?xi64>
        return %a, %b : tensor<2x?xf32>, tensor<2x?xi64>
      })");
    for (int64_t n : {0, 1, 2, 5, 100}) {
      auto x = numbers<float>(2 * n);
      for (size_t i = 0; i < x.size(); ++i)
        x[i] = i % 17 == 4 ? NAN : std::round(x[i] * 8);
      std::vector<float> v(2 * n);
      std::vector<int64_t> p(2 * n);
      kernel.run({x.data(), v.data(), p.data()}, {n, n, n});
      for (int64_t row = 0; row < 2; ++row) {
        std::vector<int64_t> wanted(n);
        for (int64_t i = 0; i < n; ++i)
          wanted[i] = i;
        auto less = [&](int64_t i, int64_t j) {
          float a = x[row * n + i], b = x[row * n + j];
          return a < b || (!std::isnan(a) && std::isnan(b));
        };
        std::sort(wanted.begin(), wanted.end(), [&](int64_t i, int64_t j) {
          bool before = descending ? less(j, i) : less(i, j);
          bool after = descending ? less(i, j) : less(j, i);
          return before || (!after && i < j);
        });
        for (int64_t i = 0; i < n; ++i) {
          ASSERT_EQ(p[row * n + i], wanted[i]);
          ASSERT_EQ(memcmp(&v[row * n + i], &x[row * n + wanted[i]], 4), 0);
        }
      }
    }
  }
}

TEST(Sort, GivesTheFirstOfLongerLines) {
  KernelJit kernel(R"(
    func.func private @k(%x: tensor<2x?xf32>, %v: tensor<2x?xf32>, %p: tensor<2x?xi64>)
        -> (tensor<2x?xf32>, tensor<2x?xi64>) attributes {tw.kernel} {
      %a, %b = tw.sort dim 1 ins(%x : tensor<2x?xf32>)
        outs(%v, %p : tensor<2x?xf32>, tensor<2x?xi64>) {descending}
        -> tensor<2x?xf32>, tensor<2x?xi64>
      return %a, %b : tensor<2x?xf32>, tensor<2x?xi64>
    })");
  for (int64_t n : {0, 1, 7, 100})
    for (int64_t k : {int64_t(0), int64_t(1), n / 3, n}) {
      if (k > n)
        continue;
      auto x = numbers<float>(2 * n);
      for (float &e : x)
        e = std::round(e * 8);
      std::vector<float> v(2 * k);
      std::vector<int64_t> p(2 * k);
      kernel.run({x.data(), v.data(), p.data()}, {n, k, k});
      for (int64_t row = 0; row < 2; ++row) {
        std::vector<int64_t> wanted(n);
        for (int64_t i = 0; i < n; ++i)
          wanted[i] = i;
        std::stable_sort(wanted.begin(), wanted.end(),
                         [&](int64_t i, int64_t j) { return x[row * n + i] > x[row * n + j]; });
        for (int64_t i = 0; i < k; ++i) {
          ASSERT_EQ(p[row * k + i], wanted[i]);
          ASSERT_EQ(v[row * k + i], x[row * n + wanted[i]]);
        }
      }
    }
}

const char *addRows = R"(
  func.func private @k(%dest: tensor<5x2xf32>, %i: tensor<?xi64>, %u: tensor<?x2xf32>,
      %out: tensor<5x2xf32>) -> tensor<5x2xf32> attributes {tw.kernel} {
    %e = linalg.copy ins(%dest : tensor<5x2xf32>) outs(%out : tensor<5x2xf32>) -> tensor<5x2xf32>
    %y = tw.scatter add ins(%i, %u : tensor<?xi64>, tensor<?x2xf32>) outs(%e : tensor<5x2xf32>)
        attributes {indexing_maps = [affine_map<(a, b) -> (a)>, affine_map<(a, b) -> (a, b)>]} {
      ^bb0(%at: i64, %v: f32):
        %c5 = arith.constant 5 : index
        %n = arith.index_cast %at : i64 to index
        %s = tw.check_index %n in %c5, "index %lld is not below %lld"
        %b = tw.index 1
        tw.yield %s, %b, %v : index, index, f32 } -> tensor<5x2xf32>
    return %y : tensor<5x2xf32>
  })";

TEST(Scatter, AddsAndChecksIndices) {
  KernelJit kernel(addRows);
  ASSERT_EQ(kernel.info().failures, std::vector<std::string>{"index %lld is not below %lld"});
  std::vector<float> dest(10, 1), u{1, 2, 3, 4, 5, 6}, y(10);
  std::vector<int64_t> at{4, 0, 4};
  auto good = kernel.run({dest.data(), at.data(), u.data(), y.data()}, {3, 3});
  EXPECT_EQ(good, (std::vector<int64_t>{0, 0, 0}));
  EXPECT_EQ(y, (std::vector<float>{4, 5, 1, 1, 1, 1, 1, 1, 7, 9}));
  at[1] = -3;
  auto bad = kernel.run({dest.data(), at.data(), u.data(), y.data()}, {3, 3});
  EXPECT_EQ(bad, (std::vector<int64_t>{1, -3, 5}));
}

TEST(Gather, ReadsOtherTensorsInTheBody) {
  KernelJit kernel(R"(
    func.func private @k(%table: tensor<?x4xf16>, %i: tensor<?xi32>, %out: tensor<?x4xf16>)
        -> tensor<?x4xf16> attributes {tw.kernel} {
      %c0 = arith.constant 0 : index
      %n = tensor.dim %table, %c0 : tensor<?x4xf16>
      %y = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a)>, affine_map<(a, b) -> (a, b)>],
          iterator_types = ["parallel", "parallel"]} ins(%i : tensor<?xi32>) outs(%out : tensor<?x4xf16>) {
        ^bb0(%at: i32, %o: f16):
          %w = arith.index_cast %at : i32 to index
          %s = tw.check_index %w in %n, "no row"
          %b = linalg.index 1 : index
          %v = tensor.extract %table[%s, %b] : tensor<?x4xf16>
          linalg.yield %v : f16 } -> tensor<?x4xf16>
      return %y : tensor<?x4xf16>
    })");
  std::vector<uint16_t> table{1, 2, 3, 4, 5, 6, 7, 8}, y(12);
  std::vector<int32_t> at{1, 0, 1};
  auto failure = kernel.run({table.data(), at.data(), y.data()}, {2, 3, 3});
  EXPECT_EQ(failure[0], 0);
  EXPECT_EQ(y, (std::vector<uint16_t>{5, 6, 7, 8, 1, 2, 3, 4, 5, 6, 7, 8}));
}

/// Two queries and three keys of depth 2; the mask hides the first key, and all of them from
/// query 1.
TEST(Attention, MasksAndGivesLogsOfSums) {
  KernelJit kernel(R"(
    #q = affine_map<(b, l, s, e, f) -> (b, l, e)>
    #k = affine_map<(b, l, s, e, f) -> (b, s, e)>
    #v = affine_map<(b, l, s, e, f) -> (b, s, f)>
    #m = affine_map<(b, l, s, e, f) -> (l, s)>
    #o = affine_map<(b, l, s, e, f) -> (b, l, f)>
    #r = affine_map<(b, l, s, e, f) -> (b, l)>
    func.func private @k(%q: tensor<?x2x2xf32>, %k: tensor<?x3x2xf32>, %v: tensor<?x3x1xf32>,
        %m: tensor<2x3xi1>, %scale: f64, %out: tensor<?x2x1xf32>, %sums: tensor<?x2xf32>)
        -> (tensor<?x2x1xf32>, tensor<?x2xf32>) attributes {tw.kernel} {
      %y:2 = tw.attention ins(%q, %k, %v : tensor<?x2x2xf32>, tensor<?x3x2xf32>, tensor<?x3x1xf32>)
        mask(%m : tensor<2x3xi1>) scale %scale outs(%out, %sums : tensor<?x2x1xf32>, tensor<?x2xf32>)
        {indexing_maps = [#q, #k, #v, #m, #o, #r]} -> tensor<?x2x1xf32>, tensor<?x2xf32>
      return %y#0, %y#1 : tensor<?x2x1xf32>, tensor<?x2xf32>
    })");
  std::vector<float> q{1, 2, 3, 4}, k{9, 9, 0.5, -1, 2, 0.25}, v{100, 3, 7}, y(2), sums(2);
  std::vector<uint8_t> mask{0, 1, 1, 0, 0, 0};
  double scale = 0.5;
  int64_t bits;
  memcpy(&bits, &scale, 8);
  kernel.run({q.data(), k.data(), v.data(), mask.data(), y.data(), sums.data()},
             {1, 1, 1, 1, 1, bits});
  double a = std::exp(0.5 * (0.5 - 2)), b = std::exp(0.5 * (2 + 0.5));
  EXPECT_NEAR(y[0], (3 * a + 7 * b) / (a + b), 1e-6);
  EXPECT_NEAR(sums[0], std::log(a + b), 1e-6);
  EXPECT_EQ(y[1], 0);
}

TEST(Attention, IsCausalForSharedKeys) {
  KernelJit kernel(R"(
    #q = affine_map<(h, l, s, e, f) -> (h, l, e)>
    #k = affine_map<(h, l, s, e, f) -> (0, s, e)>
    #v = affine_map<(h, l, s, e, f) -> (0, s, f)>
    #o = affine_map<(h, l, s, e, f) -> (h, l, f)>
    func.func private @k(%q: tensor<2x3x1xf16>, %k: tensor<1x3x1xf16>, %out: tensor<2x3x1xf16>)
        -> tensor<2x3x1xf16> attributes {tw.kernel} {
      %one = arith.constant 1.0 : f64
      %y = tw.attention causal ins(%q, %k, %k : tensor<2x3x1xf16>, tensor<1x3x1xf16>, tensor<1x3x1xf16>)
        scale %one outs(%out : tensor<2x3x1xf16>) {indexing_maps = [#q, #k, #v, #o]} -> tensor<2x3x1xf16>
      return %y : tensor<2x3x1xf16>
    })");
  // Scores of 0: means of the keys 1, 2, 4 so far.
  std::vector<uint16_t> q(6), k{0x3c00, 0x4000, 0x4400}, y(6);
  kernel.run({q.data(), k.data(), y.data()});
  EXPECT_EQ(y, (std::vector<uint16_t>{0x3c00, 0x3e00, 0x40ab, 0x3c00, 0x3e00, 0x40ab}));
}

/// One query that sees two of three keys. With weights a and b and gradients of weights x and y:
/// delta = a x + b y.
TEST(AttentionGradient, SumsOverHeadsThatShareKeys) {
  KernelJit kernel(R"(
    #q = affine_map<(h, l, s, e, f) -> (h, l, e)>
    #k = affine_map<(h, l, s, e, f) -> (s, e)>
    #v = affine_map<(h, l, s, e, f) -> (s, f)>
    #m = affine_map<(h, l, s, e, f) -> (s)>
    #o = affine_map<(h, l, s, e, f) -> (h, l, f)>
    #r = affine_map<(h, l, s, e, f) -> (h, l)>
    func.func private @k(%q: tensor<?x1x1xf32>, %k: tensor<3x1xf32>, %v: tensor<3x1xf32>,
        %m: tensor<3xi1>, %g: tensor<?x1x1xf32>, %l: tensor<?x1xf32>, %d: tensor<?x1xf32>,
        %dq: tensor<?x1x1xf32>, %dk: tensor<3x1xf32>, %dv: tensor<3x1xf32>)
        -> (tensor<?x1x1xf32>, tensor<3x1xf32>, tensor<3x1xf32>) attributes {tw.kernel} {
      %scale = arith.constant 0.5 : f64
      %y:3 = tw.attention_gradient wrt <query|key|value>
        ins(%q, %k, %v : tensor<?x1x1xf32>, tensor<3x1xf32>, tensor<3x1xf32>)
        mask(%m : tensor<3xi1>)
        output(%g, %l, %d : tensor<?x1x1xf32>, tensor<?x1xf32>, tensor<?x1xf32>) scale %scale
        outs(%dq, %dk, %dv : tensor<?x1x1xf32>, tensor<3x1xf32>, tensor<3x1xf32>)
        {indexing_maps = [#q, #k, #v, #m, #o, #r, #r, #q, #k, #v]}
        -> tensor<?x1x1xf32>, tensor<3x1xf32>, tensor<3x1xf32>
      return %y#0, %y#1, %y#2 : tensor<?x1x1xf32>, tensor<3x1xf32>, tensor<3x1xf32>
    })");
  std::vector<float> q{1, -2}, k{9, 0.5, 2}, v{100, 3, 7}, g{1, 2}, sums(2), deltas(2);
  std::vector<float> dq(2), dk(3), dv(3);
  std::vector<uint8_t> mask{0, 1, 1};
  std::vector<double> wantedQ(2), wantedK(3), wantedV(3);
  for (size_t h = 0; h < 2; ++h) {
    double a = std::exp(0.5 * q[h] * k[1]), b = std::exp(0.5 * q[h] * k[2]), total = a + b;
    a /= total, b /= total;
    double x = g[h] * v[1], y = g[h] * v[2], delta = a * x + b * y;
    sums[h] = float(std::log(total)), deltas[h] = float(delta);
    wantedQ[h] = 0.5 * (a * (x - delta) * k[1] + b * (y - delta) * k[2]);
    wantedK[1] += 0.5 * a * (x - delta) * q[h], wantedK[2] += 0.5 * b * (y - delta) * q[h];
    wantedV[1] += a * g[h], wantedV[2] += b * g[h];
  }
  kernel.run({q.data(), k.data(), v.data(), mask.data(), g.data(), sums.data(), deltas.data(),
              dq.data(), dk.data(), dv.data()},
             {2, 2, 2, 2, 2});
  for (size_t h = 0; h < 2; ++h)
    EXPECT_NEAR(dq[h], wantedQ[h], 1e-5);
  for (size_t s = 0; s < 3; ++s) {
    EXPECT_NEAR(dk[s], wantedK[s], 1e-5);
    EXPECT_NEAR(dv[s], wantedV[s], 1e-5);
  }
}

} // namespace
