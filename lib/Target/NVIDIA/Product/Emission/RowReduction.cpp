// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/NVIDIA/Product/Emission/RowReduction.h"
#include "Target/NVIDIA/Emission/Lanes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tw::target::nvidia {

bool isReductionOfSums(tile::ReduceOp reduce) {
  return llvm::is_contained({tile::ReduceKind::Sum, tile::ReduceKind::Max, tile::ReduceKind::Min},
                            reduce.getKind()) &&
         reduce.getOperand().getType().getElementType().isF32();
}

static Value combined(OpBuilder &b, Location loc, tile::ReduceKind kind, Value x, Value y) {
  switch (kind) {
  case tile::ReduceKind::Max:
    return arith::MaximumFOp::create(b, loc, x, y);
  case tile::ReduceKind::Min:
    return arith::MinimumFOp::create(b, loc, x, y);
  default:
    return arith::AddFOp::create(b, loc, x, y);
  }
}

Value combinedInChains(OpBuilder &b, Location loc, tile::ReduceKind kind, SmallVector<Value> values,
                       size_t most) {
  for (size_t chains = std::min(values.size(), most); chains > 0; chains /= 2) {
    for (size_t i = chains; i < values.size(); ++i)
      values[i % chains] = combined(b, loc, kind, values[i % chains], values[i]);
    values.resize(chains);
  }
  return values[0];
}

Value combineLanes(OpBuilder &b, Location loc, tile::ReduceKind kind, Value value) {
  for (int64_t lanes : {1, 2})
    value = combined(b, loc, kind, value, fromLane(b, loc, value, lanes));
  return value;
}

} // namespace tw::target::nvidia
