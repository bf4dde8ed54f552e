// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "unittests/Target/KernelJit.h"
#include <cstring>
#include <gtest/gtest.h>

using namespace tw::target;

namespace {

/// out[m, n] = sum over k of a * b, with the given types of b.
std::string matmul(const std::string &b, const std::string &bType) {
  return "func.func private @k(%a: tensor<?x?xf32>, %b: tensor<?x?x" + bType +
         ">, %out: tensor<?x?xf32>) -> tensor<?x?xf32> attributes {tw.kernel} "
         "{\n%zero = arith.constant 0.0 : f32\n"
         "%f = linalg.fill ins(%zero : f32) outs(%out : tensor<?x?xf32>) -> tensor<?x?xf32>\n"
         "%y = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, "
         "k) -> " +
         b +
         ">, affine_map<(m, n, k) -> (m, n)>], iterator_types = [\"parallel\", \"parallel\", "
         "\"reduction\"]} ins(%a, %b : tensor<?x?xf32>, tensor<?x?x" +
         bType + ">) outs(%f : tensor<?x?xf32>) {\n^bb0(%x: f32, %w: " + bType + ", %o: f32):\n" +
         (bType == "f32"
              ? "%p = arith.mulf %x, %w : f32\n"
              : "%e = arith.extf %w : " + bType + " to f32\n%p = arith.mulf %x, %e : f32\n") +
         "%s = arith.addf %o, %p : f32\nlinalg.yield %s : f32 } -> tensor<?x?xf32>\n"
         "return %y : tensor<?x?xf32> }";
}

template <typename T, typename Widen>
void checkMatmul(KernelJit &kernel, bool transposed, Widen widen) {
  int64_t shapes[][3] = {{1, 1, 1},     {1, 67, 300}, {3, 32, 5},     {9, 31, 257},
                         {130, 64, 64}, {17, 5, 0},   {64, 129, 1000}};
  for (auto [m, n, k] : shapes) {
    auto a = numbers<float>(m * k);
    std::vector<T> b(n * k);
    auto source = numbers<float>(n * k, 3);
    for (size_t i = 0; i < b.size(); ++i)
      b[i] = widen.narrow(source[i]);
    std::vector<float> y(m * n, 5);
    kernel.run({a.data(), b.data(), y.data()},
               {m, k, transposed ? n : k, transposed ? k : n, m, n});
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) {
        double sum = 0;
        for (int64_t t = 0; t < k; ++t)
          sum += double(a[i * k + t]) * widen(b[transposed ? j * k + t : t * n + j]);
        ASSERT_NEAR(y[i * n + j], sum, 1e-5 + 2e-7 * k) << m << "x" << n << "x" << k;
      }
  }
}

struct Same {
  float operator()(float x) const { return x; }
  float narrow(float x) const { return x; }
};

/// bf16 as its bits.
struct Bf16 {
  float operator()(uint16_t x) const {
    uint32_t bits = uint32_t(x) << 16;
    float y;
    memcpy(&y, &bits, 4);
    return y;
  }
  uint16_t narrow(float x) const {
    uint32_t bits;
    memcpy(&bits, &x, 4);
    return bits >> 16;
  }
};

TEST(Contraction, ColumnsConsecutive) {
  KernelJit kernel(matmul("(k, n)", "f32"));
  checkMatmul<float>(kernel, false, Same());
}

TEST(Contraction, TermsConsecutive) {
  KernelJit kernel(matmul("(n, k)", "f32"));
  checkMatmul<float>(kernel, true, Same());
}

TEST(Contraction, WidensBf16Weights) {
  KernelJit kernel(matmul("(n, k)", "bf16"));
  checkMatmul<uint16_t>(kernel, true, Bf16());
}

/// One row, static: the forms that read b in place.
TEST(Contraction, MatrixTimesVector) {
  for (bool transposed : {false, true}) {
    std::string b = transposed ? "tensor<131x515xf32>" : "tensor<515x131xf32>";
    KernelJit kernel(
        "func.func private @k(%a: tensor<1x515xf32>, %b: " + b +
        ", %out: tensor<1x131xf32>) -> tensor<1x131xf32> attributes {tw.kernel}"
        "{ %zero = arith.constant 0.0 : f32\n"
        "%f = linalg.fill ins(%zero : f32) outs(%out : tensor<1x131xf32>) -> tensor<1x131xf32>\n"
        "%y = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, "
        "k)"
        " -> " +
        (transposed ? "(n, k)" : "(k, n)") +
        ">, affine_map<(m, n, k) -> (m, n)>], iterator_types = [\"parallel\", \"parallel\", "
        "\"reduction\"]} ins(%a, %b : tensor<1x515xf32>, " +
        b +
        ") outs(%f : tensor<1x131xf32>) {\n^bb0(%x: f32, %w: f32, %o: f32):\n"
        "%p = arith.mulf %x, %w : f32\n%s = arith.addf %o, %p : f32\nlinalg.yield %s : f32 }"
        " -> tensor<1x131xf32>\nreturn %y : tensor<1x131xf32> }");
    auto a = numbers<float>(515), w = numbers<float>(515 * 131, 2);
    std::vector<float> y(131, 3);
    kernel.run({a.data(), w.data(), y.data()});
    for (int j = 0; j < 131; ++j) {
      double sum = 0;
      for (int t = 0; t < 515; ++t)
        sum += double(a[t]) * w[transposed ? j * 515 + t : t * 131 + j];
      ASSERT_NEAR(y[j], sum, 1e-5);
    }
  }
}

} // namespace
