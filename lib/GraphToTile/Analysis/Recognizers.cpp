// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "GraphToTile/Analysis/Recognizers.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tw::conversion {
namespace {

/// The condition under which a new element takes the place of the one kept.
struct Better {
  Value element, kept;

  /// Whether the greater one wins; nothing if it is no comparison of the two.
  std::optional<bool> direction(Value condition) const {
    if (auto compare = condition.getDefiningOp<arith::CmpFOp>())
      return direction(compare.getLhs(), compare.getRhs(),
                       compare.getPredicate() == arith::CmpFPredicate::OLT,
                       compare.getPredicate() == arith::CmpFPredicate::OGT);
    if (auto compare = condition.getDefiningOp<arith::CmpIOp>())
      return direction(compare.getLhs(), compare.getRhs(),
                       compare.getPredicate() == arith::CmpIPredicate::slt,
                       compare.getPredicate() == arith::CmpIPredicate::sgt);
    return std::nullopt;
  }
  std::optional<bool> direction(Value left, Value right, bool isLess, bool isGreater) const {
    if (!isLess && !isGreater)
      return std::nullopt;
    if (left == kept && right == element)
      return isLess;
    if (left == element && right == kept)
      return isGreater;
    return std::nullopt;
  }
  static bool asksForNaN(Value condition, Value of) {
    auto compare = condition.getDefiningOp<arith::CmpFOp>();
    return compare && compare.getPredicate() == arith::CmpFPredicate::UNO &&
           compare.getLhs() == of && compare.getRhs() == of;
  }
  /// The element is the first that is NaN.
  bool isFirstNaN(Value condition) const {
    auto both = condition.getDefiningOp<arith::AndIOp>();
    if (!both)
      return false;
    for (unsigned i : {0, 1}) {
      auto inverted = both->getOperand(1 - i).getDefiningOp<arith::XOrIOp>();
      if (inverted && asksForNaN(both->getOperand(i), element) &&
          asksForNaN(inverted.getLhs(), kept) && matchPattern(inverted.getRhs(), m_One()))
        return true;
    }
    return false;
  }
};

} // namespace

std::optional<ExtremeParts> matchExtreme(linalg::LinalgOp op) {
  if (op->getNumResults() != 2 || op.getNumReductionLoops() != 1)
    return std::nullopt;
  Block *body = op.getBlock();
  Operation *yield = body->getTerminator();
  auto value = yield->getOperand(0).getDefiningOp<arith::SelectOp>(),
       place = yield->getOperand(1).getDefiningOp<arith::SelectOp>();
  unsigned inputs = op.getNumDpsInputs();
  if (!value || !place || value.getCondition() != place.getCondition() ||
      value.getFalseValue() != body->getArgument(inputs) ||
      place.getFalseValue() != body->getArgument(inputs + 1))
    return std::nullopt;
  auto cast = place.getTrueValue().getDefiningOp<arith::IndexCastOp>();
  auto index = cast ? cast.getIn().getDefiningOp<linalg::IndexOp>() : linalg::IndexOp();
  if (!index || op.getIteratorTypesArray()[index.getDim()] != utils::IteratorType::reduction)
    return std::nullopt;
  Better better{value.getTrueValue(), value.getFalseValue()};
  std::optional<bool> isMax;
  if (auto either = value.getCondition().getDefiningOp<arith::OrIOp>()) {
    for (unsigned i : {0, 1})
      if (better.isFirstNaN(either->getOperand(1 - i)))
        isMax = better.direction(either->getOperand(i));
  } else if (!isa<FloatType>(better.element.getType())) {
    isMax = better.direction(value.getCondition());
  }
  if (!isMax)
    return std::nullopt;
  return ExtremeParts{better.element, *isMax};
}

} // namespace tw::conversion
