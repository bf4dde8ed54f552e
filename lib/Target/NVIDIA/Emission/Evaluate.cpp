// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The element of a tile at a point, from the operations behind it.
#include "IR/Tile/Elementwise.h"
#include "Target/Common/Operations/Elementwise.h"
#include "Target/NVIDIA/Emission/Emitter.h"
#include "Target/NVIDIA/Math.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tw::target::nvidia {

static std::vector<Size> extentsOf(Value tile) {
  return tile::extentsOf(cast<RankedTensorType>(tile.getType()));
}

/// Where the element of a reshaped tile is in its operand: dimensions that both begin with are the
/// same, the others are counted through.
static Point reshaped(Emitter &e, tile::ReshapeOp op, const Point &point) {
  std::vector<Size> from = extentsOf(op.getOperand()), to = extentsOf(op.getResult());
  IndexBuilder ix = e.ix();
  Point source(from.size(), Ix(0));
  size_t same = 0;
  for (; same < from.size() && same < to.size() && from[same] == to[same]; ++same)
    source[same] = point[same];
  size_t last = 0; // dimensions that both end with
  for (; same + last < std::min(from.size(), to.size()) &&
         from[from.size() - 1 - last] == to[to.size() - 1 - last];
       ++last)
    source[from.size() - 1 - last] = point[to.size() - 1 - last];
  Ix number = 0;
  for (size_t d = same; d < to.size() - last; ++d)
    number = ix.add(ix.mul(number, e.size(to[d])), point[d]);
  // The first dimension that is not 1 takes what is left.
  size_t first = same;
  while (first < from.size() - last && from[first] == Size(1))
    ++first;
  for (size_t d = from.size() - last; d-- > first;) {
    if (from[d] == Size(1))
      continue;
    Ix extent = e.size(from[d]);
    source[d] = d == first ? number : ix.rem(number, extent);
    if (d != first)
      number = ix.div(number, extent);
  }
  return source;
}

/// Where the element is in the operand of an operation that only changes the shape.
static std::optional<Point> sourcePoint(Emitter &e, Operation *op, const Point &point) {
  return llvm::TypeSwitch<Operation *, std::optional<Point>>(op)
      .Case([&](tile::BroadcastOp o) {
        Point source = point;
        for (auto [at, extent] : llvm::zip(source, extentsOf(o.getOperand())))
          if (extent == Size(1))
            at = 0;
        return source;
      })
      .Case([&](tile::ReshapeOp o) { return reshaped(e, o, point); })
      .Case([&](tile::TransposeOp o) {
        Point source(point.size(), Ix(0));
        for (auto [d, from] : llvm::enumerate(o.getPermutation()))
          source[from] = point[d];
        return source;
      })
      .Case([&](tile::SliceOp o) {
        Point source;
        for (auto [d, at] : llvm::enumerate(point))
          source.push_back(e.ix().add(o.getOffsets()[d], e.ix().mul(at, o.getStrides()[d])));
        return source;
      })
      .Default([](Operation *) { return std::nullopt; });
}

static Value iota(Emitter &e, tile::IotaOp op, const Point &point) {
  Type element = scalarType(op.getType().getElementType());
  Value value = e.ix().value(e.ix().add(e.index(op.getStart()), point[op.getDim()]));
  return value.getType() == element ? value : arith::TruncIOp::create(e.b, e.loc, element, value);
}

Value Emitter::elementwise(Operation *op, ArrayRef<Value> operands) {
  bool isFloat = op->getNumResults() == 1 && getElementTypeOrSelf(op->getResult(0)).isF32();
  if (isFloat && hasApproximation(op) && isRoundedToHalf(op->getResult(0)))
    if (Value value = emitApproximate(b, loc, op->getName().getStringRef(), operands,
                                      isRoundedToHalf(op->getResult(0), /*isNext=*/true)))
      return value;
  if (isa<arith::TruncFOp>(op) && operands[0].getType().isF32()) // one instruction, bf16's too
    return arith::TruncFOp::create(b, loc, getElementTypeOrSelf(op->getResult(0)), operands[0]);
  std::set<std::string> imports; // there is nothing to import from
  auto polynomial = [&](StringRef operation, ValueRange x) {
    return emitPolynomial(b, loc, operation, x);
  };
  auto libm = [&](StringRef name, ValueRange x) { return emitFunction(b, loc, name, x); };
  return emitElementwise(b, loc, op, operands, {polynomial, libm, imports});
}

static std::vector<uintptr_t> keyOf(Value tile, const Point &point) {
  std::vector<uintptr_t> key = {reinterpret_cast<uintptr_t>(tile.getAsOpaquePointer())};
  for (const Ix &at : point) {
    key.push_back(reinterpret_cast<uintptr_t>(at.dynamic().getAsOpaquePointer()));
    key.push_back(uintptr_t(at.constant().value_or(0)));
  }
  return key;
}

/// There is one coordinate along an extent of 1, whatever counts there.
static Point onlyPoint(Value tile, Point point) {
  for (auto [at, extent] : llvm::zip(point, cast<RankedTensorType>(tile.getType()).getShape()))
    if (extent == 1)
      at = 0;
  return point;
}

void Emitter::setElement(Value tile, const Point &point, Value value) {
  known[keyOf(tile, onlyPoint(tile, point))] = value;
}

Value Emitter::knownElement(Value tile, const Point &point) const {
  auto found = known.find(keyOf(tile, onlyPoint(tile, point)));
  return found == known.end() ? Value() : found->second;
}

FailureOr<Value> Emitter::evaluate(Value tile, const Point &given) {
  Point point = onlyPoint(tile, given);
  auto key = keyOf(tile, point);
  if (Value element = knownElement(tile, point))
    return element;
  if (isCancelled(cancellation)) // of one that is long
    return failure();
  FailureOr<Value> value = compute(tile, point);
  if (succeeded(value))
    known[key] = *value;
  return value;
}

/// e^(x factor - y), which may be approximated; the factor is a scalar and may be missing.
struct ExpOfDifference {
  Value x, factor, y;
};

static std::optional<ExpOfDifference> expOfDifference(Operation *op) {
  auto exp = dyn_cast<math::ExpOp>(op);
  auto difference = exp ? exp.getOperand().getDefiningOp<arith::SubFOp>() : nullptr;
  if (!difference || !getElementTypeOrSelf(exp.getType()).isF32() || !isRoundedToHalf(exp))
    return std::nullopt;
  ExpOfDifference found{difference.getLhs(), Value(), difference.getRhs()};
  if (auto product = found.x.getDefiningOp<arith::MulFOp>())
    for (unsigned side : {0, 1})
      if (auto full = product->getOperand(side).getDefiningOp<tile::FullOp>();
          full && !found.factor)
        found.factor = full.getValue(), found.x = product->getOperand(1 - side);
  return found;
}

static FailureOr<Value> evaluateExp(Emitter &e, const ExpOfDifference &of, const Point &point) {
  FailureOr<Value> x = e.evaluate(of.x, point), y = e.evaluate(of.y, point);
  if (failed(x) || failed(y))
    return failure();
  return emitExpOfDifference(e.b, e.loc, *x, of.factor ? e.scalar(of.factor) : Value(), *y);
}

/// A division, which may be approximated, of elements next to each other by the same number.
static arith::DivFOp divisionByShared(Operation *op) {
  auto division = dyn_cast<arith::DivFOp>(op);
  auto divisor = division ? division.getRhs().getDefiningOp<tile::BroadcastOp>() : nullptr;
  if (!divisor || divisor.getOperand().getType() == divisor.getType() ||
      !getElementTypeOrSelf(division.getType()).isF32() || !isRoundedToHalf(division))
    return nullptr;
  return division;
}

static FailureOr<Value> evaluateDivision(Emitter &e, arith::DivFOp division, const Point &point) {
  FailureOr<Value> x = e.evaluate(division.getLhs(), point),
                   y = e.evaluate(division.getRhs(), point);
  if (failed(x) || failed(y))
    return failure();
  return emitDivisionByShared(e.b, e.loc, *x, *y);
}

FailureOr<Value> Emitter::evaluateSource(Operation *op, const Point &point, Point source) {
  Value operand = op->getOperand(0);
  if (source.empty() || point.empty() || !source.back().same(point.back()))
    return evaluate(operand, source);
  FailureOr<Value> own = failure();
  for (const Point &at : groupOf(point)) {
    source.back() = at.back();
    FailureOr<Value> value = evaluate(operand, source);
    if (failed(value))
      return failure();
    setElement(op->getResult(0), at, *value);
    if (at.back().same(point.back()))
      own = value;
  }
  return own;
}

LogicalResult Emitter::readAhead(Value tile, const Point &point, ArrayRef<tile::LoadOp> loads) {
  Operation *op = tile.getDefiningOp();
  if (!op || known.contains(keyOf(tile, onlyPoint(tile, point))))
    return success();
  if (auto load = dyn_cast<tile::LoadOp>(op))
    return llvm::is_contained(loads, load) ? LogicalResult(evaluate(tile, point)) : success();
  if (auto source = sourcePoint(*this, op, point))
    return readAhead(op->getOperand(0), *source, loads);
  if (tile::isElementwise(op))
    for (Value operand : op->getOperands())
      if (isa<RankedTensorType>(operand.getType()) && failed(readAhead(operand, point, loads)))
        return failure();
  return success();
}

FailureOr<Value> Emitter::compute(Value tile, const Point &point) {
  if (auto found = materialized.find(tile); found != materialized.end())
    return readTile(tile, found->second, point);
  if (Value element = elementOfRow(tile, point))
    return element;
  Operation *op = tile.getDefiningOp();
  if (auto source = sourcePoint(*this, op, point))
    return evaluateSource(op, point, *source);
  if (auto difference = expOfDifference(op))
    return evaluateExp(*this, *difference, point);
  if (arith::DivFOp division = divisionByShared(op))
    return evaluateDivision(*this, division, point);
  if (tile::isElementwise(op)) {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      bool isTile = isa<RankedTensorType>(operand.getType());
      FailureOr<Value> value = isTile ? evaluate(operand, point) : FailureOr(scalar(operand));
      if (failed(value))
        return failure();
      operands.push_back(*value);
    }
    return elementwise(op, operands);
  }
  return llvm::TypeSwitch<Operation *, FailureOr<Value>>(op)
      .Case([&](tile::LoadOp o) { return load(o, point); })
      .Case([&](tile::GatherOp o) { return gather(o, point); })
      .Case([&](tile::FullOp o) { return FailureOr(scalar(o.getValue())); })
      .Case([&](tile::IotaOp o) { return FailureOr(iota(*this, o, point)); })
      .Default([&](Operation *o) -> FailureOr<Value> {
        return refuse(o, "its elements cannot be computed one by one");
      });
}

} // namespace tw::target::nvidia
