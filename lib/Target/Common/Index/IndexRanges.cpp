// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/Common/Index/IndexRanges.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include <numeric>

using namespace mlir;

namespace tw::target {

std::optional<Range> IndexRanges::ofVariable(Value variable) const {
  auto found = known.find(variable);
  return found == known.end() ? std::nullopt : std::optional(found->second);
}

constexpr int deepest = 8;

std::optional<Range> IndexRanges::of(const Ix &x, int depth) const {
  if (auto number = x.constant())
    return Range::of(*number, *number);
  if (auto range = ofVariable(x.dynamic()))
    return range;
  Operation *op = x.dynamic().getDefiningOp();
  if (!op || op->getNumOperands() < 2 || depth > deepest)
    return std::nullopt;
  unsigned first = isa<arith::SelectOp>(op) ? 1 : 0;
  auto a = of(Ix::of(op->getOperand(first)), depth + 1),
       c = of(Ix::of(op->getOperand(first + 1)), depth + 1);
  return a && c ? rangeOf(op, *a, *c) : std::nullopt;
}

std::optional<bool> IndexRanges::staysInside(const Ix &first, int64_t span, const Ix &size) const {
  return target::staysInside(of(first), span, size.constant());
}

bool IndexRanges::isNonNegative(const Ix &x, int depth) const {
  if (auto number = x.constant())
    return *number >= 0;
  if (nonNegative.contains(x.dynamic()))
    return true;
  if (auto range = of(x))
    return range->least >= 0;
  if (depth > deepest)
    return false;
  if (auto variable = dyn_cast<BlockArgument>(x.dynamic())) {
    auto loop = dyn_cast<scf::ForOp>(variable.getOwner()->getParentOp());
    return loop && loop.getInductionVar() == variable &&
           isNonNegative(Ix::of(loop.getLowerBound()), depth + 1);
  }
  Operation *op = x.dynamic().getDefiningOp();
  return isa<arith::AddIOp, arith::MulIOp, arith::DivUIOp, arith::RemUIOp, arith::MinSIOp,
             arith::MaxSIOp>(op) &&
         llvm::all_of(op->getOperands(),
                      [&](Value operand) { return isNonNegative(Ix::of(operand), depth + 1); });
}

bool isMultipleOf(const Ix &x, int64_t divisor) {
  if (divisor == 1)
    return true;
  if (auto number = x.constant())
    return *number % divisor == 0;
  if (auto variable = dyn_cast<BlockArgument>(x.dynamic())) {
    auto loop = dyn_cast<scf::ForOp>(variable.getOwner()->getParentOp());
    return loop && loop.getInductionVar() == variable &&
           isMultipleOf(Ix::of(loop.getLowerBound()), divisor) &&
           isMultipleOf(Ix::of(loop.getStep()), divisor);
  }
  Operation *op = x.dynamic().getDefiningOp();
  if (isa<arith::AddIOp, arith::SubIOp>(op))
    return isMultipleOf(Ix::of(op->getOperand(0)), divisor) &&
           isMultipleOf(Ix::of(op->getOperand(1)), divisor);
  APInt factor;
  if (!isa<arith::MulIOp>(op) || !matchPattern(op->getOperand(1), m_ConstantInt(&factor)))
    return false;
  return isMultipleOf(Ix::of(op->getOperand(0)),
                      divisor / std::gcd(divisor, factor.getSExtValue()));
}

} // namespace tw::target
