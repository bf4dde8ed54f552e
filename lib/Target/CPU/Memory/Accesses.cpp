// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loads, gathers and stores at a point.
#include "Target/CPU/Memory/VectorAddress.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tw::target::cpu {
namespace {

/// The elements of one vector, or one element, where the condition of an address holds.
class VectorReader {
public:
  /// `isPadded`: lanes that the mask turns off are to hold `pad`.
  VectorReader(Emitter &e, const Buffer &buffer, VectorAddress &address, Value pad, bool isPadded)
      : e(e), buffer(buffer), address(address), pad(pad), isPadded(isPadded) {
    auto step = address.laneStride.constant();
    for (auto [lane, offset] : llvm::enumerate(address.offsets))
      offset += step.value_or(0) * int64_t(lane);
    if (!address.offsets.empty() && step)
      address.laneStride = 0;
  }

  /// Whether there is an element for each lane.
  bool isVector() const {
    return address.indices || !address.each.empty() || !address.offsets.empty() ||
           !address.laneStride.is(0) || isMaskedByLane();
  }

  Value read() {
    Type element = buffer.element;
    if (!address.each.empty() && !address.indices && !hasOwnLanes() && !isMaskedByLane())
      return e.loadEach(buffer.base, element, address.index, address.each);
    bool isNear = !address.indices && address.each.empty() && address.laneStride.isConstant();
    if (isNear && address.offsets.empty() && !(isVector() && address.laneStride.is(0)))
      return e.loadFrom(buffer.base, element, address.index, isVector(),
                        address.laneStride.estimate(1), address.mask, pad);
    if (isNear && !address.offsets.empty())
      if (Value value = e.loadNear(buffer.base, element, address.index, address.offsets,
                                   address.mask, isPadded ? pad : Value()))
        return value;
    return e.gatherFrom(buffer.base, element, indices(), address.mask, pad);
  }

private:
  bool isMaskedByLane() const { return address.mask && isa<VectorType>(address.mask.getType()); }
  bool hasOwnLanes() const { return !address.offsets.empty() || !address.laneStride.is(0); }

  /// The indices of all lanes.
  Value indices() {
    auto add = [&](Value a, Value b) -> Value {
      return a ? Value(arith::AddIOp::create(e.b, e.loc, a, b)) : b;
    };
    Value all = add(address.indices, e.splat(e.ix().value(address.index)));
    if (!address.offsets.empty()) {
      auto type = VectorType::get(int64_t(e.lanes), e.b.getI64Type());
      all = add(all, arith::ConstantOp::create(
                         e.b, e.loc, DenseElementsAttr::get(type, ArrayRef(address.offsets))));
    }
    if (!address.laneStride.is(0))
      all = add(all, arith::MulIOp::create(e.b, e.loc, e.laneOffsets(1),
                                           e.splat(e.ix().value(address.laneStride))));
    if (!address.each.empty())
      all = add(all, e.fromLanes(e.b.getI64Type(), address.each));
    return all;
  }

  Emitter &e;
  const Buffer &buffer;
  VectorAddress &address;
  Value pad;
  bool isPadded;
};

} // namespace

/// What `op`, a load or a gather, reads at a point.
template <typename Op>
static FailureOr<Value> readVector(Emitter &e, Op op, const Box &box, const Point &point) {
  FailureOr<VectorAddress> address = vectorAddress(e, box, point);
  if (failed(address))
    return failure();
  const Buffer &buffer = e.buffers.find(box.buffer)->second;
  bool isPadded = bool(address->mask);
  // One element for all lanes may be read for those that the strip has not, too.
  bool isOne = !address->mask && !address->indices && address->each.empty() &&
               address->offsets.empty() && address->laneStride.is(0);
  if (point.lane >= 0 && !isOne)
    address->mask = e.both(address->mask, e.mask);
  Value pad;
  if (address->mask || address->condition)
    pad = op.getPad() ? e.scalar(op.getPad()) : e.constant(buffer.element, 0);
  OpBuilder &b = e.b;
  if constexpr (std::is_same_v<Op, tile::LoadOp>)
    if (!address->indices && address->each.empty() && address->laneStride.is(1)) {
      if (!pad)
        e.prefetchNext(op, address->index);
      e.prefetchLookups(op, point);
    }
  VectorReader reader(e, buffer, *address, pad, isPadded);
  if (!address->condition)
    return reader.read();
  Value other = reader.isVector() ? e.splat(pad) : pad;
  auto choice = scf::IfOp::create(b, e.loc, TypeRange{other.getType()}, address->condition, true);
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
    return readVector(e, op, box, point);
  OpBuilder &b = e.b;
  auto versions = scf::IfOp::create(b, e.loc, e.typeOf(op.getType().getElementType(), true), *good,
                                    /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  for (bool isGood : {true, false}) {
    Emitter::Scope scope(e);
    b.setInsertionPointToStart(isGood ? versions.thenBlock() : versions.elseBlock());
    if (isGood)
      e.trustedChecks.insert(checks.begin(), checks.end());
    FailureOr<Value> value = readVector(e, op, box, point);
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
  FailureOr<VectorAddress> address = vectorAddress(*this, box, point);
  if (failed(address))
    return failure();
  const Buffer &buffer = buffers.find(op.getBuffer())->second;
  if (op.getUpdate()) {
    updateElement(*value, buffer, address->index, op.getUpdate(),
                  both(address->mask, address->condition));
    return success();
  }
  OpBuilder::InsertionGuard guard(b);
  if (address->condition)
    b.setInsertionPointToStart(scf::IfOp::create(b, loc, address->condition, false).thenBlock());
  Value lanesMask = both(address->mask, mask);
  Value stored = point.lane >= 0 ? asVector(*value) : *value;
  if (!lanesMask && address->laneStride.is(1) && storeNonTemporal(stored, buffer, address->index))
    return success();
  storeTo(stored, buffer.base, op.getTile().getType().getElementType(), address->index,
          address->laneStride, lanesMask);
  return success();
}

} // namespace tw::target::cpu
