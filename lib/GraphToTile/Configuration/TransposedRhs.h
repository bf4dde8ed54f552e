// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products whose second operand lies transposed: its columns are not side by side.
#pragma once
#include "GraphToTile/Analysis/Subkernel.h"

namespace tw::conversion {

/// Makes a product read b from a temporary in which columns are innermost, and gives what writes
/// that: a copy.
Subkernel materializeTransposedRhs(Subkernel &product, int temporary);

} // namespace tw::conversion
