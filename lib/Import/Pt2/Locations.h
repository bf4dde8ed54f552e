// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The user's source line and module of a node, out of the texts that the exporter recorded.
#pragma once
#include "IR/ModelLocation.h"
#include "Import/Pt2/Schema/Schema.h"

namespace tw::pt2 {

/// The place of node number `index` of `model`: the innermost frame of its stack trace that is not
/// PyTorch's own, and the innermost module.
ModelPlace placeOf(const Node &node, int index, const std::string &model);

} // namespace tw::pt2
