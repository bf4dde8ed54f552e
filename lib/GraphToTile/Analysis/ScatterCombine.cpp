// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "GraphToTile/Analysis/ScatterCombine.h"

using namespace mlir;

namespace tw::conversion {

struct CombineRow {
  graph::Combine combine;
  StringRef onFloat, onSigned, onUnsigned, onBool;
};

static constexpr CombineRow rows[] = {
    {graph::Combine::Add, "arith.addf", "arith.addi", "arith.addi", "arith.ori"},
    {graph::Combine::Mul, "arith.mulf", "arith.muli", "arith.muli", "arith.andi"},
    {graph::Combine::Min, "arith.minimumf", "arith.minsi", "arith.minui", "arith.andi"},
    {graph::Combine::Max, "arith.maximumf", "arith.maxsi", "arith.maxui", "arith.ori"},
};

StringRef combineOperation(graph::ScatterOp op) {
  Type element = cast<RankedTensorType>(op.getType()).getElementType();
  if (op.getCombine() == graph::Combine::Set)
    return StringRef();
  auto row = llvm::find_if(rows, [&](const CombineRow &r) { return r.combine == op.getCombine(); });
  return isa<FloatType>(element) ? row->onFloat
         : element.isInteger(1)  ? row->onBool
         : op.getIsUnsigned()    ? row->onUnsigned
                                 : row->onSigned;
}

} // namespace tw::conversion
