// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "GraphToTile/Analysis/Combiners.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include <limits>

using namespace mlir;

namespace tw::conversion {

static constexpr double infinity = std::numeric_limits<double>::infinity();

using tile::ReduceKind;
using tile::ScanKind;

static const Combiner combiners[] = {
    {"arith.addf", ReduceKind::Sum, ScanKind::Sum, 0.0},
    {"arith.addi", ReduceKind::Sum, ScanKind::Sum, int64_t(0)},
    {"arith.mulf", ReduceKind::Prod, ScanKind::Prod, 1.0},
    {"arith.muli", ReduceKind::Prod, ScanKind::Prod, int64_t(1)},
    {"arith.maximumf", ReduceKind::Max, ScanKind::Max, -infinity},
    {"arith.minimumf", ReduceKind::Min, ScanKind::Min, infinity},
    {"arith.maxsi", ReduceKind::Max, ScanKind::Max, int64_t(INT64_MIN)},
    {"arith.minsi", ReduceKind::Min, ScanKind::Min, int64_t(INT64_MAX)},
    {"arith.ori", ReduceKind::Or, std::nullopt, false},
    {"arith.andi", ReduceKind::And, std::nullopt, true},
};

const Combiner *findCombiner(StringRef operation) {
  auto row = llvm::find_if(combiners, [&](const Combiner &c) { return operation == c.operation; });
  return row != std::end(combiners) ? row : nullptr;
}

const Combiner *combinerOf(Value yielded, BlockArgument state) {
  Operation *last = yielded.getDefiningOp();
  if (!last || last->getNumOperands() != 2 || !state.hasOneUse() || *state.user_begin() != last)
    return nullptr;
  const Combiner *row = findCombiner(last->getName().getStringRef());
  bool isBool = yielded.getType().isInteger(1);
  return row && isBool == std::holds_alternative<bool>(row->neutral) ? row : nullptr;
}

Value elementOf(Value yielded, BlockArgument state) {
  Operation *last = yielded.getDefiningOp();
  return last->getOperand(last->getOperand(0) == state ? 1 : 0);
}

bool isNeutral(Value scalar, const Combiner &row) {
  auto constant = scalar.getDefiningOp<arith::ConstantOp>();
  if (!constant)
    return false;
  if (auto number = dyn_cast<FloatAttr>(constant.getValue()))
    return number.getValueAsDouble() == std::get<double>(row.neutral);
  APInt number = cast<IntegerAttr>(constant.getValue()).getValue();
  if (auto *flag = std::get_if<bool>(&row.neutral))
    return number.isOne() == *flag;
  int64_t neutral = std::get<int64_t>(row.neutral);
  return neutral == INT64_MIN   ? number.isMinSignedValue()
         : neutral == INT64_MAX ? number.isMaxSignedValue()
                                : number.getSExtValue() == neutral;
}

} // namespace tw::conversion
