// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which part of a product of the plain lowering a thread has in registers, and how it walks along
// the sum.
#pragma once
#include <cstdint>
#include <optional>

namespace tw::target::nvidia {

struct DotBlock {
  int64_t rows = 1, columns = 1;
};

/// Rows or columns of a thread's block, at most.
inline constexpr int64_t mostOfDotBlock = 8;
/// Terms of a sum of floats in one chain; a longer one is a sum of such parts.
inline constexpr int64_t termsOfDotPart = 256;

/// Registers of a thread beside its sums and operands, about.
inline constexpr int64_t registersBeside = 30;

/// The largest block that divides the result, or smaller ones while there are fewer of them than
/// threads. `rows` and `columns` of the result: nothing where they are known only at the call,
/// along which a block has one. `count`: its elements.
DotBlock dotBlockOf(std::optional<int64_t> rows, std::optional<int64_t> columns, int64_t count,
                    int64_t threads);

/// How many terms of its sums a thread reads before it multiplies any: their loads are under way
/// together, and those of neighbours in memory are one. As many as registers hold beside the sums,
/// of which each has so many words.
int64_t termsTogether(const DotBlock &block, std::optional<int64_t> depth, int64_t words,
                      int64_t threads);

} // namespace tw::target::nvidia
