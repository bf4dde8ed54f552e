// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "GraphToTile/Analysis/Loops/AffineIndex.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tw::conversion {
namespace {

template <typename T>
void addTo(SmallVector<std::pair<T, int64_t>> &sum, T term, int64_t factor) {
  auto known = llvm::find_if(sum, [&](auto &other) { return other.first == term; });
  if (known == sum.end())
    sum.push_back({term, factor});
  else
    known->second += factor;
}

bool addTo(AffineIndex &sum, Value index, int64_t factor) {
  if (auto number = getConstantIntValue(index)) {
    sum.offset += factor * *number;
    return true;
  }
  if (auto argument = dyn_cast<BlockArgument>(index)) {
    if (!isa<func::FuncOp>(argument.getOwner()->getParentOp()))
      return false;
    addTo(sum.scalars, index, factor);
    return true;
  }
  Operation *op = index.getDefiningOp();
  if (auto loop = dyn_cast<linalg::IndexOp>(op)) {
    addTo(sum.loops, unsigned(loop.getDim()), factor);
    return true;
  }
  if (isa<arith::AddIOp, arith::SubIOp>(op))
    return addTo(sum, op->getOperand(0), factor) &&
           addTo(sum, op->getOperand(1), isa<arith::SubIOp>(op) ? -factor : factor);
  if (isa<arith::MulIOp>(op))
    for (unsigned i : {0, 1})
      if (auto times = getConstantIntValue(op->getOperand(i)))
        return addTo(sum, op->getOperand(1 - i), factor * *times);
  return false;
}

/// Whether a condition says that 0 <= position < the size of the axis.
bool saysInside(Value condition, Value position, Value tensor, int64_t axis,
                const CallSizes &calls) {
  bool isLow = false, isHigh = false;
  for (Value one : conjuncts(condition)) {
    auto compare = one.getDefiningOp<arith::CmpIOp>();
    if (!compare || compare.getLhs() != position)
      return false;
    if (compare.getPredicate() == arith::CmpIPredicate::sge &&
        getConstantIntValue(compare.getRhs()) == 0)
      isLow = true;
    else if (compare.getPredicate() == arith::CmpIPredicate::slt &&
             calls.isSizeOf(getAsOpFoldResult(compare.getRhs()), tensor, axis))
      isHigh = true;
    else
      return false;
  }
  return isLow && isHigh;
}

} // namespace

SmallVector<Value> conjuncts(Value condition) {
  auto both = condition.getDefiningOp<arith::AndIOp>();
  if (!both)
    return {condition};
  SmallVector<Value> all = conjuncts(both.getLhs());
  llvm::append_range(all, conjuncts(both.getRhs()));
  return all;
}

std::optional<AffineIndex> affineIndexOf(Value index, Value tensor, int64_t axis,
                                         const CallSizes &calls) {
  AffineIndex sum;
  if (auto select = index.getDefiningOp<arith::SelectOp>()) {
    if (getConstantIntValue(select.getFalseValue()) != 0 ||
        !saysInside(select.getCondition(), select.getTrueValue(), tensor, axis, calls))
      return std::nullopt;
    sum.inside = select.getCondition();
    index = select.getTrueValue();
  }
  if (!addTo(sum, index, 1))
    return std::nullopt;
  return sum;
}

} // namespace tw::conversion
