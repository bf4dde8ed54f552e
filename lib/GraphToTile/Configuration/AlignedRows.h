// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products of operands whose rows are no multiple of as many bytes as the target's units for
// products want: such operands are copied to longer rows first, which end with 0.
#pragma once
#include "GraphToTile/Analysis/Subkernels/Subkernel.h"

namespace tw::conversion {

/// Whether some operand has rows of a known length that is no multiple of `bytes`, and all of these
/// can be copied: whole axes, each along a dimension.
bool canAlignRows(const kernels::Contraction &product, int64_t bytes);

/// The product with all rows aligned.
kernels::Contraction withAlignedRows(kernels::Contraction product, int64_t bytes);
/// How many bytes of operands each call has to copy for that: none of a weight. Extents that only
/// calls tell count as `unknown`.
int64_t bytesToAlign(const kernels::Contraction &product, int64_t bytes, bool isRhsWeight,
                     int64_t unknown);

/// Makes a product read such operands from temporaries, and gives what writes these: copies.
std::vector<Subkernel> materializeAlignedRows(Subkernel &subkernel, int64_t bytes,
                                              int &temporaries);

} // namespace tw::conversion
