// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operands of products that a kernel of its own copies first, to where the target reads them
// better.
#pragma once
#include "GraphToTile/Analysis/Subkernels/Subkernel.h"

namespace tw::conversion {

using Operand = kernels::Access Contraction::*;

/// How a copy of an operand lies in memory.
struct OperandLayout {
  std::string name;
  std::vector<int> dims; // of the product, one for each axis
  std::vector<Extent> shape;
};

/// Makes a product read an operand from a temporary, and gives what writes that: a copy, with 0 for
/// what lies beyond the operand's own axes.
Subkernel materializeOperand(Subkernel &subkernel, Operand operand, const OperandLayout &layout,
                             int temporary);

} // namespace tw::conversion
