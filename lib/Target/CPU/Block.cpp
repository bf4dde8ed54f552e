// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The operations of a block in order, and the two versions of it.
#include "IR/Tile/Elementwise.h"
#include "Target/CPU/Emitter.h"
#include "Target/Common/Bounds.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tw::target::cpu {
namespace {

/// Computes a scalar and nothing else.
bool isScalarOperation(Operation *op) {
  return isMemoryEffectFree(op) && op->getNumResults() == 1 && op->getNumRegions() == 0 &&
         llvm::none_of(op->getOperandTypes(), llvm::IsaPred<RankedTensorType>) &&
         !isa<RankedTensorType>(op->getResult(0).getType());
}

LogicalResult emitScalar(Emitter &e, Operation *op) {
  Value result = op->getResult(0);
  if (e.scalars.contains(result))
    return success();
  if (auto id = dyn_cast<tile::ProgramIdOp>(op)) {
    e.scalars[result] = e.ix().value(e.programIds[id.getDim()]);
  } else if (auto size = dyn_cast<tile::SizeOp>(op)) {
    e.scalars[result] = e.ix().value(e.size(size.getSize().getSize()));
  } else if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    TypedAttr value = constant.getValue();
    if (result.getType().isIndex())
      value = e.b.getI64IntegerAttr(cast<IntegerAttr>(value).getInt());
    e.scalars[result] = arith::ConstantOp::create(e.b, e.loc, value);
  } else {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(e.scalar(operand));
    Value value = e.elementwise(op, operands);
    auto number = dyn_cast_if_present<TypedAttr>(dyn_cast<Attribute>(e.folded(value)));
    e.scalars[result] = number ? arith::ConstantOp::create(e.b, e.loc, number) : value;
  }
  return success();
}

/// All scalars of the block that follow from what is known at its start.
LogicalResult emitScalars(Emitter &e, Block &block) {
  for (Operation &op : block) {
    bool isReady = isScalarOperation(&op) && llvm::all_of(op.getOperands(), [&](Value operand) {
                     return e.scalars.contains(operand);
                   });
    if (isReady && failed(emitScalar(e, &op)))
      return failure();
  }
  return success();
}

/// A dimension of an access that has to be looked at when the program runs.
using Guard = std::pair<Operation *, unsigned>;

/// The guards of a block, and the condition under which all hold.
Value guardsOf(Emitter &e, Block &block, SmallVectorImpl<Guard> &guards) {
  Value all;
  for (Operation &op : block) {
    auto box = boxOf(&op);
    if (!box)
      continue;
    const Buffer &buffer = e.buffers.find(box->buffer)->second;
    for (unsigned d = 0; d < box->positions.size(); ++d) {
      Value position = box->positions[d];
      if (e.inside.contains({&op, d}))
        continue;
      if (isa<RankedTensorType>(position.getType())) {
        if (auto load = dyn_cast<tile::LoadOp>(op))
          if (Value isLine = e.lineGuard(load, d)) {
            all = e.both(all, isLine);
            guards.push_back({&op, d});
          }
        continue;
      }
      if (!e.scalars.contains(position))
        continue;
      IndexBuilder ix = e.ix();
      Ix first = e.index(position);
      Ix span =
          ix.mul(ix.sub(e.size(box->extents[d]), 1), box->strides.empty() ? 1 : box->strides[d]);
      Ix last = ix.add(first, span);
      if (auto number = span.constant())
        if (auto isInside = e.ranges.staysInside(first, *number, buffer.sizes[d])) {
          // No program's test would change what is known.
          if (*isInside)
            e.inside.insert({&op, d});
          continue;
        }
      // As unsigned numbers: a negative position is too large. An empty box reads nothing.
      Value holds = e.both(ix.inside(first, buffer.sizes[d]), ix.inside(last, buffer.sizes[d]));
      all = e.both(all, holds);
      guards.push_back({&op, d});
    }
  }
  return all;
}

} // namespace

LogicalResult Emitter::block(Block &block, TypeRange types, SmallVectorImpl<Value> &results,
                             llvm::function_ref<LogicalResult(SmallVectorImpl<Value> &)> finish) {
  for (Operation &op : block)
    if (auto box = boxOf(&op))
      for (unsigned d = 0; d < box->positions.size(); ++d)
        if (isSurelyInside(kernel, *box, d))
          inside.insert({&op, d});
  auto everything = [&]() -> LogicalResult {
    groupStores(block);
    for (Operation &op : block)
      if (!op.hasTrait<OpTrait::IsTerminator>() && failed(operation(&op)))
        return failure();
    return finish(results);
  };
  if (failed(emitScalars(*this, block)))
    return failure();
  SmallVector<Guard> guards;
  Value condition = isEdge ? Value() : guardsOf(*this, block, guards);
  if (!condition)
    return everything();
  auto versions = scf::IfOp::create(b, loc, types, condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  for (bool isInterior : {true, false}) {
    Scope scope(*this);
    auto scalarsBefore = scalars;
    b.setInsertionPointToStart(isInterior ? versions.thenBlock() : versions.elseBlock());
    if (isInterior)
      inside.insert(guards.begin(), guards.end());
    isEdge = !isInterior;
    results.clear();
    LogicalResult emitted = everything();
    isEdge = false;
    if (isInterior)
      for (const Guard &one : guards)
        inside.erase(one);
    if (failed(emitted))
      return failure();
    if (!types.empty())
      scf::YieldOp::create(b, loc, results);
    scalars = scalarsBefore;
  }
  results.assign(versions.getResults().begin(), versions.getResults().end());
  return success();
}

static bool isUsedInside(Operation *op) {
  return llvm::any_of(op->getUsers(),
                      [&](Operation *user) { return user->getBlock() != op->getBlock(); });
}

/// The one element of a tile, as a scalar.
static FailureOr<Value> onlyElement(Emitter &e, Value tile) {
  Domain one{e.extents(tile), -1, 1, true};
  if (failed(e.prepare(tile, one, -1)))
    return failure();
  return e.evaluate(tile, {Indices(one.extents.size(), Ix(0)), -1, 1});
}

/// A quotient or a root of sums, say: computed once, before the loops that use it.
static LogicalResult computeOne(Emitter &e, Value tile) {
  FailureOr<Value> value = onlyElement(e, tile);
  if (succeeded(value))
    e.registers[tile] = {1, {*value}};
  return success(succeeded(value));
}

LogicalResult Emitter::operation(Operation *op) {
  if (isScalarOperation(op))
    return emitScalar(*this, op);
  if (isa<tile::StoreOp, tile::ReduceOp>(op))
    planFetches(op);
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](tile::StoreOp o) { return storeTiles(o); })
      .Case([&](tile::ReduceOp o) { return reduce(o); })
      .Case([&](tile::DotOp o) { return dot(o); })
      .Case([&](tile::ForOp o) { return forLoop(o); })
      .Case([&](scf::IfOp o) { return branch(o); })
      .Case([&](tile::LoadOp o) { return mustReadNow(o) ? toMemory(o) : success(); })
      .Case([&](tile::ExtractOp o) -> LogicalResult {
        FailureOr<Value> value = onlyElement(*this, o.getOperand());
        if (failed(value))
          return failure();
        scalars[o.getResult()] = *value;
        return success();
      })
      .Case([&](tile::ScanOp o) { return scan(o); })
      .Case([&](tile::SortOp o) { return sort(o); })
      .Case([&](tile::ScatterOp o) { return scatter(o); })
      .Case([&](tile::CheckOp o) { return isDeferred(o) ? success() : check(o); })
      .Default([&](Operation *o) {
        if (isOneDear(o))
          return computeOne(*this, o->getResult(0));
        // Emitted where it is used; outside of loops that use it, if it is dear.
        bool isNow = isUsedInside(o) && isWorthKeeping(o->getResult(0));
        return isNow ? toMemory(o->getResult(0)) : success();
      });
}

} // namespace tw::target::cpu
