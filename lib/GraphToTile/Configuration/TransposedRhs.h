// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products whose second operand lies the other way than the target wants it: its columns are not
// side by side, or they are, and not what is summed over; convolutions whose filters lie so.
#pragma once
#include "GraphToTile/Analysis/Subkernels/Subkernel.h"

namespace tw::conversion {

/// The product with b in another order: columns innermost, or what is summed over where columns
/// were.
kernels::Contraction withTransposedRhs(kernels::Contraction product);

/// Makes a product read such a b from a temporary, or a convolution filters in which outputs are
/// innermost, and gives what writes that: a copy.
Subkernel materializeTransposedRhs(Subkernel &subkernel, int temporary);

} // namespace tw::conversion
