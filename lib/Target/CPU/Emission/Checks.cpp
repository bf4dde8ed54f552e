// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks of positions that are made where the positions are used, strip by strip, rather than for
// all of a tile before: a strip whose positions are all good needs no more than a comparison, and
// its elements are read at the positions as they lie in memory.
#include "Target/CPU/Emission/Emitter.h"
#include "Target/CPU/Emission/Shapes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace tw::target::cpu {

static bool onlyChangesShape(Operation *op) {
  return isa_and_present<tile::ReshapeOp, tile::BroadcastOp>(op);
}

bool Emitter::isChecked(Value tile, const Ix &size) {
  while (onlyChangesShape(tile.getDefiningOp()))
    tile = tile.getDefiningOp()->getOperand(0);
  auto check = tile.getDefiningOp<tile::CheckOp>();
  auto bound = check ? index(check.getBound()).constant() : std::nullopt;
  auto room = size.constant();
  return bound && room && *bound >= 1 && *bound <= *room;
}

tile::CheckOp Emitter::checkBehind(Value tile, Point &point) {
  while (!isPlaced(tile) && onlyChangesShape(tile.getDefiningOp())) {
    auto source = sourcePoint(*this, tile.getDefiningOp(), point);
    if (!source)
      return nullptr;
    point = *source;
    tile = tile.getDefiningOp()->getOperand(0);
  }
  return isPlaced(tile) ? tile::CheckOp() : tile.getDefiningOp<tile::CheckOp>();
}

/// Whether `mask` holds only where `tile` is below 0.
static bool impliesNegative(Value mask, Value tile) {
  if (auto both = mask.getDefiningOp<arith::AndIOp>())
    return impliesNegative(both.getLhs(), tile) || impliesNegative(both.getRhs(), tile);
  auto compare = mask.getDefiningOp<arith::CmpIOp>();
  auto zero = compare ? compare.getRhs().getDefiningOp<tile::FullOp>() : tile::FullOp();
  return zero && compare.getPredicate() == arith::CmpIPredicate::slt && compare.getLhs() == tile &&
         matchPattern(zero.getValue(), m_Zero());
}

/// The tile in memory that has the positions of a check, where they are in [0, bound): what counts
/// from the end when it is negative is what it was. Null where there is none.
static Value givenPositions(tile::CheckOp op) {
  Value given = op.getValue();
  if (auto select = given.getDefiningOp<arith::SelectOp>();
      select && impliesNegative(select.getCondition(), select.getFalseValue()))
    given = select.getFalseValue();
  Value loaded = given;
  while (isa_and_present<arith::ExtSIOp, arith::IndexCastOp>(loaded.getDefiningOp()))
    loaded = loaded.getDefiningOp()->getOperand(0);
  auto load = loaded.getDefiningOp<tile::LoadOp>();
  bool isPlain = load && !load.getMask() &&
                 llvm::none_of(load.getPositions().getTypes(), llvm::IsaPred<RankedTensorType>);
  return isPlain ? given : Value();
}

Value Emitter::trusted(Value tile, Point &point) {
  Point source = point;
  tile::CheckOp check = checkBehind(tile, source);
  if (!check || !trustedChecks.contains(check))
    return {};
  point = source;
  return givenPositions(check);
}

FailureOr<Value> Emitter::allGood(tile::CheckOp op, const Point &point) {
  FailureOr<Value> given = evaluate(givenPositions(op), point), wanted = Value();
  if (op.getMask())
    wanted = evaluate(op.getMask(), point);
  if (failed(given) || failed(wanted))
    return failure();
  Value wide = asVector(*given);
  if (!getElementTypeOrSelf(wide.getType()).isInteger(64))
    wide = arith::ExtSIOp::create(b, loc, typeOf(b.getI64Type(), true), wide);
  Value good = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, wide,
                                     splat(ix().value(index(op.getBound()))));
  Value on = splat(constant(b.getI1Type(), 1));
  if (*wanted)
    good = arith::AndIOp::create(b, loc, good, asVector(*wanted));
  Value bad = both(arith::XOrIOp::create(b, loc, good, on), mask);
  Type bits = b.getIntegerType(lanes);
  Value none = LLVM::ConstantOp::create(b, loc, bits, b.getIntegerAttr(bits, 0));
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                               Value(LLVM::BitcastOp::create(b, loc, bits, bad)), none)
      .getResult();
}

FailureOr<Value> Emitter::goodPositions(ValueRange positions,
                                        llvm::function_ref<Point(unsigned)> at,
                                        SmallVectorImpl<Operation *> &checks) {
  Value all;
  if (isBoundary || (mask && !constantLanes(mask)))
    return all;
  SmallVector<std::pair<tile::CheckOp, Point>> found;
  for (auto [d, tile] : llvm::enumerate(positions)) {
    if (!isa<RankedTensorType>(tile.getType()))
      continue;
    Point point = at(d);
    tile::CheckOp check = point.lane >= 0 ? checkBehind(tile, point) : tile::CheckOp();
    if (!check || point.lane < 0)
      continue;
    if (!givenPositions(check))
      return Value();
    found.push_back({check, point});
  }
  for (auto &[check, point] : found) {
    FailureOr<Value> good = allGood(check, point);
    if (failed(good))
      return failure();
    all = both(all, *good);
    checks.push_back(check);
  }
  return all;
}

} // namespace tw::target::cpu
