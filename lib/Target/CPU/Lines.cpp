// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tiles of positions that are a straight line in most programs: all of a row in reverse, what lies
// between the edges of a row that is padded by reflection. Where they are one follows from the
// first and the last position, so that a program is tested once, as for boxes.
#include "Target/CPU/Emitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tw::target::cpu {
namespace {

/// What scalars must not exceed, so that no sum of positions wraps.
constexpr int64_t mostExact = int64_t(1) << 40, mostFactor = 1 << 16;

class LineFinder {
public:
  LineFinder(Emitter &e, const Ix &last) : e(e), last(last) {}

  /// By how much positions grow; what must hold for that is in `condition`.
  std::optional<int64_t> slope(Value tile) {
    Operation *op = tile.getDefiningOp();
    return llvm::TypeSwitch<Operation *, std::optional<int64_t>>(op)
        .Case([&](tile::IotaOp o) {
          bool isAlong = !(tile::extentsOf(o.getType())[o.getDim()] == Size(1));
          return exact(o.getStart()) ? std::optional<int64_t>(isAlong) : std::nullopt;
        })
        .Case([&](tile::FullOp o) {
          return exact(o.getValue()) ? std::optional<int64_t>(0) : std::nullopt;
        })
        .Case<tile::BroadcastOp, tile::ReshapeOp>(
            [&](Operation *o) { return slope(o->getOperand(0)); })
        .Case<arith::AddIOp, arith::SubIOp>([&](Operation *o) -> std::optional<int64_t> {
          auto x = slope(o->getOperand(0)), y = slope(o->getOperand(1));
          if (!x || !y)
            return std::nullopt;
          return isa<arith::AddIOp>(o) ? *x + *y : *x - *y;
        })
        .Case([&](arith::MulIOp o) { return scaled(o); })
        .Case<arith::MinSIOp, arith::MaxSIOp>([&](Operation *o) { return extreme(o); })
        .Case([&](arith::SelectOp o) { return chosen(o); })
        .Default([](Operation *) { return std::nullopt; });
  }

  Value condition;

private:
  void require(Value holds) { condition = e.both(condition, holds); }

  Value first(Value tile) { return at(tile, 0); }
  Value lastOf(Value tile) { return at(tile, last); }
  Value at(Value tile, const Ix &place) {
    Point point;
    for (const Size &extent : tile::extentsOf(cast<RankedTensorType>(tile.getType())))
      point.at.push_back(extent == Size(1) ? Ix(0) : place);
    FailureOr<Value> value = e.evaluate(tile, point);
    return succeeded(value) ? *value : Value();
  }

  /// A scalar from which sums do not wrap.
  bool exact(Value scalar) {
    if (!e.scalars.contains(scalar) ||
        !(scalar.getType().isIndex() || scalar.getType().isInteger(64)))
      return false;
    Ix value = e.index(scalar);
    if (!e.ranges.of(value))
      require(e.ix().inside(e.ix().add(value, mostExact), 2 * mostExact));
    return true;
  }

  std::optional<int64_t> scaled(arith::MulIOp op) {
    auto x = slope(op.getLhs()), y = slope(op.getRhs());
    if (!x || !y || isScaled || (*x != 0 && *y != 0))
      return std::nullopt;
    isScaled = true;
    auto factor = e.laneSum(first(*y == 0 ? op.getRhs() : op.getLhs()));
    auto number = factor ? factor->base.constant() : std::nullopt;
    if (!number || std::abs(*number) > mostFactor)
      return std::nullopt;
    return (*y == 0 ? *x : *y) * *number;
  }

  static bool isBetter(int64_t x, int64_t y) { return x == 1 || (y != 1 && x != 0); }

  /// Of two lines the one that is not level: the extreme is that one where it is at both ends.
  std::optional<int64_t> extreme(Operation *op) {
    Value x = op->getOperand(0), y = op->getOperand(1);
    auto slopeX = slope(x), slopeY = slope(y);
    if (!slopeX || !slopeY)
      return std::nullopt;
    if (*slopeX == *slopeY)
      return slopeX;
    if (!isBetter(*slopeX, *slopeY)) {
      std::swap(x, y);
      std::swap(slopeX, slopeY);
    }
    auto predicate =
        isa<arith::MaxSIOp>(op) ? arith::CmpIPredicate::sge : arith::CmpIPredicate::sle;
    require(arith::CmpIOp::create(e.b, e.loc, predicate, first(x), first(y)));
    require(arith::CmpIOp::create(e.b, e.loc, predicate, lastOf(x), lastOf(y)));
    return slopeX;
  }

  /// Whether a condition on lines has one answer for all of them, which it then has for the first.
  bool isUniform(Value mask) {
    Operation *op = mask.getDefiningOp();
    if (isa_and_present<arith::AndIOp, arith::OrIOp>(op))
      return isUniform(op->getOperand(0)) && isUniform(op->getOperand(1));
    if (isa_and_present<tile::BroadcastOp, tile::ReshapeOp>(op))
      return isUniform(op->getOperand(0));
    using Predicate = arith::CmpIPredicate;
    auto compare = dyn_cast_if_present<arith::CmpIOp>(op);
    if (!compare ||
        !llvm::is_contained({Predicate::slt, Predicate::sle, Predicate::sgt, Predicate::sge},
                            compare.getPredicate()))
      return false;
    if (!slope(compare.getLhs()) || !slope(compare.getRhs()))
      return false;
    require(arith::CmpIOp::create(e.b, e.loc, Predicate::eq, first(mask), lastOf(mask)));
    return true;
  }

  std::optional<int64_t> chosen(arith::SelectOp op) {
    auto x = slope(op.getTrueValue()), y = slope(op.getFalseValue());
    if (!isa<RankedTensorType>(op.getCondition().getType()) || !x || !y ||
        !isUniform(op.getCondition()))
      return std::nullopt;
    if (*x == *y)
      return x;
    Value isFirst = first(op.getCondition());
    bool wanted = isBetter(*x, *y);
    require(arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::eq, isFirst,
                                  e.constant(e.b.getI1Type(), wanted)));
    return wanted ? x : y;
  }

  Emitter &e;
  Ix last; // the coordinate of the last position
  bool isScaled = false;
};

} // namespace

Value Emitter::lineGuard(tile::LoadOp op, unsigned dim) {
  Value tile = op.getPositions()[dim];
  Ix extent = size(tile::extentsOf(cast<RankedTensorType>(tile.getType()))[0]);
  // What is computed from constants is known without a test.
  constexpr int64_t least = 32;
  if (extent.estimate(least) < least || !isComputed(tile) || isComputed(tile, true))
    return {};
  LineFinder finder(*this, ix().sub(extent, 1));
  auto slope = finder.slope(tile);
  if (!slope || *slope == 0)
    return {};
  const Ix &room = buffers.find(op.getBuffer())->second.sizes[dim];
  Value holds = finder.condition;
  for (const Ix &end : {Ix(0), ix().sub(extent, 1)}) {
    FailureOr<Value> position = evaluate(tile, {{end}, -1, 1});
    if (failed(position))
      return {};
    if (Ix at = Ix::of(*position); ranges.staysInside(at, 0, room) != true)
      holds = both(holds, ix().inside(at, room));
  }
  lines[{op, dim}] = *slope;
  if (!holds)
    inside.insert({op, dim});
  return holds;
}

} // namespace tw::target::cpu
