// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a file says about the sizes of its tensors is what the exporter's fake tensors had, and some
// of those were wrong: torch 2.9 to 2.12 give the last states of aten.lstm.input a dimension more
// than they have when the program runs,
//
//   aten.lstm.input(x, [h0, c0], ...) with h0 [1, 2, 12]  ->  h_n recorded as [1, 1, 2, 12]
//
// and all that is computed from them is recorded accordingly. The program itself is right.
#pragma once
#include "Import/Pt2/Schema/Schema.h"

namespace tw::pt2 {

/// Sets `TensorMeta::sizesUnknown` of tensors whose recorded sizes may be wrong: the states of
/// LSTMs recorded so, and all that depends on them. They are then imported as
/// `!torch.vtensor<*,f32>`; lowering computes their sizes.
void forgetWrongSizes(Program &program);

} // namespace tw::pt2
