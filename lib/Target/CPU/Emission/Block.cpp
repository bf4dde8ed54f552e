// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The operations of a block in order, in the versions that its plan has.
#include "Target/CPU/Emission/Emitter.h"
#include "Target/Common/Index/Bounds.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tw::target::cpu {
namespace {

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

/// Whether a box is inside its buffer along a dimension. As unsigned numbers: a negative position
/// is too large. An empty box reads nothing.
Value boxGuard(Emitter &e, const Access &access) {
  auto [op, d] = access;
  auto box = boxOf(op);
  const Ix &size = e.buffers.find(box->buffer)->second.sizes[d];
  IndexBuilder ix = e.ix();
  Ix first = e.index(box->positions[d]);
  Ix span = ix.mul(ix.sub(e.size(box->extents[d]), 1), box->strides.empty() ? 1 : box->strides[d]);
  Ix last = ix.add(first, span);
  return e.both(ix.inside(first, size), ix.inside(last, size));
}

/// The condition under which all guards hold.
FailureOr<Value> conditionOf(Emitter &e, ArrayRef<Guard> guards) {
  Value all;
  for (const Guard &guard : guards) {
    FailureOr<Value> holds =
        guard.isLine ? e.linearityGuard(guard) : FailureOr<Value>(boxGuard(e, guard.access));
    if (failed(holds))
      return failure();
    all = e.both(all, *holds);
  }
  return all;
}

/// The scalars, and the steps, of a version.
LogicalResult emitVersion(Emitter &e, Block &block, const VersionPlan &version) {
  auto step = version.steps.begin();
  for (Operation &op : block) {
    if (isCancelled(e.cancellation))
      return failure();
    if (isScalarOperation(&op)) {
      if (failed(emitScalar(e, &op)))
        return failure();
    } else if (step != version.steps.end() && step->op == &op) {
      if (failed(e.operation(*step++)))
        return failure();
    }
  }
  return success();
}

} // namespace

LogicalResult Emitter::block(const BlockPlan &plan, TypeRange types,
                             SmallVectorImpl<Value> &results, Finish finish) {
  inside.insert(plan.inside.begin(), plan.inside.end());
  for (auto [access, slope] : plan.lines)
    lines[access] = slope;
  auto everything = [&](const VersionPlan &version) -> LogicalResult {
    if (failed(emitVersion(*this, *plan.block, version)))
      return failure();
    return finish(version.results, results);
  };
  if (failed(emitScalars(*this, *plan.block)))
    return failure();
  if (plan.guards.empty())
    return everything(plan.versions.front());
  FailureOr<Value> condition = conditionOf(*this, plan.guards);
  if (failed(condition))
    return failure();
  auto versions = scf::IfOp::create(b, loc, types, *condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  for (bool isInterior : {true, false}) {
    Scope scope(*this);
    auto scalarsBefore = scalars;
    b.setInsertionPointToStart(isInterior ? versions.thenBlock() : versions.elseBlock());
    for (const Guard &one : plan.guards)
      if (isInterior)
        inside.insert(one.access);
    isBoundary = !isInterior;
    results.clear();
    LogicalResult emitted = everything(plan.versions[isInterior ? 0 : 1]);
    isBoundary = false;
    for (const Guard &one : plan.guards)
      inside.erase(one.access);
    if (failed(emitted))
      return failure();
    if (!types.empty())
      scf::YieldOp::create(b, loc, results);
    scalars = scalarsBefore;
  }
  results.assign(versions.getResults().begin(), versions.getResults().end());
  return success();
}

/// The one element of a tile, as a scalar.
static FailureOr<Value> onlyElement(Emitter &e, Value tile, const Step &step) {
  if (failed(e.place(step.before)))
    return failure();
  return e.evaluate(tile, {Indices(extentsOf(tile).size(), Ix(0)), -1, 1});
}

/// A quotient or a root of sums, say: computed once, before the loops that use it.
static LogicalResult computeOne(Emitter &e, Value tile, const Step &step) {
  FailureOr<Value> value = onlyElement(e, tile, step);
  if (succeeded(value))
    e.registers[tile] = {1, {*value}};
  return success(succeeded(value));
}

LogicalResult Emitter::operation(const Step &step) {
  prefetches = step.prefetches, lookAheads = step.lookAheads;
  if (step.form == Step::Form::MaterializeElement)
    return computeOne(*this, step.op->getResult(0), step);
  if (step.form == Step::Form::Materialize)
    return place(step.before);
  return llvm::TypeSwitch<Operation *, LogicalResult>(step.op)
      .Case([&](tile::StoreOp o) { return storeTiles(o, step); })
      .Case([&](tile::ReduceOp o) { return reduce(o, step); })
      .Case([&](tile::DotOp o) { return dot(o, step); })
      .Case([&](tile::ForOp o) { return forLoop(o, std::get<LoopStep>(step.detail)); })
      .Case([&](scf::IfOp o) { return branch(o, std::get<BranchStep>(step.detail)); })
      .Case([&](tile::ExtractOp o) -> LogicalResult {
        FailureOr<Value> value = onlyElement(*this, o.getOperand(), step);
        if (failed(value))
          return failure();
        scalars[o.getResult()] = *value;
        for (const LookAhead &ahead : step.lookAheads)
          prefetchAhead(ahead, Indices(ahead.rows->getOperands().size(), Ix(0)), ahead.lines);
        return success();
      })
      .Case([&](tile::ScanOp o) { return scan(o, step); })
      .Case([&](tile::SortOp o) { return sort(o, step); })
      .Case([&](tile::ScatterOp o) { return scatter(o, step); })
      .Case([&](tile::CheckOp o) { return check(o, step); })
      .Default([&](Operation *o) { return refuse(o, "it has no step in the plan"); });
}

} // namespace tw::target::cpu
