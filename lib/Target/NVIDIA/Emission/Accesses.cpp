// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loads, gathers, stores and scatters, an element at a time, and checks of positions.
#include "Target/Common/Index/Bounds.h"
#include "Target/Common/Operations/Updates.h"
#include "Target/NVIDIA/Emission/Emitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using tw::tile::Update;

namespace tw::target::nvidia {

FailureOr<ElementAddress> Emitter::elementAddress(Value of, OperandRange positions,
                                                  ArrayRef<int64_t> strides, Value mask,
                                                  Operation *op, const Point &point) {
  const Buffer buffer = buffers.find(of)->second;
  auto box = boxOf(op);
  ElementAddress where;
  if (mask) {
    FailureOr<Value> wanted = evaluate(mask, point);
    if (failed(wanted))
      return failure();
    where.condition = *wanted;
  }
  bool isGather = isa<tile::GatherOp, tile::ScatterOp>(op);
  for (auto [d, position] : llvm::enumerate(positions)) {
    Ix at;
    bool isTile = isa<RankedTensorType>(position.getType());
    if (isTile) {
      FailureOr<Value> found = evaluate(position, isGather ? point : Point{point[d]});
      if (failed(found))
        return failure();
      Value wide = *found;
      if (wide.getType() != b.getI64Type())
        wide = arith::ExtSIOp::create(b, loc, b.getI64Type(), wide);
      at = Ix::of(wide);
    } else {
      at = ix().add(index(position), ix().mul(point[d], strides.empty() ? 1 : strides[d]));
    }
    if (isTile || !isSurelyInside(kernel, *box, d))
      where.condition = both(where.condition, ix().inside(at, buffer.sizes[d]));
    where.index = ix().add(where.index, ix().mul(at, buffer.strides[d]));
  }
  return where;
}

Value Emitter::readElement(const Buffer &buffer, const ElementAddress &where, Value pad) {
  if (!where.condition)
    return loadFrom(buffer.base, buffer.element, where.index);
  Value other = pad ? scalar(pad) : constant(buffer.element, 0);
  auto choice = scf::IfOp::create(b, loc, TypeRange{other.getType()}, where.condition, true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(choice.thenBlock());
  scf::YieldOp::create(b, loc, loadFrom(buffer.base, buffer.element, where.index));
  b.setInsertionPointToStart(choice.elseBlock());
  scf::YieldOp::create(b, loc, other);
  return choice.getResult(0);
}

/// Whether neighbours along the last dimension of a box are neighbours in the buffer.
template <typename Op>
static bool areNeighbours(Op op) {
  return !op.getMask() && !op.getPositions().empty() &&
         !isa<RankedTensorType>(op.getPositions().back().getType()) &&
         (op.getStrides().empty() || op.getStrides().back() == 1);
}

template <typename Op>
FailureOr<GroupAddress> Emitter::groupAddress(Op op, ArrayRef<Point> group) {
  Value buffer = op.getBuffer();
  FailureOr<ElementAddress> first =
      elementAddress(buffer, op.getPositions(), op.getStrides(), {}, op, group.front());
  if (failed(first))
    return failure();
  GroupAddress where{*first, first->condition};
  auto count = int64_t(group.size());
  Ix begin = index(op.getPositions().back()), size = buffers.find(buffer)->second.sizes.back();
  int64_t multiple =
      std::min({multipleOf(begin), multipleOf(group.front().back()), multipleOf(size)});
  bool isInside = isSurelyInside(kernel, *boxOf(op), unsigned(op.getPositions().size()) - 1);
  where.areTogether = isInside || multiple % count == 0;
  if (!where.areTogether) {
    Ix last = ix().add(begin, group.back().back());
    where.condition = both(where.condition, ix().inside(last, size));
  }
  return where;
}

/// The values of all neighbours of a group; `otherwise` gives them where not all are there.
LogicalResult Emitter::loadGroup(tile::LoadOp op, ArrayRef<Point> group) {
  const Buffer buffer = buffers.find(op.getBuffer())->second;
  FailureOr<GroupAddress> where = groupAddress(op, group);
  if (failed(where))
    return failure();
  auto readOne = [&](const Point &point) -> FailureOr<Value> {
    FailureOr<ElementAddress> own =
        elementAddress(op.getBuffer(), op.getPositions(), op.getStrides(), {}, op, point);
    if (failed(own))
      return failure();
    return readElement(buffer, *own, op.getPad());
  };
  if (!where->areTogether && multipleOf(where->first.index) == 1) { // nothing to read together
    for (const Point &point : group) {
      FailureOr<Value> value = readOne(point);
      if (failed(value))
        return failure();
      setElement(op.getResult(), point, *value);
    }
    return success();
  }
  auto count = int64_t(group.size());
  auto loadAll = [&] { return loadFrom(buffer.base, buffer.element, where->first.index, count); };
  SmallVector<Value> values;
  if (!where->condition) {
    values = loadAll();
  } else {
    Value pad = op.getPad() ? scalar(op.getPad()) : constant(buffer.element, 0);
    SmallVector<Type> types(group.size(), pad.getType());
    auto choice = scf::IfOp::create(b, loc, types, where->condition, true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(choice.thenBlock());
    scf::YieldOp::create(b, loc, loadAll());
    b.setInsertionPointToStart(choice.elseBlock());
    SmallVector<Value> others(group.size(), pad);
    for (size_t i = 0; i < group.size() && !where->areTogether; ++i) {
      FailureOr<Value> own = readOne(group[i]);
      if (failed(own))
        return failure();
      others[i] = *own;
    }
    scf::YieldOp::create(b, loc, others);
    values.assign(choice.getResults().begin(), choice.getResults().end());
  }
  for (auto [point, value] : llvm::zip(group, values))
    setElement(op.getResult(), point, value);
  return success();
}

FailureOr<Value> Emitter::load(tile::LoadOp op, const Point &point) {
  if (SmallVector<Point> group = groupOf(point); group.size() > 1 && areNeighbours(op)) {
    if (failed(loadGroup(op, group)))
      return failure();
    return evaluate(op.getResult(), point);
  }
  FailureOr<ElementAddress> where =
      elementAddress(op.getBuffer(), op.getPositions(), op.getStrides(), op.getMask(), op, point);
  if (failed(where))
    return failure();
  return readElement(buffers.find(op.getBuffer())->second, *where, op.getPad());
}

FailureOr<Value> Emitter::gather(tile::GatherOp op, const Point &point) {
  FailureOr<ElementAddress> where =
      elementAddress(op.getBuffer(), op.getPositions(), {}, op.getMask(), op, point);
  if (failed(where))
    return failure();
  return readElement(buffers.find(op.getBuffer())->second, *where, op.getPad());
}

void Emitter::updateElement(Value value, const Buffer &buffer, const ElementAddress &where,
                            std::optional<Update> update) {
  OpBuilder::InsertionGuard guard(b);
  if (where.condition)
    b.setInsertionPointToStart(scf::IfOp::create(b, loc, where.condition, false).thenBlock());
  if (!update || *update == Update::Any) {
    storeTo(value, buffer.base, buffer.element, where.index);
    return;
  }
  LLVM::AtomicRMWOp::create(b, loc, atomicOf(*update, buffer.element),
                            address(buffer.base, buffer.element, where.index), value,
                            LLVM::AtomicOrdering::monotonic);
}

/// Whether this is the only operation of the kernel that touches its buffer, once a program: then
/// nothing waits for it.
static bool isOnlyAccess(Operation *store, Value buffer) {
  return buffer.hasOneUse() && isa<tile::KernelOp>(store->getParentOp());
}

void Emitter::settle(Operation *store, Value buffer) {
  if (!isOnlyAccess(store, buffer))
    barrier();
}

LogicalResult Emitter::storeElement(tile::StoreOp op, const Point &point) {
  FailureOr<Value> value = evaluate(op.getTile(), point);
  if (failed(value))
    return failure();
  return storeValue(op, point, *value, {});
}

LogicalResult Emitter::storeValue(tile::StoreOp op, const Point &point, Value value,
                                  Value isInside) {
  FailureOr<ElementAddress> where =
      elementAddress(op.getBuffer(), op.getPositions(), op.getStrides(), op.getMask(), op, point);
  if (failed(where))
    return failure();
  where->condition = both(isInside, where->condition);
  updateElement(value, buffers.find(op.getBuffer())->second, *where, op.getUpdate());
  return success();
}

static bool isPlainStore(tile::StoreOp op) {
  return !op.getUpdate() || *op.getUpdate() == Update::Any;
}

LogicalResult Emitter::storeGroup(tile::StoreOp op, const Group &group) {
  FailureOr<SmallVector<Value>> values = evaluate(op.getTile(), group);
  if (failed(values))
    return failure();
  auto storeOneByOne = [&](Value isInside) {
    for (auto [point, value] : llvm::zip(group.points, *values))
      if (failed(storeValue(op, point, value, isInside)))
        return failure();
    return success();
  };
  if (group.points.size() == 1 || !areNeighbours(op) || !isPlainStore(op))
    return storeOneByOne(group.isInside);
  const Buffer buffer = buffers.find(op.getBuffer())->second;
  FailureOr<GroupAddress> where = groupAddress(op, group.points);
  if (failed(where))
    return failure();
  OpBuilder::InsertionGuard guard(b);
  if (Value condition = both(group.isInside, where->condition)) {
    auto choice = scf::IfOp::create(b, loc, condition, !where->areTogether);
    if (!where->areTogether) {
      b.setInsertionPointToStart(choice.elseBlock());
      if (failed(storeOneByOne(group.isInside)))
        return failure();
    }
    b.setInsertionPointToStart(choice.thenBlock());
  }
  storeTo(*values, buffer.base, buffer.element, where->first.index);
  return success();
}

LogicalResult Emitter::store(tile::StoreOp op) {
  LogicalResult done =
      overGroups(extents(op.getTile()), [&](const Group &group) { return storeGroup(op, group); });
  settle(op, op.getBuffer());
  return done;
}

LogicalResult Emitter::scatter(tile::ScatterOp op) {
  LogicalResult done = overPoints(extents(op.getTile()), [&](const Point &point) -> LogicalResult {
    FailureOr<Value> value = evaluate(op.getTile(), point);
    FailureOr<ElementAddress> where =
        elementAddress(op.getBuffer(), op.getPositions(), {}, op.getMask(), op, point);
    if (failed(value) || failed(where))
      return failure();
    updateElement(*value, buffers.find(op.getBuffer())->second, *where, op.getUpdate());
    return success();
  });
  settle(op, op.getBuffer());
  return done;
}

/// `value` if it is in [0, bound), else 0, and the failure is recorded.
static Value checked(Emitter &e, Value value, const Ix &bound, Value wanted, int64_t message) {
  OpBuilder &b = e.b;
  Type type = value.getType(), i64 = b.getI64Type();
  Value wide = type == i64 ? value : Value(arith::ExtSIOp::create(b, e.loc, i64, value));
  Value isGood = e.ix().inside(wide, bound);
  Value isBad = arith::XOrIOp::create(b, e.loc, isGood, e.constant(b.getI1Type(), 1));
  isBad = e.both(isBad, wanted);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(scf::IfOp::create(b, e.loc, isBad, false).thenBlock());
    recordFailure(b, e.loc, e.failureRecord, message, wide, bound);
  }
  return arith::SelectOp::create(b, e.loc, e.both(isGood, wanted), value, e.constant(type, 0));
}

LogicalResult Emitter::check(tile::CheckOp op) {
  auto found = llvm::find(failures, op.getMessage().str());
  int64_t message = found - failures.begin() + 1;
  if (found == failures.end())
    failures.push_back(op.getMessage().str());
  Ix bound = index(op.getBound());
  auto type = dyn_cast<RankedTensorType>(op.getValue().getType());
  if (!type) {
    scalars[op.getResult()] = checked(*this, scalar(op.getValue()), bound,
                                      op.getMask() ? scalar(op.getMask()) : Value(), message);
    return success();
  }
  Scratch scratch = scratchFor(op.getResult());
  auto one = [&](const Point &point) -> LogicalResult {
    FailureOr<Value> value = evaluate(op.getValue(), point), wanted = Value();
    if (op.getMask())
      wanted = evaluate(op.getMask(), point);
    if (failed(value) || failed(wanted))
      return failure();
    write(scratch, point, checked(*this, *value, bound, *wanted, message));
    return success();
  };
  if (failed(overPoints(extents(op.getValue()), one)))
    return failure();
  barrier();
  materialized[op.getResult()] = scratch;
  return success();
}

} // namespace tw::target::nvidia
