// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "unittests/Target/KernelJit.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace tw::target;

namespace {

const char *softmax = R"(
  #id = affine_map<(i, j) -> (i, j)>
  #row = affine_map<(i, j) -> (i)>
  func.func private @k(%x: tensor<?x?xf32>, %n: index, %out: tensor<?x?xf32>) -> tensor<?x?xf32>
      attributes {tw.kernel} {
    %low = arith.constant 0xFF800000 : f32
    %zero = arith.constant 0.0 : f32
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %d0 = tensor.dim %x, %c0 : tensor<?x?xf32>
    %d1 = tensor.dim %x, %c1 : tensor<?x?xf32>
    %e0 = tensor.empty(%d0) : tensor<?xf32>
    %f0 = linalg.fill ins(%low : f32) outs(%e0 : tensor<?xf32>) -> tensor<?xf32>
    %max = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
        ins(%x : tensor<?x?xf32>) outs(%f0 : tensor<?xf32>) {
      ^bb0(%a: f32, %b: f32):
        %m = arith.maximumf %a, %b : f32
        linalg.yield %m : f32 } -> tensor<?xf32>
    %e1 = tensor.empty(%d0, %d1) : tensor<?x?xf32>
    %exp = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
        ins(%x, %max : tensor<?x?xf32>, tensor<?xf32>) outs(%e1 : tensor<?x?xf32>) {
      ^bb0(%a: f32, %b: f32, %c: f32):
        %s = arith.subf %a, %b : f32
        %p = math.exp %s : f32
        linalg.yield %p : f32 } -> tensor<?x?xf32>
    %e2 = tensor.empty(%d0) : tensor<?xf32>
    %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<?xf32>) -> tensor<?xf32>
    %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
        ins(%exp : tensor<?x?xf32>) outs(%f2 : tensor<?xf32>) {
      ^bb0(%a: f32, %b: f32):
        %m = arith.addf %a, %b : f32
        linalg.yield %m : f32 } -> tensor<?xf32>
    %y = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
        ins(%exp, %sum : tensor<?x?xf32>, tensor<?xf32>) outs(%out : tensor<?x?xf32>) {
      ^bb0(%a: f32, %b: f32, %c: f32):
        %q = arith.divf %a, %b : f32
        linalg.yield %q : f32 } -> tensor<?x?xf32>
    return %y : tensor<?x?xf32>
  })";

TEST(Generic, SoftmaxByRows) {
  KernelJit kernel(softmax);
  EXPECT_EQ(kernel.info().imports, std::vector<std::string>{"expf"});
  for (int64_t rows : {0, 1, 7, 300})
    for (int64_t columns : {1, 5, 128, 1031}) {
      auto x = numbers<float>(rows * columns);
      std::vector<float> y(x.size(), -7);
      kernel.run({x.data(), y.data()}, {rows, columns, rows, columns, 0});
      for (int64_t i = 0; i < rows; ++i) {
        double sum = 0;
        for (int64_t j = 0; j < columns; ++j)
          sum += std::exp(double(x[i * columns + j]));
        for (int64_t j = 0; j < columns; ++j)
          ASSERT_NEAR(y[i * columns + j], std::exp(double(x[i * columns + j])) / sum, 1e-6);
      }
    }
}

/// A sum along `dim` of a 3-d tensor: inner sums, row sums and both.
std::string sumAlong(int dim) {
  std::string kept[3] = {"(a, b, c) -> (b, c)", "(a, b, c) -> (a, c)", "(a, b, c) -> (a, b)"};
  std::string kinds[3];
  for (int d = 0; d < 3; ++d)
    kinds[d] = d == dim ? "\"reduction\"" : "\"parallel\"";
  return "func.func private @k(%x: tensor<?x?x?xf32>, %out: tensor<?x?xf32>) -> tensor<?x?xf32>"
         " attributes {tw.kernel} {"
         "%zero = arith.constant 0.0 : f32\n"
         "%f = linalg.fill ins(%zero : f32) outs(%out : tensor<?x?xf32>) -> tensor<?x?xf32>\n"
         "%y = linalg.generic {indexing_maps = [affine_map<(a, b, c) -> (a, b, c)>, affine_map<" +
         kept[dim] + ">], iterator_types = [" + kinds[0] + "," + kinds[1] + "," + kinds[2] +
         "]} ins(%x : tensor<?x?x?xf32>) outs(%f : tensor<?x?xf32>) {\n"
         "^bb0(%a: f32, %b: f32):\n %s = arith.addf %a, %b : f32\n linalg.yield %s : f32 }"
         " -> tensor<?x?xf32>\n return %y : tensor<?x?xf32> }";
}

TEST(Generic, SumsAlongEveryDimension) {
  for (int dim = 0; dim < 3; ++dim) {
    KernelJit kernel(sumAlong(dim));
    int64_t shapes[][3] = {{3, 700, 67}, {600, 2, 64}, {5, 3, 1000}, {0, 4, 4}, {1, 1, 1}};
    for (auto &s : shapes) {
      auto x = numbers<float>(s[0] * s[1] * s[2]);
      int64_t rows = dim == 0 ? s[1] : s[0], columns = dim == 2 ? s[1] : s[2];
      std::vector<double> wanted(rows * columns);
      for (int64_t a = 0, i = 0; a < s[0]; ++a)
        for (int64_t b = 0; b < s[1]; ++b)
          for (int64_t c = 0; c < s[2]; ++c, ++i)
            wanted[(dim == 0 ? b : a) * columns + (dim == 2 ? b : c)] += x[i];
      std::vector<float> y(rows * columns, 9);
      kernel.run({x.data(), y.data()}, {s[0], s[1], s[2], rows, columns});
      for (size_t i = 0; i < y.size(); ++i)
        ASSERT_NEAR(y[i], wanted[i], 5e-5) << "dim " << dim << " element " << i;
    }
  }
}

TEST(Generic, LongSumsStayPrecise) {
  KernelJit kernel(sumAlong(2));
  int64_t n = 1 << 22;
  std::vector<float> x(n, 0.1f), y(1);
  kernel.run({x.data(), y.data()}, {1, 1, n, 1, 1});
  EXPECT_NEAR(y[0] / (double(0.1f) * n), 1.0, 5e-7);
}

TEST(Generic, Transposes) {
  KernelJit kernel(R"(
    func.func private @k(%x: tensor<3x5xi8>, %out: tensor<5x3xi8>) -> tensor<5x3xi8>
        attributes {tw.kernel} {
      %y = linalg.transpose ins(%x : tensor<3x5xi8>) outs(%out : tensor<5x3xi8>) permutation = [1, 0]
      return %y : tensor<5x3xi8>
    })");
  std::vector<int8_t> x(15), y(15);
  for (int i = 0; i < 15; ++i)
    x[i] = i;
  kernel.run({x.data(), y.data()});
  for (int i = 0; i < 5; ++i)
    for (int j = 0; j < 3; ++j)
      EXPECT_EQ(y[i * 3 + j], j * 5 + i);
}

} // namespace
