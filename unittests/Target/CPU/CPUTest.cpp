// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tile programs through the cpu target, against plain loops in double.
#include "unittests/Target/KernelJit.h"
#include <cmath>
#include <fmt/format.h>
#include <gtest/gtest.h>

using namespace tw::target;

namespace {

const char *softmax = R"(
  tile.kernel @k(in %x: !tile.buffer<[M, N], f32>, out %y: !tile.buffer<[M, N], f32>)
      symbols [M, N] grid [M] {
    %m = tile.program_id 0
    %c0 = arith.constant 0 : index
    %row = tile.load %x[%m, %c0] : !tile.buffer<[M, N], f32> -> tensor<1x?xf32, #tile.dims<[N]>>
    %max = tile.reduce max %row axis 1 : tensor<1x?xf32, #tile.dims<[N]>> -> tensor<1xf32>
    %column = tile.reshape %max : tensor<1xf32> -> tensor<1x1xf32>
    %all = tile.broadcast %column : tensor<1x1xf32> -> tensor<1x?xf32, #tile.dims<[N]>>
    %below = arith.subf %row, %all : tensor<1x?xf32, #tile.dims<[N]>>
    %e = math.exp %below : tensor<1x?xf32, #tile.dims<[N]>>
    %sum = tile.reduce sum %e axis 1 : tensor<1x?xf32, #tile.dims<[N]>> -> tensor<1xf32>
    %divisor = tile.reshape %sum : tensor<1xf32> -> tensor<1x1xf32>
    %divisors = tile.broadcast %divisor : tensor<1x1xf32> -> tensor<1x?xf32, #tile.dims<[N]>>
    %p = arith.divf %e, %divisors : tensor<1x?xf32, #tile.dims<[N]>>
    tile.store %p, %y[%m, %c0] : tensor<1x?xf32, #tile.dims<[N]>>, !tile.buffer<[M, N], f32>
  })";

TEST(CPU, Softmax) {
  KernelJit kernel(softmax);
  for (int64_t n : {1, 2, 7, 16, 17, 63, 64, 65, 128, 1000}) {
    int64_t m = 3;
    auto x = numbers<float>(m * n);
    std::vector<float> y(m * n, -1);
    kernel.run({x.data(), y.data()}, {m, n, m, n});
    for (int64_t i = 0; i < m; ++i) {
      double most = -INFINITY, sum = 0;
      for (int64_t j = 0; j < n; ++j)
        most = std::max<double>(most, x[i * n + j]);
      for (int64_t j = 0; j < n; ++j)
        sum += std::exp(x[i * n + j] - most);
      for (int64_t j = 0; j < n; ++j)
        ASSERT_NEAR(y[i * n + j], std::exp(x[i * n + j] - most) / sum, 1e-6) << n << " " << j;
    }
  }
}

/// C = A B with programs of `rows` x `columns`, all sizes ragged.
std::string gemm(int64_t rows, int64_t columns, int64_t depth) {
  std::string r = std::to_string(rows), c = std::to_string(columns), d = std::to_string(depth);
  std::string tileC = "tensor<" + r + "x" + c + "xf32>", tileA = "tensor<" + r + "x" + d + "xf32>",
              tileB = "tensor<" + d + "x" + c + "xf32>";
  return R"(
  tile.kernel @k(in %a: !tile.buffer<[M, K], f32>, in %b: !tile.buffer<[K, N], f32>,
                 out %c: !tile.buffer<[M, N], f32>)
      symbols [M, N, K] grid [M ceildiv )" +
         r + ", N ceildiv " + c + R"(]
      attributes {tile.block = array<i64: 4, 2>} {
    %m = tile.program_id 0
    %n = tile.program_id 1
    %c0 = arith.constant 0 : index
    %br = arith.constant )" +
         r + R"( : index
    %bc = arith.constant )" +
         c + R"( : index
    %bd = arith.constant )" +
         d + R"( : index
    %row = arith.muli %m, %br : index
    %column = arith.muli %n, %bc : index
    %k = tile.size K
    %zero = arith.constant 0.0 : f32
    %init = tile.full %zero : f32 -> )" +
         tileC + R"(
    %acc = tile.for %i = %c0 to %k step %bd carry (%x = %init : )" +
         tileC + R"() {
      %at = tile.load %a[%row, %i] : !tile.buffer<[M, K], f32> -> )" +
         tileA + R"(
      %bt = tile.load %b[%i, %column] : !tile.buffer<[K, N], f32> -> )" +
         tileB + R"(
      %y = tile.dot %at, %bt, %x : )" +
         tileA + ", " + tileB + ", " + tileC + R"(
      tile.yield %y : )" +
         tileC + R"(
    }
    tile.store %acc, %c[%row, %column] : )" +
         tileC + R"(, !tile.buffer<[M, N], f32>
  })";
}

void checkGemm(int64_t rows, int64_t columns, int64_t depth) {
  KernelJit kernel(gemm(rows, columns, depth));
  for (auto [m, n, k] : {std::array<int64_t, 3>{1, 1, 1},
                         {6, 16, 64},
                         {7, 17, 65},
                         {30, 50, 130},
                         {64, 64, 64},
                         {13, 100, 3}}) {
    auto a = numbers<float>(m * k, 1), b = numbers<float>(k * n, 2);
    std::vector<float> c(m * n, -1);
    kernel.run({a.data(), b.data(), c.data()}, {m, k, k, n, m, n});
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) {
        double sum = 0;
        for (int64_t l = 0; l < k; ++l)
          sum += double(a[i * k + l]) * b[l * n + j];
        ASSERT_NEAR(c[i * n + j], sum, 1e-4) << m << " " << n << " " << k << ": " << i << " " << j;
      }
  }
}

TEST(CPU, ProductInRegisters) { checkGemm(6, 16, 64); }
TEST(CPU, ProductInMemory) { checkGemm(32, 50, 24); }

TEST(CPU, ScansScattersAndChecks) {
  KernelJit kernel(R"(
    tile.kernel @k(in %x: !tile.buffer<[M, 5], f32>, in %at: !tile.buffer<[M], i64>,
                   inout %y: !tile.buffer<[L, 5], f32>, inout %sum: !tile.buffer<[1], f32>)
        symbols [M, L] grid [M] {
      %m = tile.program_id 0
      %c0 = arith.constant 0 : index
      %l = tile.size L
      %row = tile.load %x[%m, %c0] : !tile.buffer<[M, 5], f32> -> tensor<1x5xf32>
      %sums = tile.scan sum %row axis 1 reverse : tensor<1x5xf32>
      %id = tile.load %at[%m] : !tile.buffer<[M], i64> -> tensor<1xi64>
      %safe = tile.check %id in %l, "row %lld of %lld" : tensor<1xi64>
      %column = tile.reshape %safe : tensor<1xi64> -> tensor<1x1xi64>
      %rows = tile.broadcast %column : tensor<1x1xi64> -> tensor<1x5xi64>
      %columns = tile.iota 1 from %c0 : tensor<1x5xi64>
      tile.scatter %sums, %y[%rows : tensor<1x5xi64>, %columns : tensor<1x5xi64>] atomic add
        : tensor<1x5xf32>, !tile.buffer<[L, 5], f32>
      %flat = tile.reshape %row : tensor<1x5xf32> -> tensor<5xf32>
      %one = tile.reduce sum %flat axis 0 : tensor<5xf32> -> tensor<f32>
      %ones = tile.reshape %one : tensor<f32> -> tensor<1xf32>
      tile.store %ones, %sum[%c0] atomic add : tensor<1xf32>, !tile.buffer<[1], f32>
    })");
  std::vector<float> x = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 1, 1, 1, 1, 1}, y(10), sum(1);
  std::vector<int64_t> at = {1, 0, 1};
  auto failure = kernel.run({x.data(), at.data(), y.data(), sum.data()}, {3, 3, 2});
  EXPECT_EQ(failure[0], 0);
  EXPECT_EQ(y, (std::vector<float>{40, 34, 27, 19, 10, 20, 18, 15, 11, 6}));
  EXPECT_EQ(sum[0], 60);
  at[1] = 7;
  failure = kernel.run({x.data(), at.data(), y.data(), sum.data()}, {3, 3, 2});
  EXPECT_EQ(failure, (std::vector<int64_t>{1, 7, 2}));
  EXPECT_EQ(kernel.info().failures, std::vector<std::string>{"row %lld of %lld"});
}

TEST(CPU, FillsOutputsBeforeTheFirstProgram) {
  KernelJit kernel(R"(
    tile.kernel @k(in %at: !tile.buffer<[M], i64>, out %y: !tile.buffer<[M, 3], f32> init 2.5 : f32,
                   out %z: !tile.buffer<[5], i8> init -1 : i8) symbols [M] grid [M] {
      %m = tile.program_id 0
      %one = arith.constant 1.0 : f32
      %ones = tile.full %one : f32 -> tensor<1x1xf32>
      %column = tile.load %at[%m] : !tile.buffer<[M], i64> -> tensor<1xi64>
      %j64 = tile.extract %column : tensor<1xi64> -> i64
      %j = arith.index_cast %j64 : i64 to index
      tile.store %ones, %y[%m, %j] drop : tensor<1x1xf32>, !tile.buffer<[M, 3], f32>
    })");
  ASSERT_TRUE(kernel.info().fills);
  std::vector<int64_t> at = {0, 2, 7, 1};
  std::vector<float> y(4 * 3, -9);
  std::vector<int8_t> z(5);
  kernel.run({at.data(), y.data(), z.data()}, {4, 4});
  EXPECT_EQ(y, (std::vector<float>{1, 2.5, 2.5, 2.5, 2.5, 1, 2.5, 2.5, 2.5, 2.5, 1, 2.5}));
  EXPECT_EQ(z, std::vector<int8_t>(5, -1));
}

/// Programs that are worth an iteration are one each, in the order of their blocks, so that threads
/// cut blocks; of the last ones, which are as large as all others, those beyond the grid do
/// nothing.
TEST(CPU, ThreadsCutBlocksOfProgramsThatAreWorthIt) {
  auto blocked = [](int64_t depth) {
    std::string k = std::to_string(depth);
    return KernelJit(R"(
      tile.kernel @k(in %a: !tile.buffer<[160, )" +
                     k + R"(], f32>,
                     in %b: !tile.buffer<[)" +
                     k + R"(, 96], f32>,
                     out %y: !tile.buffer<[160, 96], f32>)
          grid [5, 3] attributes {tile.block = array<i64: 2, 2>} {
        %c0 = arith.constant 0 : index
        %c32 = arith.constant 32 : index
        %pm = tile.program_id 0
        %pn = tile.program_id 1
        %m = arith.muli %pm, %c32 : index
        %n = arith.muli %pn, %c32 : index
        %x = tile.load %a[%m, %c0] : !tile.buffer<[160, )" +
                     k + R"(], f32> -> tensor<32x)" + k +
                     R"(xf32>
        %w = tile.load %b[%c0, %n] : !tile.buffer<[)" +
                     k + R"(, 96], f32> -> tensor<)" + k +
                     R"(x32xf32>
        %zero = arith.constant 0.0 : f32
        %none = tile.full %zero : f32 -> tensor<32x32xf32>
        %sum = tile.dot %x, %w, %none : tensor<32x)" +
                     k + R"(xf32>, tensor<)" + k +
                     R"(x32xf32>, tensor<32x32xf32>
        tile.store %sum, %y[%m, %n] : tensor<32x32xf32>, !tile.buffer<[160, 96], f32>
      })");
  };
  KernelJit light = blocked(8), heavy = blocked(256);
  EXPECT_EQ(light.info().iterations, 3 * 2);
  EXPECT_EQ(heavy.info().iterations, 3 * 2 * 4);
  EXPECT_EQ(heavy.info().grain, 2); // 2^19 operations each
  std::vector<float> a = numbers<float>(160 * 256, 1), b = numbers<float>(256 * 96, 2), y(160 * 96);
  heavy.run({a.data(), b.data(), y.data()});
  for (size_t m = 0; m < 160; ++m)
    for (size_t n = 0; n < 96; ++n) {
      double sum = 0;
      for (size_t k = 0; k < 256; ++k)
        sum += double(a[m * 256 + k]) * double(b[k * 96 + n]);
      ASSERT_NEAR(y[m * 96 + n], sum, 1e-4) << m << " " << n;
    }
}

/// One row of a product is few operations, but waits for its weights: what comes from memory counts
/// by its bytes. So it does where only calls tell the number of rows.
TEST(CPU, ThreadsShareWhatComesFromMemory) {
  auto streams = [](const char *symbols, const char *rows, const char *grid) {
    return KernelJit(fmt::format(R"(
      tile.kernel @k(in %a: !tile.buffer<[{1}, 3072], f32>, in %b: !tile.buffer<[16, 3072, 48], f32>,
                     out %y: !tile.buffer<[{1}, 768], f32>)
          {0} grid [{2}, 16] attributes {{tile.block = array<i64: 1, 4>}} {{
        %c0 = arith.constant 0 : index
        %c48 = arith.constant 48 : index
        %m = tile.program_id 0
        %p = tile.program_id 1
        %n = arith.muli %p, %c48 : index
        %x = tile.load %a[%m, %c0] : !tile.buffer<[{1}, 3072], f32> -> tensor<1x3072xf32>
        %q = tile.load %b[%p, %c0, %c0] : !tile.buffer<[16, 3072, 48], f32> -> tensor<1x3072x48xf32>
        %w = tile.reshape %q : tensor<1x3072x48xf32> -> tensor<3072x48xf32>
        %zero = arith.constant 0.0 : f32
        %none = tile.full %zero : f32 -> tensor<1x48xf32>
        %sum = tile.dot %x, %w, %none : tensor<1x3072xf32>, tensor<3072x48xf32>, tensor<1x48xf32>
        tile.store %sum, %y[%m, %n] : tensor<1x48xf32>, !tile.buffer<[{1}, 768], f32>
      }})",
                                 symbols, rows, grid));
  };
  KernelJit one = streams("", "1", "1"), some = streams("symbols [M {max = 1}]", "M", "M");
  EXPECT_EQ(one.info().iterations, 16);
  EXPECT_EQ(one.info().grain, 1);
  EXPECT_EQ(some.info().iterations, std::nullopt);
  EXPECT_EQ(some.info().grain, 1);
}

} // namespace
