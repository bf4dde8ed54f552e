// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/CPU/Plan/Analysis/Folding.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tw::target::cpu {

/// MLIR compares vectors of integers, not of floats.
static Attribute comparedFloats(arith::CmpFOp op, ArrayRef<Attribute> operands) {
  auto x = dyn_cast_if_present<DenseFPElementsAttr>(operands[0]),
       y = dyn_cast_if_present<DenseFPElementsAttr>(operands[1]);
  if (!x || !y)
    return {};
  SmallVector<bool> holds;
  for (auto [a, b] : llvm::zip(x.getValues<APFloat>(), y.getValues<APFloat>()))
    holds.push_back(arith::applyCmpPredicate(op.getPredicate(), a, b));
  return DenseElementsAttr::get(cast<VectorType>(op.getType()), ArrayRef(holds));
}

OpFoldResult Folding::folded(Value value) {
  if (auto found = known.find(value); found != known.end())
    return found->second;
  Operation *op = value.getDefiningOp();
  OpFoldResult result = value;
  Attribute attribute;
  if (matchPattern(value, m_Constant(&attribute))) {
    result = attribute;
  } else if (op && op->getNumResults() == 1 && op->getNumRegions() == 0 &&
             (isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) ||
              isa<vector::BroadcastOp>(op))) {
    SmallVector<Attribute> operands;
    for (Value operand : op->getOperands())
      operands.push_back(dyn_cast<Attribute>(folded(operand)));
    SmallVector<OpFoldResult> results;
    auto compare = dyn_cast<arith::CmpFOp>(op);
    if (Attribute holds = compare ? comparedFloats(compare, operands) : Attribute())
      result = holds;
    else if (succeeded(op->fold(operands, results)) && results.size() == 1) {
      auto other = dyn_cast<Value>(results[0]);
      result = other && other != value ? folded(other) : results[0];
    }
  }
  known[value] = result;
  return result;
}

Value splatted(Value vector) {
  auto broadcast = vector.getDefiningOp<vector::BroadcastOp>();
  return broadcast ? broadcast.getSource() : Value();
}

} // namespace tw::target::cpu
