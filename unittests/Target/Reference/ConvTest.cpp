// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "unittests/Target/KernelJit.h"
#include <gtest/gtest.h>

using namespace tw::target;

namespace {

struct Case {
  int64_t n, c, h, w, o, kh, kw, stride, padding, dilation, groups;
  bool transposed, dynamic;
};

std::string type(std::vector<int64_t> sizes, bool dynamic) {
  std::string text = "tensor<";
  for (int64_t size : sizes)
    text += (dynamic ? "?" : std::to_string(size)) + "x";
  return text + "f32>";
}

std::string pair(int64_t x) { return ": " + std::to_string(x) + ", " + std::to_string(x) + ">"; }

void check(const Case &c) {
  int64_t reachH = (c.kh - 1) * c.dilation, reachW = (c.kw - 1) * c.dilation;
  int64_t oh = c.transposed ? (c.h - 1) * c.stride - 2 * c.padding + reachH + 1
                            : (c.h + 2 * c.padding - reachH - 1) / c.stride + 1;
  int64_t ow = c.transposed ? (c.w - 1) * c.stride - 2 * c.padding + reachW + 1
                            : (c.w + 2 * c.padding - reachW - 1) / c.stride + 1;
  int64_t w0 = c.transposed ? c.c : c.o, w1 = (c.transposed ? c.o : c.c) / c.groups;
  std::string in = type({c.n, c.c, c.h, c.w}, c.dynamic), out = type({c.n, c.o, oh, ow}, c.dynamic);
  std::string weight = type({w0, w1, c.kh, c.kw}, c.dynamic);
  KernelJit kernel(
      "func.func private @k(%x: " + in + ", %w: " + weight + ", %out: " + out + ") -> " + out +
      " attributes {tw.kernel} {\n%zero = arith.constant 0.0 : f32\n"
      "%f = linalg.fill ins(%zero : f32) outs(%out : " +
      out + ") -> " + out + "\n%y = tw.conv " + (c.transposed ? "transposed " : "") +
      "ins(%x, %w : " + in + ", " + weight + ") outs(%f : " + out + ") {strides = array<i64" +
      pair(c.stride) + ", padding_low = array<i64" + pair(c.padding) + ", dilations = array<i64" +
      pair(c.dilation) + ", groups = " + std::to_string(c.groups) + " : i64} -> " + out +
      "\nreturn %y : " + out + " }");
  auto x = numbers<float>(c.n * c.c * c.h * c.w), w = numbers<float>(w0 * w1 * c.kh * c.kw, 2);
  std::vector<double> wanted(c.n * c.o * oh * ow);
  int64_t cg = c.c / c.groups, og = c.o / c.groups;
  for (int64_t n = 0; n < c.n; ++n)
    for (int64_t o = 0; o < c.o; ++o)
      for (int64_t ci = 0; ci < cg; ++ci)
        for (int64_t a = 0; a < c.kh; ++a)
          for (int64_t b = 0; b < c.kw; ++b) {
            int64_t from = o / og * cg + ci;
            double f = c.transposed ? w[((from * og + o % og) * c.kh + a) * c.kw + b]
                                    : w[((o * cg + ci) * c.kh + a) * c.kw + b];
            // p and q run over the smaller grid, the other positions follow from them.
            for (int64_t p = 0; p < (c.transposed ? c.h : oh); ++p)
              for (int64_t q = 0; q < (c.transposed ? c.w : ow); ++q) {
                int64_t r = p * c.stride + a * c.dilation - c.padding;
                int64_t s = q * c.stride + b * c.dilation - c.padding;
                if (r < 0 || s < 0 || r >= (c.transposed ? oh : c.h) ||
                    s >= (c.transposed ? ow : c.w))
                  continue;
                int64_t i = c.transposed ? p : r, j = c.transposed ? q : s;
                int64_t u = c.transposed ? r : p, v = c.transposed ? s : q;
                wanted[((n * c.o + o) * oh + u) * ow + v] +=
                    f * x[((n * c.c + from) * c.h + i) * c.w + j];
              }
          }
  std::vector<float> y(wanted.size(), 3);
  std::vector<int64_t> sizes;
  if (c.dynamic)
    sizes = {c.n, c.c, c.h, c.w, w0, w1, c.kh, c.kw, c.n, c.o, oh, ow};
  kernel.run({x.data(), w.data(), y.data()}, sizes);
  for (size_t i = 0; i < y.size(); ++i)
    ASSERT_NEAR(y[i], wanted[i], 3e-5) << "element " << i;
}

TEST(Conv, Plain) { check({2, 5, 9, 11, 7, 3, 3, 1, 1, 1, 1, false, false}); }
TEST(Conv, OneByOne) { check({1, 67, 7, 7, 33, 1, 1, 1, 0, 1, 1, false, false}); }
TEST(Conv, StridesAndDilation) { check({1, 3, 23, 17, 40, 5, 3, 2, 3, 2, 1, false, true}); }
TEST(Conv, Groups) { check({2, 12, 8, 8, 16, 3, 3, 1, 1, 1, 4, false, false}); }
TEST(Conv, Depthwise) { check({2, 9, 10, 13, 9, 3, 3, 2, 1, 1, 9, false, false}); }
TEST(Conv, LargeWindow) { check({1, 2, 30, 30, 3, 20, 20, 1, 2, 1, 1, false, true}); }
TEST(Conv, Transposed) { check({2, 6, 5, 7, 4, 4, 4, 2, 1, 1, 1, true, false}); }
TEST(Conv, TransposedGroups) { check({1, 6, 5, 7, 4, 3, 3, 3, 0, 2, 2, true, true}); }

} // namespace
