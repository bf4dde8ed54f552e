// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products whose second operand lies transposed: its columns are not side by side; convolutions
// whose filters lie so.
#pragma once
#include "GraphToTile/Analysis/Subkernel.h"

namespace tw::conversion {

/// Makes a product, or a convolution, read its second operand from a temporary in which columns, or
/// outputs, are innermost, and gives what writes that: a copy.
Subkernel materializeTransposedRhs(Subkernel &subkernel, int temporary);

} // namespace tw::conversion
