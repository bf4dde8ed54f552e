// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loads and stores at a point: the element's place in the buffer, and which lanes are inside it.
#include "Target/CPU/Emitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tw::target::cpu {
namespace {

/// Where an access touches its buffer: element `index` (+ lane * laneStride), if `mask`.
struct Place {
  Ix index = 0;
  Value indices; // a vector, where lanes lie at positions from a tile
  Ix laneStride = 0;
  Value mask;
  Value condition; // one for all lanes: beyond the buffer nothing may be touched, masked or not
};

/// What load and store have in common.
struct Box {
  Operation *op;
  Value buffer;
  OperandRange positions;
  ArrayRef<int64_t> strides;
  Value mask;
};

class PlaceFinder {
public:
  PlaceFinder(Emitter &e, const Box &box, const Point &point)
      : e(e), box(box), point(point), buffer(e.buffers.find(box.buffer)->second) {}

  FailureOr<Place> find() {
    if (box.mask) {
      FailureOr<Value> mask = e.evaluate(box.mask, point);
      if (failed(mask))
        return failure();
      place.mask = *mask;
    }
    for (unsigned d = 0; d < buffer.sizes.size(); ++d)
      if (failed(isa<RankedTensorType>(box.positions[d].getType()) ? indexed(d) : plain(d)))
        return failure();
    return place;
  }

private:
  LogicalResult plain(unsigned d) {
    IndexBuilder ix = e.ix();
    int64_t stride = box.strides.empty() ? 1 : box.strides[d];
    Ix at = ix.add(e.index(box.positions[d]), ix.mul(point.at[d], stride));
    bool isLane = int(d) == point.lane && e.lanes > 1;
    if (!e.inside.contains({box.op, d}))
      restrict(at, isLane ? point.step * stride : 0, buffer.sizes[d]);
    place.index = ix.add(place.index, ix.mul(at, buffer.strides[d]));
    if (isLane)
      place.laneStride = ix.mul(buffer.strides[d], point.step * stride);
    return success();
  }

  /// Lanes at position at + lane * step have to be in [0, size).
  void restrict(const Ix &at, int64_t step, const Ix &size) {
    int64_t span = step * int64_t(e.lanes - 1);
    auto isInside = e.staysInside(span < 0 ? e.ix().add(at, span) : at, std::abs(span), size);
    if (isInside == true)
      return;
    if (step == 0) {
      place.condition = e.both(place.condition, e.ix().inside(at, size));
      return;
    }
    if (at.isConstant() && size.isConstant()) {
      knownLanes(*at.constant(), step, *size.constant());
      return;
    }
    Value places =
        arith::AddIOp::create(e.b, e.loc, e.splat(e.ix().value(at)), e.laneOffsets(step));
    Value bound = e.splat(e.ix().value(size));
    place.mask = e.both(
        place.mask, arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::ult, places, bound));
  }

  /// Whether a tile of positions comes out of a check that they are in [0, size).
  bool isChecked(Value tile, const Ix &size) {
    while (auto reshape = tile.getDefiningOp<tile::ReshapeOp>())
      tile = reshape.getOperand();
    auto check = tile.getDefiningOp<tile::CheckOp>();
    auto bound = check ? e.index(check.getBound()).constant() : std::nullopt;
    auto room = size.constant();
    return bound && room && *bound >= 1 && *bound <= *room;
  }

  void knownLanes(int64_t at, int64_t step, int64_t size) {
    SmallVector<bool> wanted;
    for (unsigned lane = 0; lane < e.lanes; ++lane, at += step)
      wanted.push_back(at >= 0 && at < size);
    DenseElementsAttr counted; // by the strip
    bool isKnown = e.mask && point.lane >= 0 && matchPattern(e.mask, m_Constant(&counted));
    bool isImplied = llvm::all_of(llvm::seq(e.lanes), [&](unsigned lane) {
      return wanted[lane] || (isKnown && !counted.getValues<bool>()[lane]);
    });
    if (isImplied)
      return;
    auto type = VectorType::get(int64_t(e.lanes), e.b.getI1Type());
    Value mask =
        arith::ConstantOp::create(e.b, e.loc, DenseElementsAttr::get(type, ArrayRef(wanted)));
    place.mask = e.both(place.mask, mask);
  }

  /// The position is element point.at[d] of a tile.
  LogicalResult indexed(unsigned d) {
    bool isLane = int(d) == point.lane && e.lanes > 1;
    Point inTile{{point.at[d]}, isLane ? 0 : -1, point.step};
    FailureOr<Value> position = e.evaluate(box.positions[d], inTile);
    if (failed(position))
      return failure();
    Type wide = e.typeOf(e.b.getI64Type(), isa<VectorType>(position->getType()));
    Value at = *position;
    if (at.getType() != wide)
      at = arith::ExtSIOp::create(e.b, e.loc, wide, at);
    auto fit = [&](const Ix &x) {
      Value scalar = e.ix().value(x);
      return isa<VectorType>(wide) ? e.splat(scalar) : scalar;
    };
    if (!isChecked(box.positions[d], buffer.sizes[d]))
      place.mask = e.both(place.mask, arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::ult,
                                                            at, fit(buffer.sizes[d])));
    Value offset = arith::MulIOp::create(e.b, e.loc, at, fit(buffer.strides[d]));
    if (isa<VectorType>(wide))
      place.indices = offset;
    else
      place.index = e.ix().add(place.index, Emitter::ixOf(offset));
    return success();
  }

  Emitter &e;
  const Box &box;
  const Point &point;
  const Buffer &buffer;
  Place place;
};

} // namespace

/// What is read where the condition holds.
static Value readPlace(Emitter &e, tile::LoadOp op, const Place &place, Value pad, bool isAlong) {
  const Buffer &buffer = e.buffers.find(op.getBuffer())->second;
  Type element = op.getType().getElementType();
  IndexBuilder ix = e.ix();
  auto gather = [&](Value offsets) {
    Value first = e.splat(ix.value(place.index));
    Value at = offsets ? Value(arith::AddIOp::create(e.b, e.loc, offsets, first)) : first;
    return e.gatherFrom(buffer.base, element, at, place.mask, pad);
  };
  if (place.indices)
    return gather(place.indices);
  auto step = place.laneStride.constant();
  if (isAlong && !step)
    return gather(
        arith::MulIOp::create(e.b, e.loc, e.laneOffsets(1), e.splat(ix.value(place.laneStride))));
  bool isVector = isAlong || (place.mask && isa<VectorType>(place.mask.getType()));
  if (isVector && place.laneStride.is(0)) // one element, wanted by some lanes
    return gather({});
  return e.loadFrom(buffer.base, element, place.index, isVector, step.value_or(1), place.mask, pad);
}

FailureOr<Value> Emitter::load(tile::LoadOp op, const Point &point) {
  Box box{op, op.getBuffer(), op.getPositions(), op.getStrides(), op.getMask()};
  FailureOr<Place> place = PlaceFinder(*this, box, point).find();
  if (failed(place))
    return failure();
  Type element = op.getType().getElementType();
  place->mask = both(place->mask, point.lane >= 0 ? mask : Value());
  Value pad;
  if (place->mask || place->condition)
    pad = op.getPad() ? scalar(op.getPad()) : constant(element, 0);
  else if (!place->indices && place->laneStride.is(1))
    fetchNext(op, place->index);
  bool isAlong = point.lane >= 0 && lanes > 1 && !place->laneStride.is(0);
  if (!place->condition)
    return readPlace(*this, op, *place, pad, isAlong);
  bool isVector =
      isAlong || place->indices || (place->mask && isa<VectorType>(place->mask.getType()));
  Value other = isVector ? splat(pad) : pad;
  auto choice = scf::IfOp::create(b, loc, TypeRange{other.getType()}, place->condition, true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(choice.thenBlock());
  Value read = readPlace(*this, op, *place, pad, isAlong);
  scf::YieldOp::create(b, loc, read);
  b.setInsertionPointToStart(choice.elseBlock());
  scf::YieldOp::create(b, loc, other);
  return choice.getResult(0);
}

LogicalResult Emitter::store(tile::StoreOp op, const Point &point) {
  FailureOr<Value> value = evaluate(op.getTile(), point);
  if (failed(value))
    return failure();
  Box box{op, op.getBuffer(), op.getPositions(), op.getStrides(), op.getMask()};
  FailureOr<Place> place = PlaceFinder(*this, box, point).find();
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
  if (!lanesMask && place->laneStride.is(1) && streamTo(stored, buffer, place->index))
    return success();
  storeTo(stored, buffer.base, op.getTile().getType().getElementType(), place->index,
          place->laneStride, lanesMask);
  return success();
}

} // namespace tw::target::cpu
