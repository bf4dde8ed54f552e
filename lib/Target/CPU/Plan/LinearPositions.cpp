// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tiles of positions that are a straight line in most programs: all of a row in reverse, what lies
// between the edges of a row that is padded by reflection. Where they are one follows from the
// first and the last position, so that a program is tested once, as for boxes.
#include "Target/CPU/Plan/Guards.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tw::target::cpu {
namespace {

constexpr int64_t mostFactor = 1 << 16;

class LineFinder {
public:
  explicit LineFinder(const Scene &scene) : scene(scene) {}

  /// By how much positions grow; what must hold for that is in `tests`.
  std::optional<int64_t> slope(Value tile) {
    Operation *op = tile.getDefiningOp();
    return llvm::TypeSwitch<Operation *, std::optional<int64_t>>(op)
        .Case([&](tile::IotaOp o) {
          bool isAlong = !(tile::extentsOf(o.getType())[o.getDim()] == Size(1));
          return isSmall(o.getStart()) ? std::optional<int64_t>(isAlong) : std::nullopt;
        })
        .Case([&](tile::FullOp o) {
          return isSmall(o.getValue()) ? std::optional<int64_t>(0) : std::nullopt;
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

  std::vector<LinearityTest> tests;

private:
  /// A scalar from which sums do not wrap.
  bool isSmall(Value scalar) {
    if (!scene.ready.contains(scalar) ||
        !(scalar.getType().isIndex() || scalar.getType().isInteger(64)))
      return false;
    if (!scene.scalars.range(scalar))
      tests.push_back({LinearityTest::Kind::Small, scalar, {}});
    return true;
  }

  std::optional<int64_t> scaled(arith::MulIOp op) {
    auto x = slope(op.getLhs()), y = slope(op.getRhs());
    if (!x || !y || isScaled || (*x != 0 && *y != 0))
      return std::nullopt;
    isScaled = true;
    auto factor = scene.elements.first(*y == 0 ? op.getRhs() : op.getLhs());
    if (!factor || std::abs(*factor) > mostFactor)
      return std::nullopt;
    return (*y == 0 ? *x : *y) * *factor;
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
    for (bool atEnd : {false, true})
      tests.push_back({LinearityTest::Kind::Compare, x, y, atEnd, isa<arith::MaxSIOp>(op)});
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
    tests.push_back({LinearityTest::Kind::SameAtBothEnds, mask, {}});
    return true;
  }

  std::optional<int64_t> chosen(arith::SelectOp op) {
    auto x = slope(op.getTrueValue()), y = slope(op.getFalseValue());
    if (!isa<RankedTensorType>(op.getCondition().getType()) || !x || !y ||
        !isUniform(op.getCondition()))
      return std::nullopt;
    if (*x == *y)
      return x;
    bool wanted = isBetter(*x, *y);
    tests.push_back({LinearityTest::Kind::Equals, op.getCondition(), {}, false, false, wanted});
    return wanted ? x : y;
  }

  const Scene &scene;
  bool isScaled = false;
};

} // namespace

std::optional<Guard> planLine(const Scene &scene, tile::LoadOp op, unsigned dim, int64_t &slope) {
  Value tile = op.getPositions()[dim];
  // What is computed from constants is known without a test.
  constexpr int64_t least = 32;
  if (extentsOf(tile)[0].constant().value_or(least) < least || !scene.isComputed(tile) ||
      scene.isComputed(tile, true))
    return std::nullopt;
  LineFinder finder(scene);
  auto found = finder.slope(tile);
  if (!found || *found == 0)
    return std::nullopt;
  slope = *found;
  Guard guard{{op, dim}, /*isLine=*/true, std::move(finder.tests)};
  const Size size = tile::sizesOf(op.getBuffer().getType())[dim];
  auto isTested = [&](bool atEnd) {
    return target::staysInside(scene.scalars.elementRange(tile, atEnd), 0, size.constant()) != true;
  };
  guard.testsFirst = isTested(false);
  guard.testsLast = isTested(true);
  return guard;
}

} // namespace tw::target::cpu
