// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Variants of a kernel, for calls in which a size that only they tell is small: a product of one
// row reads its weight once, whatever a block has of rows. All variants read one packing.
#pragma once
#include "GraphToTile/Analysis/Subkernels/Subkernel.h"
#include "Kernels/Configuration.h"
#include <optional>

namespace tw::conversion {
using kernels::Configuration;
using kernels::Constraint;

/// The symbol of the size that variants are told apart by, the rows of a product or the queries of
/// attention; empty where there are none: it is a number, or no buffer has it as one of its sizes.
std::string variantSymbol(const Subkernel &subkernel);

/// Which calls a variant is for; all of them, where both are 0, as the kernel itself.
struct VariantBound {
  int64_t most = 0;    // of that size; 0: any
  int64_t workers = 0; // at least; 0: any number

  bool isForAll() const { return most == 0 && workers == 0; }
  /// Whether calls with so many workers in which the size is `size`, if they tell it, are among
  /// them.
  bool takes(std::optional<int64_t> size, int64_t count) const {
    return most > 0 ? size && *size <= most && (most > 1 || *size == 1)
                    : workers == 0 || count >= workers;
  }
  bool operator==(const VariantBound &) const = default;
};

struct Variant {
  VariantBound bound;
  Configuration configuration;
  bool operator==(const Variant &) const = default;
};

/// The same computation for calls in which that size is at most `most`.
Subkernel boundedBy(const Subkernel &subkernel, int64_t most);

/// What a variant has in common with the kernel that it is one of, over its fields.
std::vector<Constraint> variantConstraints(const Subkernel &subkernel, const Configuration &kernel);

/// What a variant for many workers has in common with the kernel beside that: all but how results
/// are cut into programs, so that sums are the same bits.
std::vector<Constraint> workersConstraints(const Configuration &kernel);

} // namespace tw::conversion
