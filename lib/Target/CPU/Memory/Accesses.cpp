// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loads, gathers and stores at a point.
#include "Target/CPU/Memory/AccessPlaces.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tw::target::cpu {
namespace {

/// The elements of one vector, or one element, where the condition of a place holds.
class PlaceReader {
public:
  /// `isPadded`: lanes that the mask turns off are to hold `pad`.
  PlaceReader(Emitter &e, const Buffer &buffer, AccessPlace &place, Value pad, bool isPadded)
      : e(e), buffer(buffer), place(place), pad(pad), isPadded(isPadded) {
    auto step = place.laneStride.constant();
    for (auto [lane, offset] : llvm::enumerate(place.offsets))
      offset += step.value_or(0) * int64_t(lane);
    if (!place.offsets.empty() && step)
      place.laneStride = 0;
  }

  /// Whether there is an element for each lane.
  bool isVector() const {
    return place.indices || !place.each.empty() || !place.offsets.empty() ||
           !place.laneStride.is(0) || isMaskedByLane();
  }

  Value read() {
    Type element = buffer.element;
    if (!place.each.empty() && !place.indices && !hasOwnLanes() && !isMaskedByLane())
      return e.loadEach(buffer.base, element, place.index, place.each);
    bool isNear = !place.indices && place.each.empty() && place.laneStride.isConstant();
    if (isNear && place.offsets.empty() && !(isVector() && place.laneStride.is(0)))
      return e.loadFrom(buffer.base, element, place.index, isVector(), place.laneStride.estimate(1),
                        place.mask, pad);
    if (isNear && !place.offsets.empty())
      if (Value value = e.loadNear(buffer.base, element, place.index, place.offsets, place.mask,
                                   isPadded ? pad : Value()))
        return value;
    return e.gatherFrom(buffer.base, element, indices(), place.mask, pad);
  }

private:
  bool isMaskedByLane() const { return place.mask && isa<VectorType>(place.mask.getType()); }
  bool hasOwnLanes() const { return !place.offsets.empty() || !place.laneStride.is(0); }

  /// The indices of all lanes.
  Value indices() {
    auto add = [&](Value a, Value b) -> Value {
      return a ? Value(arith::AddIOp::create(e.b, e.loc, a, b)) : b;
    };
    Value all = add(place.indices, e.splat(e.ix().value(place.index)));
    if (!place.offsets.empty()) {
      auto type = VectorType::get(int64_t(e.lanes), e.b.getI64Type());
      all = add(all, arith::ConstantOp::create(
                         e.b, e.loc, DenseElementsAttr::get(type, ArrayRef(place.offsets))));
    }
    if (!place.laneStride.is(0))
      all = add(all, arith::MulIOp::create(e.b, e.loc, e.laneOffsets(1),
                                           e.splat(e.ix().value(place.laneStride))));
    if (!place.each.empty())
      all = add(all, e.fromLanes(e.b.getI64Type(), place.each));
    return all;
  }

  Emitter &e;
  const Buffer &buffer;
  AccessPlace &place;
  Value pad;
  bool isPadded;
};

} // namespace

/// What `op`, a load or a gather, reads at a point.
template <typename Op>
static FailureOr<Value> readPlace(Emitter &e, Op op, const Box &box, const Point &point) {
  FailureOr<AccessPlace> place = placeOf(e, box, point);
  if (failed(place))
    return failure();
  const Buffer &buffer = e.buffers.find(box.buffer)->second;
  bool isPadded = bool(place->mask);
  // One element for all lanes may be read for those that the strip has not, too.
  bool isOne = !place->mask && !place->indices && place->each.empty() && place->offsets.empty() &&
               place->laneStride.is(0);
  if (point.lane >= 0 && !isOne)
    place->mask = e.both(place->mask, e.mask);
  Value pad;
  if (place->mask || place->condition)
    pad = op.getPad() ? e.scalar(op.getPad()) : e.constant(buffer.element, 0);
  OpBuilder &b = e.b;
  if constexpr (std::is_same_v<Op, tile::LoadOp>)
    if (!pad && !place->indices && place->each.empty() && place->laneStride.is(1))
      e.prefetchNext(op, place->index);
  PlaceReader reader(e, buffer, *place, pad, isPadded);
  if (!place->condition)
    return reader.read();
  Value other = reader.isVector() ? e.splat(pad) : pad;
  auto choice = scf::IfOp::create(b, e.loc, TypeRange{other.getType()}, place->condition, true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(choice.thenBlock());
  scf::YieldOp::create(b, e.loc, reader.read());
  b.setInsertionPointToStart(choice.elseBlock());
  scf::YieldOp::create(b, e.loc, other);
  return choice.getResult(0);
}

/// The same, with positions that are checked here in two versions: where all are good, and else.
template <typename Op>
static FailureOr<Value> readBox(Emitter &e, Op op, const Box &box, const Point &point) {
  auto isLane = [&](unsigned d) {
    return e.lanes > 1 && point.lane >= 0 && (box.isGather || int(d) == point.lane);
  };
  SmallVector<Operation *> checks;
  FailureOr<Value> good = e.goodPositions(
      box.positions, [&](unsigned d) { return box.pointIn(point, d, isLane(d)); }, checks);
  if (failed(good))
    return failure();
  if (!*good)
    return readPlace(e, op, box, point);
  OpBuilder &b = e.b;
  auto versions = scf::IfOp::create(b, e.loc, e.typeOf(op.getType().getElementType(), true), *good,
                                    /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  for (bool isGood : {true, false}) {
    Emitter::Scope scope(e);
    b.setInsertionPointToStart(isGood ? versions.thenBlock() : versions.elseBlock());
    if (isGood)
      e.trustedChecks.insert(checks.begin(), checks.end());
    FailureOr<Value> value = readPlace(e, op, box, point);
    for (Operation *check : checks)
      e.trustedChecks.erase(check);
    if (failed(value))
      return failure();
    scf::YieldOp::create(b, e.loc, e.asVector(*value));
  }
  return versions.getResult(0);
}

FailureOr<Value> Emitter::load(tile::LoadOp op, const Point &point) {
  return readBox(*this, op, {op, op.getBuffer(), op.getPositions(), op.getStrides(), op.getMask()},
                 point);
}

FailureOr<Value> Emitter::gather(tile::GatherOp op, const Point &point) {
  return readBox(*this, op, {op, op.getBuffer(), op.getPositions(), {}, op.getMask(), true}, point);
}

LogicalResult Emitter::store(tile::StoreOp op, const Point &point) {
  FailureOr<Value> value = evaluate(op.getTile(), point);
  if (failed(value))
    return failure();
  Box box{op, op.getBuffer(), op.getPositions(), op.getStrides(), op.getMask()};
  FailureOr<AccessPlace> place = placeOf(*this, box, point);
  if (failed(place))
    return failure();
  const Buffer &buffer = buffers.find(op.getBuffer())->second;
  if (op.getUpdate()) {
    updateElement(*value, buffer, place->index, op.getUpdate(),
                  both(place->mask, place->condition));
    return success();
  }
  OpBuilder::InsertionGuard guard(b);
  if (place->condition)
    b.setInsertionPointToStart(scf::IfOp::create(b, loc, place->condition, false).thenBlock());
  Value lanesMask = both(place->mask, mask);
  Value stored = point.lane >= 0 ? asVector(*value) : *value;
  if (!lanesMask && place->laneStride.is(1) && storeNonTemporal(stored, buffer, place->index))
    return success();
  storeTo(stored, buffer.base, op.getTile().getType().getElementType(), place->index,
          place->laneStride, lanesMask);
  return success();
}

} // namespace tw::target::cpu
