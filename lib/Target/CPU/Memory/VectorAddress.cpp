// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/CPU/Memory/VectorAddress.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include <limits>

using namespace mlir;

namespace tw::target::cpu {
namespace {

class VectorAddressBuilder {
public:
  VectorAddressBuilder(Emitter &e, const Box &box, const Point &point)
      : e(e), box(box), point(point), buffer(e.buffers.find(box.buffer)->second) {}

  FailureOr<VectorAddress> build() {
    if (box.mask) {
      FailureOr<Value> mask = e.evaluate(box.mask, point);
      if (failed(mask))
        return failure();
      restrictTo(*mask);
    }
    for (unsigned d = 0; d < buffer.sizes.size(); ++d)
      if (failed(isa<RankedTensorType>(box.positions[d].getType()) ? indexed(d) : plain(d)))
        return failure();
    return address;
  }

private:
  LogicalResult plain(unsigned d) {
    IndexBuilder ix = e.ix();
    int64_t stride = box.strides.empty() ? 1 : box.strides[d];
    Ix at = ix.add(e.index(box.positions[d]), ix.mul(point.at[d], stride));
    bool isLane = int(d) == point.lane && e.lanes > 1;
    if (!e.inside.contains({box.op, d}))
      restrict(at, isLane ? point.step * stride : 0, buffer.sizes[d]);
    address.index = ix.add(address.index, ix.mul(at, buffer.strides[d]));
    if (isLane)
      address.laneStride = ix.mul(buffer.strides[d], point.step * stride);
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
      address.condition = e.both(address.condition, e.ix().inside(at, size));
      return;
    }
    if (at.isConstant() && size.isConstant()) {
      SmallVector<int64_t> numbers;
      for (unsigned lane = 0; lane < e.lanes; ++lane)
        numbers.push_back(*at.constant() + int64_t(lane) * step);
      knownLanes(numbers, *size.constant());
      return;
    }
    if (step == 1 && e.ranges.isNonNegative(at))
      return restrictTo(lanesBefore(at, size));
    Value positions =
        arith::AddIOp::create(e.b, e.loc, e.splat(e.ix().value(at)), e.laneOffsets(step));
    restrictTo(arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::ult, positions,
                                     e.splat(e.ix().value(size))));
  }

  /// The lanes from `at` on that are before `size`. They are counted in 32 bits, not in 64: one
  /// vector has the numbers of all lanes, and the products beside it need the registers.
  Value lanesBefore(const Ix &at, const Ix &size) {
    IndexBuilder ix = e.ix();
    Ix count = ix.min(ix.max(ix.sub(size, at), 0), int64_t(e.lanes));
    return e.firstLanes(count, e.lanes);
  }

  /// Only where a mask holds; one for all lanes is a condition.
  void restrictTo(Value mask) {
    auto known = e.constantLanes(mask);
    if (known && llvm::all_of(*known, [](bool isOn) { return isOn; }))
      return;
    Value one = isa<VectorType>(mask.getType()) ? e.sameInAll(mask) : mask;
    if (one)
      address.condition = e.both(address.condition, one);
    else
      address.mask = e.both(address.mask, mask);
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
    address.mask = e.both(address.mask, mask);
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
    if (!isVector)
      return addOne(d, at, isChecked);
    auto line = e.lines.find({box.op, d});
    bool isLine = line != e.lines.end() && e.inside.contains({box.op, d});
    return isLine ? onLine(d, line->second) : inVector(d, at, inTile, isChecked);
  }

  /// The same position for all lanes.
  LogicalResult addOne(unsigned d, Value at, bool isChecked) {
    auto folded = e.baseAndLaneOffsets(at);
    Ix one = folded ? folded->base : Ix::of(at);
    if (!isChecked && !e.inside.contains({box.op, d}))
      restrict(one, 0, buffer.sizes[d]);
    address.index = e.ix().add(address.index, e.ix().mul(one, buffer.strides[d]));
    return success();
  }

  /// All positions of the tile are a line, and inside.
  LogicalResult onLine(unsigned d, int64_t slope) {
    FailureOr<Value> first = e.evaluate(box.positions[d], {{Ix(0)}, -1, 1});
    if (failed(first))
      return failure();
    IndexBuilder ix = e.ix();
    Ix start = ix.add(Ix::of(*first), ix.mul(point.at[d], slope));
    address.index = ix.add(address.index, ix.mul(start, buffer.strides[d]));
    address.laneStride = ix.add(address.laneStride, ix.mul(buffer.strides[d], slope * point.step));
    return success();
  }

  LogicalResult inVector(unsigned d, Value at, const Point &inTile, bool isChecked) {
    if (auto sum = e.positions(at, inTile)) {
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
    address.indices = address.indices
                          ? Value(arith::AddIOp::create(e.b, e.loc, address.indices, offset))
                          : offset;
  }

  /// Positions that are a scalar and a number for each lane.
  void add(const BasePlusLaneOffsets &sum, unsigned d, Value vector) {
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
      address.index = ix.add(address.index, ix.mul(ix.add(sum.base, sum.offsets[0]), stride));
      address.laneStride = ix.add(address.laneStride, ix.mul(stride, step.value_or(0)));
      return;
    }
    if (!stride.isConstant())
      return addVector(vector, stride);
    address.index = ix.add(address.index, ix.mul(sum.base, stride));
    address.offsets.resize(e.lanes, 0);
    for (auto [offset, own] : llvm::zip(address.offsets, sum.offsets))
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
    bool isFirst = address.each.empty();
    address.each.resize(e.lanes);
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
      Value &sum = address.each[number];
      sum = ix.value(isFirst ? offset : ix.add(Ix::of(sum), offset));
    }
    return success();
  }

  Emitter &e;
  const Box &box;
  const Point &point;
  const Buffer &buffer;
  VectorAddress address;
};

} // namespace

FailureOr<VectorAddress> vectorAddress(Emitter &e, const Box &box, const Point &point) {
  return VectorAddressBuilder(e, box, point).build();
}

} // namespace tw::target::cpu
