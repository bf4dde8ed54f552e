// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/Common/Index/ScalarValues.h"
#include "IR/Tile/LoopBounds.h"
#include "Support/Checked.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tw::target {

using Known = std::optional<int64_t>;

static Known constantOf(Value value) {
  llvm::APInt number;
  return matchPattern(value, m_ConstantInt(&number)) ? Known(number.getSExtValue()) : Known();
}

/// x for `x / c + (x mod c != 0)`, which is how many blocks of c cover x.
static Value coveredBy(arith::SelectOp op, int64_t &c) {
  auto compare = op.getCondition().getDefiningOp<arith::CmpIOp>();
  auto rest = compare ? compare.getLhs().getDefiningOp<arith::RemSIOp>() : nullptr;
  auto quotient = op.getFalseValue().getDefiningOp<arith::DivSIOp>();
  auto more = op.getTrueValue().getDefiningOp<arith::AddIOp>();
  if (!rest || !quotient || !more || compare.getPredicate() != arith::CmpIPredicate::ne ||
      !matchPattern(compare.getRhs(), m_Zero()) || !matchPattern(more.getRhs(), m_One()) ||
      more.getLhs() != quotient.getResult() || rest.getLhs() != quotient.getLhs() ||
      rest.getRhs() != quotient.getRhs())
    return {};
  Known divisor = constantOf(quotient.getRhs());
  c = divisor.value_or(0);
  return c > 0 ? quotient.getLhs() : Value();
}

/// A loop's variable begins at its least value when it goes up.
static Known lowerBoundOfArgument(BlockArgument argument) {
  auto loop = dyn_cast<tile::ForOp>(argument.getOwner()->getParentOp());
  if (!loop || argument != loop.getInductionVar() || constantOf(loop.getStep()).value_or(0) < 1)
    return std::nullopt;
  return lowerBound(loop.getBegin());
}

static Known lowerBoundOfSelect(arith::SelectOp op) {
  int64_t c = 1;
  if (Value covered = coveredBy(op, c))
    if (Known least = lowerBound(covered); least && *least >= 0)
      return *least / c + (*least % c != 0);
  Known x = lowerBound(op.getTrueValue()), y = lowerBound(op.getFalseValue());
  return x && y ? Known(std::min(*x, *y)) : Known();
}

/// Sums and products of bounds beyond this are not followed, so that none overflows.
constexpr int64_t mostFollowed = int64_t(1) << 31;

static Known lowerBoundOfBinary(Operation *op) {
  Known x = lowerBound(op->getOperand(0)), y = lowerBound(op->getOperand(1));
  if (isa<arith::MaxSIOp>(op) && (x || y))
    return std::max(x.value_or(y.value_or(0)), y.value_or(x.value_or(0)));
  if (!x || !y || std::abs(*x) > mostFollowed || std::abs(*y) > mostFollowed)
    return std::nullopt;
  bool arePlain = *x >= 0 && *y >= 0;
  Known divisor = constantOf(op->getOperand(1));
  return llvm::TypeSwitch<Operation *, Known>(op)
      .Case([&](arith::AddIOp) { return *x + *y; })
      .Case([&](arith::MulIOp) { return arePlain ? Known(*x * *y) : Known(); })
      .Case([&](arith::MinSIOp) { return std::min(*x, *y); })
      .Case([&](arith::DivSIOp) {
        return arePlain ? Known(divisor.value_or(0) > 0 ? *x / *divisor : 0) : Known();
      })
      .Case([&](arith::RemSIOp) { return arePlain ? Known(0) : Known(); })
      .Default([](Operation *) { return Known(); });
}

Known lowerBound(Value scalar) {
  if (!scalar.getType().isIndex())
    return std::nullopt;
  if (Known number = constantOf(scalar))
    return number;
  if (auto argument = dyn_cast<BlockArgument>(scalar))
    return lowerBoundOfArgument(argument);
  return llvm::TypeSwitch<Operation *, Known>(scalar.getDefiningOp())
      .Case([](tile::ProgramIdOp) { return Known(0); })
      .Case([](tile::SizeOp op) { // symbols are never negative
        return op.getSize().getSize().isNonNegative() ? Known(0) : Known();
      })
      .Case([](arith::SelectOp op) { return lowerBoundOfSelect(op); })
      .Default([](Operation *op) {
        return op->getNumOperands() == 2 ? lowerBoundOfBinary(op) : Known();
      });
}

Known upperBound(Value scalar) {
  if (Known number = constantOf(scalar))
    return number;
  Operation *op = scalar.getDefiningOp();
  if (auto program = dyn_cast_or_null<tile::ProgramIdOp>(op)) {
    auto kernel = op->getParentOfType<tile::KernelOp>();
    Known count = cast<tile::SizeAttr>(kernel.getGrid()[program.getDim()]).getSize().constant();
    return count ? Known(*count - 1) : Known();
  }
  if (!isa_and_nonnull<arith::AddIOp, arith::MulIOp, arith::MinSIOp>(op))
    return std::nullopt;
  Known x = upperBound(op->getOperand(0)), y = upperBound(op->getOperand(1));
  if (isa<arith::MinSIOp>(op) && (x || y))
    return std::min(x.value_or(y.value_or(0)), y.value_or(x.value_or(0)));
  if (!x || !y || std::abs(*x) > mostFollowed || std::abs(*y) > mostFollowed)
    return std::nullopt;
  if (isa<arith::AddIOp>(op))
    return *x + *y;
  bool arePlain = lowerBound(op->getOperand(0)).value_or(-1) >= 0 &&
                  lowerBound(op->getOperand(1)).value_or(-1) >= 0;
  return arePlain ? Known(*x * *y) : Known();
}

/// c for `scalar` = `from` + c.
static Known distanceFrom(Value from, Value scalar) {
  auto sum = scalar.getDefiningOp<arith::AddIOp>();
  if (!sum)
    return std::nullopt;
  for (unsigned side : {0, 1})
    if (sum->getOperand(side) == from)
      return constantOf(sum->getOperand(1 - side));
  return std::nullopt;
}

Known knownTrips(tile::ForOp loop) {
  if (auto trips = loop.constantTripCount())
    return trips;
  Known length = distanceFrom(loop.getBegin(), loop.getEnd()), step = constantOf(loop.getStep());
  if (!length || *length < 0 || step.value_or(0) < 1 || !tile::hasSmallBounds(loop))
    return std::nullopt;
  return int64_t(tripCount(0, *length, *step));
}

bool isSurelyBeyond(Value scalar, Value other) {
  if (distanceFrom(other, scalar).value_or(0) > 0)
    return true;
  Known least = lowerBound(scalar), most = upperBound(other);
  if (least && most && *least > *most)
    return true;
  auto min = scalar.getDefiningOp<arith::MinSIOp>();
  return min && isSurelyBeyond(min.getLhs(), other) && isSurelyBeyond(min.getRhs(), other);
}

Known valueInProgram(Value scalar, ProgramNumber numberAlong) {
  if (Known number = constantOf(scalar))
    return number;
  Operation *op = scalar.getDefiningOp();
  if (auto program = dyn_cast_or_null<tile::ProgramIdOp>(op))
    return numberAlong(unsigned(program.getDim()));
  if (!op)
    return std::nullopt;
  SmallVector<int64_t> x;
  for (Value operand : op->getOperands()) {
    Known known = valueInProgram(operand, numberAlong);
    if (!known)
      return std::nullopt;
    x.push_back(*known);
  }
  return llvm::TypeSwitch<Operation *, Known>(op)
      .Case([&](arith::AddIOp) { return x[0] + x[1]; })
      .Case([&](arith::SubIOp) { return x[0] - x[1]; })
      .Case([&](arith::MulIOp) { return x[0] * x[1]; })
      .Case([&](arith::MinSIOp) { return std::min(x[0], x[1]); })
      .Case([&](arith::MaxSIOp) { return std::max(x[0], x[1]); })
      .Case([&](arith::DivSIOp) { return x[1] > 0 ? Known(x[0] / x[1]) : Known(); })
      .Case([&](arith::RemSIOp) { return x[1] > 0 ? Known(x[0] % x[1]) : Known(); })
      .Case([&](arith::SelectOp) { return x[0] ? x[1] : x[2]; })
      .Case([&](arith::CmpIOp o) {
        bool isEqual = o.getPredicate() == arith::CmpIPredicate::eq;
        bool isOther = o.getPredicate() == arith::CmpIPredicate::ne;
        return isEqual || isOther ? Known((x[0] == x[1]) == isEqual) : Known();
      })
      .Default([](Operation *) { return Known(); });
}

Known tripsInProgram(tile::ForOp loop, ProgramNumber number) {
  Known begin = valueInProgram(loop.getBegin(), number),
        end = valueInProgram(loop.getEnd(), number), step = valueInProgram(loop.getStep(), number);
  if (!begin || !end || step.value_or(0) < 1)
    return std::nullopt;
  return int64_t(std::min<uint64_t>(tripCount(*begin, *end, *step), INT64_MAX));
}

} // namespace tw::target
