// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products of matrices as tile programs, for tests and measurements.
#pragma once
#include <cstdint>
#include <string>

namespace tw::target {

/// How b lies in memory: [K, N], [N, K], in panels [N ceildiv width, K, width] of which a program
/// has `panels`, or in one with pairs of neighbours along K: [N ceildiv columns, K ceildiv 2,
/// columns, 2].
enum class Layout { Plain, Transposed, Panels, Pairs };

/// C = A B: a program computes rows x columns of C, in partial sums of `depth` terms.
struct Product {
  int64_t rows = 6, columns = 16, depth = 256, panels = 1;
  Layout layout = Layout::Panels;
  std::string operand = "f32", sum = "f32";
};

/// `@k(a, b, c)` with sizes that are symbols: scalars are M, K, the sizes of b, M, N.
std::string product(const Product &p);

} // namespace tw::target
