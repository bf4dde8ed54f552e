// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Graph/Views/UnitReshapes.h"

using namespace mlir;

namespace tw {

static bool onlyUnits(RankedTensorType type, ArrayRef<ReassociationIndices> reassociation) {
  return llvm::all_of(reassociation, [&](const ReassociationIndices &group) {
    return llvm::count_if(group, [&](int64_t d) { return type.getDimSize(d) != 1; }) <= 1;
  });
}

bool addsOnlyUnits(tensor::ExpandShapeOp expand) {
  return onlyUnits(expand.getResultType(), expand.getReassociationIndices());
}

bool dropsOnlyUnits(tensor::CollapseShapeOp collapse) {
  return onlyUnits(collapse.getSrcType(), collapse.getReassociationIndices());
}

int64_t carrierOf(RankedTensorType type, const ReassociationIndices &group) {
  for (int64_t d : group)
    if (type.getDimSize(d) != 1)
      return d;
  return group.front();
}

} // namespace tw
