// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loads, gathers and stores at a point: the element's place in the buffer, and which lanes are
// inside it.
#include "Target/CPU/Emitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include <limits>

using namespace mlir;

namespace tw::target::cpu {
namespace {

/// Where an access touches its buffer: element `index` (+ lane * laneStride), if `mask`.
struct Place {
  Ix index = 0;
  Value indices;                // a vector that comes in addition, of positions from data
  SmallVector<Value> each;      // the same as scalars, for the lanes that count
  SmallVector<int64_t> offsets; // of the lanes, in addition
  Ix laneStride = 0;
  Value mask;
  Value condition; // one for all lanes: beyond the buffer nothing may be touched, masked or not
};

/// What accesses have in common.
struct Box {
  Operation *op;
  Value buffer;
  OperandRange positions;
  ArrayRef<int64_t> strides;
  Value mask;
  bool isGather = false; // positions are tiles of the result's shape

  /// Where the position along `d` is in its tile.
  Point pointIn(const Point &point, unsigned d, bool isLane) const {
    return isGather ? point : Point{{point.at[d]}, isLane ? 0 : -1, point.step};
  }
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
      restrictTo(*mask);
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
    auto isInside =
        e.ranges.staysInside(span < 0 ? e.ix().add(at, span) : at, std::abs(span), size);
    if (isInside == true)
      return;
    if (step == 0) {
      place.condition = e.both(place.condition, e.ix().inside(at, size));
      return;
    }
    if (at.isConstant() && size.isConstant()) {
      SmallVector<int64_t> numbers;
      for (unsigned lane = 0; lane < e.lanes; ++lane)
        numbers.push_back(*at.constant() + int64_t(lane) * step);
      knownLanes(numbers, *size.constant());
      return;
    }
    Value places =
        arith::AddIOp::create(e.b, e.loc, e.splat(e.ix().value(at)), e.laneOffsets(step));
    restrictTo(arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::ult, places,
                                     e.splat(e.ix().value(size))));
  }

  /// Only where a mask holds; one for all lanes is a condition.
  void restrictTo(Value mask) {
    auto known = e.constantLanes(mask);
    if (known && llvm::all_of(*known, [](bool isOn) { return isOn; }))
      return;
    Value one = isa<VectorType>(mask.getType()) ? e.sameInAll(mask) : mask;
    if (one)
      place.condition = e.both(place.condition, one);
    else
      place.mask = e.both(place.mask, mask);
  }

  void knownLanes(ArrayRef<int64_t> numbers, int64_t size) {
    SmallVector<bool> wanted;
    for (int64_t number : numbers)
      wanted.push_back(number >= 0 && number < size);
    SmallVector<bool> counted = countedLanes();
    bool isImplied = llvm::all_of(llvm::seq(e.lanes),
                                  [&](unsigned lane) { return wanted[lane] || !counted[lane]; });
    if (isImplied)
      return;
    auto type = VectorType::get(int64_t(e.lanes), e.b.getI1Type());
    Value mask =
        arith::ConstantOp::create(e.b, e.loc, DenseElementsAttr::get(type, ArrayRef(wanted)));
    place.mask = e.both(place.mask, mask);
  }

  /// The lanes that the strip has, where that is known.
  SmallVector<bool> countedLanes() {
    auto known = e.mask && point.lane >= 0 ? e.constantLanes(e.mask) : std::nullopt;
    return known ? *known : SmallVector<bool>(e.lanes, true);
  }

  /// The position is element point.at[d] of a tile, or, for a gather, that at the point.
  LogicalResult indexed(unsigned d) {
    Value tile = box.positions[d];
    bool isLane = e.lanes > 1 && point.lane >= 0 && (box.isGather || int(d) == point.lane);
    Point inTile = box.pointIn(point, d, isLane);
    bool isChecked = e.isChecked(tile, buffer.sizes[d]);
    bool isKnownStrip = !e.mask || e.constantLanes(e.mask);
    if (isLane && isChecked && isKnownStrip && liesInMemory(tile))
      return oneByOne(d, tile, inTile);
    Point given = inTile;
    if (Value positions = isLane ? e.trusted(tile, given) : Value())
      return oneByOne(d, positions, given);
    FailureOr<Value> position = e.evaluate(tile, inTile);
    if (failed(position))
      return failure();
    Value at = *position;
    bool isVector = isa<VectorType>(at.getType());
    Type wide = e.typeOf(e.b.getI64Type(), isVector);
    if (at.getType() != wide)
      at = arith::ExtSIOp::create(e.b, e.loc, wide, at);
    if (auto line = e.lines.find({box.op, d});
        isVector && line != e.lines.end() && e.inside.contains({box.op, d})) {
      FailureOr<Value> first = e.evaluate(tile, {{Ix(0)}, -1, 1});
      if (failed(first))
        return failure();
      IndexBuilder ix = e.ix();
      Ix start = ix.add(Ix::of(*first), ix.mul(point.at[d], line->second));
      place.index = ix.add(place.index, ix.mul(start, buffer.strides[d]));
      place.laneStride =
          ix.add(place.laneStride, ix.mul(buffer.strides[d], line->second * point.step));
      return success();
    }
    if (!isVector) {
      auto folded = e.laneSum(at);
      Ix one = folded ? folded->base : Ix::of(at);
      if (!isChecked && !e.inside.contains({box.op, d}))
        restrict(one, 0, buffer.sizes[d]);
      place.index = e.ix().add(place.index, e.ix().mul(one, buffer.strides[d]));
      return success();
    }
    if (auto sum = e.positions(tile, inTile, at)) {
      add(*sum, d, at);
      return success();
    }
    if (!isChecked)
      restrictTo(arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::ult, at,
                                       e.splat(e.ix().value(buffer.sizes[d]))));
    addVector(at, buffer.strides[d]);
    return success();
  }

  void addVector(Value at, const Ix &stride) {
    Value offset = at;
    if (!stride.is(1))
      offset = arith::MulIOp::create(e.b, e.loc, at, e.splat(e.ix().value(stride)));
    place.indices =
        place.indices ? Value(arith::AddIOp::create(e.b, e.loc, place.indices, offset)) : offset;
  }

  /// Positions that are a scalar and a number for each lane.
  void add(const LaneSum &sum, unsigned d, Value vector) {
    IndexBuilder ix = e.ix();
    SmallVector<bool> counted = countedLanes();
    int64_t least = std::numeric_limits<int64_t>::max(), most = std::numeric_limits<int64_t>::min();
    std::optional<int64_t> step;
    bool isLinear = true;
    for (unsigned lane = 0; lane < e.lanes; ++lane) {
      if (!counted[lane])
        continue;
      least = std::min(least, sum.offsets[lane]);
      most = std::max(most, sum.offsets[lane]);
      if (lane > 0 && counted[lane - 1]) {
        int64_t own = sum.offsets[lane] - sum.offsets[lane - 1];
        isLinear &= own == step.value_or(own);
        step = own;
      } else if (lane > 0) {
        isLinear = false;
      }
    }
    const Ix &size = buffer.sizes[d], &stride = buffer.strides[d];
    if (least <= most &&
        e.ranges.staysInside(ix.add(sum.base, least), most - least, size) != true) {
      if (isLinear && step.value_or(0) == 0)
        restrict(ix.add(sum.base, least), 0, size);
      else if (sum.base.isConstant() && size.isConstant())
        knownLanes(sum.numbers(), *size.constant());
      else
        restrictTo(arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::ult, vector,
                                         e.splat(e.ix().value(size))));
    }
    if (isLinear) {
      place.index = ix.add(place.index, ix.mul(ix.add(sum.base, sum.offsets[0]), stride));
      place.laneStride = ix.add(place.laneStride, ix.mul(stride, step.value_or(0)));
      return;
    }
    if (!stride.isConstant())
      return addVector(vector, stride);
    place.index = ix.add(place.index, ix.mul(sum.base, stride));
    place.offsets.resize(e.lanes, 0);
    for (auto [offset, own] : llvm::zip(place.offsets, sum.offsets))
      offset += own * *stride.constant();
  }

  /// Whether the elements of a tile are read one by one as cheaply as several at once.
  bool liesInMemory(Value tile) const {
    while (!e.memory.contains(tile) &&
           isa_and_present<tile::ReshapeOp, tile::BroadcastOp>(tile.getDefiningOp()))
      tile = tile.getDefiningOp()->getOperand(0);
    return e.memory.contains(tile);
  }

  /// Positions from data that lie in memory: single loads are as fast as a gather's, and need no
  /// vector that is taken apart.
  LogicalResult oneByOne(unsigned d, Value tile, Point at) {
    IndexBuilder ix = e.ix();
    bool isFirst = place.each.empty();
    place.each.resize(e.lanes);
    SmallVector<bool> counted = countedLanes();
    int lane = std::exchange(at.lane, -1);
    Ix first = at.at[lane];
    for (unsigned number = 0; number < e.lanes; ++number) {
      if (!counted[number])
        continue;
      at.at[lane] = ix.add(first, int64_t(number) * at.step);
      FailureOr<Value> position = e.evaluate(tile, at);
      if (failed(position))
        return failure();
      Value one = *position;
      if (!one.getType().isInteger(64))
        one = arith::ExtSIOp::create(e.b, e.loc, e.b.getI64Type(), one);
      Ix offset = ix.mul(Ix::of(one), buffer.strides[d]);
      Value &sum = place.each[number];
      sum = ix.value(isFirst ? offset : ix.add(Ix::of(sum), offset));
    }
    return success();
  }

  Emitter &e;
  const Box &box;
  const Point &point;
  const Buffer &buffer;
  Place place;
};

/// The elements of one vector, or one element, where the condition of a place holds.
class PlaceReader {
public:
  /// `isPadded`: lanes that the mask turns off are to hold `pad`.
  PlaceReader(Emitter &e, const Buffer &buffer, Place &place, Value pad, bool isPadded)
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
  Place &place;
  Value pad;
  bool isPadded;
};

} // namespace

/// What `op`, a load or a gather, reads at a point.
template <typename Op>
static FailureOr<Value> readPlace(Emitter &e, Op op, const Box &box, const Point &point) {
  FailureOr<Place> place = PlaceFinder(e, box, point).find();
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
      e.fetchNext(op, place->index);
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
