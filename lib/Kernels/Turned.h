// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products whose second operand lies the other way round: its columns side by side along the sum.
#pragma once
#include "Kernels/Describe.h"

namespace tw::kernels {

/// Whether a kernel that turns b pays: each block of rows would turn it again.
bool paysToTurn(const Contraction &contraction);

/// Makes a product read b from a temporary in which columns are innermost, and gives what writes
/// that: a copy.
Piece turnSecondOperand(Piece &product, int temporary);

} // namespace tw::kernels
