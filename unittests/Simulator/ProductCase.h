// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels of one product, as text: layouts, sizes, epilogues.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace tw::target {

struct ProductCase {
  int64_t rows, columns, depth; // of a program's block
  int64_t m, n, k;
  bool isTransposedA = false, isTransposedB = false; // a is [K, M], b is [N, K]
  const char *type = "f16", *result = "f16";
  bool hasEpilogue = false;   // a bias, a residual and an activation
  bool hasLoop = true;        // else one trip has all of K
  std::string unknown = {};   // which of M, N and K are known only at the call
  bool isTF32 = false;        // of f32
  int64_t pingPongStages = 0; // two warp groups in turns, with so many stages; 0: as is chosen
  int64_t parts = 1;          // of the sum, which another launch combines
  bool isTriangular = false;  // block m of rows sums up the first m + 1 blocks of K only
  const char *computedFrom = nullptr; // a is 1.5 more than what is loaded, of this type
  bool hasStatistics = false;         // rows of a block less their sums, and by their maxima
};

/// @product(as, bs, bias [n], more [m, n]) -> c [m, n]
std::string textOf(const ProductCase &c);
/// Input SPECs for it.
std::vector<std::string> inputsOf(const ProductCase &c);

} // namespace tw::target
