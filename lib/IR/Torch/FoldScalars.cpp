// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Folds of Python arithmetic on constants.
#include "IR/Torch/Hooks.h"

using namespace mlir;
namespace tw::torch {

static LogicalResult foldAddInt(AtenOp op, ArrayRef<Attribute> operands,
                                SmallVectorImpl<OpFoldResult> &results) {
  auto a = dyn_cast_or_null<IntegerAttr>(operands[0]);
  auto b = dyn_cast_or_null<IntegerAttr>(operands[1]);
  if (!a || !b)
    return failure();
  results.push_back(IntegerAttr::get(a.getType(), a.getValue() + b.getValue()));
  return success();
}

ArrayRef<NamedFold> scalarFolds() {
  static constexpr NamedFold table[] = {{"aten.add.int", foldAddInt}};
  return table;
}

ArrayRef<NamedFold> containerFolds() { return {}; }
ArrayRef<NamedCanonicalize> containerPatterns() { return {}; }

} // namespace tw::torch
