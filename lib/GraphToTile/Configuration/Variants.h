// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Variants of a kernel, for calls in which a size that only they tell is small: a product of one
// row reads its weight once, whatever a block has of rows. All variants read one packing.
#pragma once
#include "GraphToTile/Analysis/Subkernels/Subkernel.h"
#include "Kernels/Configuration.h"

namespace tw::conversion {
using kernels::Configuration;
using kernels::Constraint;

/// The symbol of the size that variants are told apart by, the rows of a product; empty where there
/// are none: it is a number, or no buffer has it as one of its sizes.
std::string variantSymbol(const Subkernel &subkernel);

/// The same computation for calls in which that size is at most `most`.
Subkernel boundedBy(const Subkernel &subkernel, int64_t most);

/// What a variant has in common with the kernel that it is one of, over its fields.
std::vector<Constraint> variantConstraints(const Subkernel &subkernel, const Configuration &kernel);

/// What a variant for many workers has in common with the kernel beside that: all but how results
/// are cut into programs, so that sums are the same bits.
std::vector<Constraint> workersConstraints(const Configuration &kernel);

} // namespace tw::conversion
