// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The operations of a block in order, in each version of it.
#include "IR/Tile/Elementwise.h"
#include "Target/CPU/Plan/Epilogues.h"
#include "Target/CPU/Plan/Guards.h"
#include "Target/CPU/Plan/HandOvers.h"
#include "Target/CPU/Plan/Placements.h"
#include "Target/CPU/Plan/Prefetches.h"
#include "Target/CPU/Plan/Steps.h"
#include "Target/CPU/Plan/Stores.h"
#include "Target/CPU/Plan/Strips.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;

namespace tw::target::cpu {

namespace {

/// Whether a loop or branch behind `op` uses it, or what is made of it where that is used; known of
/// the users in its block.
bool isUsedInside(Operation *op, const llvm::DenseSet<Operation *> &usedInside) {
  return llvm::any_of(op->getUsers(), [&](Operation *user) {
    return user->getBlock() != op->getBlock() ||
           (usedInside.contains(user) && (tile::isElementwise(user) || movesElements(user)));
  });
}

/// Known of its operands, but for values that come into a block.
bool hasKeptBehind(const Scene &scene, Operation *op) {
  return isWorthKeeping(op) || llvm::any_of(op->getOperands(), [&](Value operand) {
           return scene.hasKeptBehind.lookup(operand);
         });
}

/// What is known of the operations of a block whatever is placed, each asked once.
void addFacts(Scene &scene, Block &block) {
  for (Operation &op : block)
    for (Value result : op.getResults()) {
      scene.widestBehind[result] = widestOf(scene, result);
      scene.hasKeptBehind[result] = hasKeptBehind(scene, &op);
    }
  for (Operation &op : llvm::reverse(block))
    if (isUsedInside(&op, scene.usedInside))
      scene.usedInside.insert(&op);
}

/// The one element of a tile, as a scalar.
LogicalResult planOnlyElement(Scene &scene, Value tile, Step &step) {
  step.strips = {-1, 1, true};
  return prepare(scene, tile, step.strips, -1, step.before);
}

/// Results of a step that writes them all to memory.
LogicalResult planScan(Scene &scene, tile::ScanOp op, Step &step) {
  step.strips = stripsOf(extentsOf(op.getOperand()), lanesFor(scene, op.getOperand()));
  step.strips.isUnrolled = false;
  if (step.strips.lane == int(op.getAxis()))
    step.strips = {};
  if (failed(prepare(scene, op.getOperand(), step.strips, step.strips.lane, step.before)))
    return failure();
  scene.putInMemory(op.getResult());
  return success();
}

LogicalResult planSort(Scene &scene, tile::SortOp op, Step &step) {
  FailureOr<StridedPlacement> operand = asStridedMemory(scene, op.getOperand());
  if (failed(operand))
    return failure();
  step.detail = *std::move(operand);
  scene.putInMemory(op.getValues());
  scene.putInMemory(op.getPositions());
  return success();
}

LogicalResult planScatter(Scene &scene, tile::ScatterOp op, Step &step) {
  SmallVector<Value> tiles(op.getPositions());
  tiles.push_back(op.getTile());
  if (op.getMask())
    tiles.push_back(op.getMask());
  for (Value tile : tiles)
    if (failed(prepare(scene, tile, step.strips, -1, step.before)))
      return failure();
  return success();
}

LogicalResult planCheck(Scene &scene, tile::CheckOp op, Step &step) {
  if (!isa<RankedTensorType>(op.getValue().getType())) {
    scene.ready.insert(op.getResult());
    return success();
  }
  Strips &strips = step.strips;
  strips = stripsOf(extentsOf(op.getValue()), lanesFor(scene, op.getValue()));
  if (strips.lanes == 1)
    strips.lane = -1;
  strips.isUnrolled = false;
  if (failed(prepare(scene, op.getValue(), strips, strips.lane, step.before)) ||
      (op.getMask() && failed(prepare(scene, op.getMask(), strips, strips.lane, step.before))))
    return failure();
  scene.putInMemory(op.getResult());
  return success();
}

/// An operation that is emitted where it is used; outside of loops that use it, if it is expensive
/// or to be kept.
LogicalResult planExpression(Scene &scene, Operation *op, Step &step) {
  if (isScalarToKeep(op)) {
    step.form = Step::Form::MaterializeElement;
    if (failed(planOnlyElement(scene, op->getResult(0), step)))
      return failure();
    scene.putInRegisters(op->getResult(0), 1);
    return success();
  }
  if (scene.usedInside.contains(op) && scene.shouldMaterialize(op->getResult(0))) {
    step.form = Step::Form::Materialize;
    return toMemory(scene, op->getResult(0), step.before);
  }
  step.op = nullptr;
  return success();
}

/// `step.op` becomes null where there is nothing to do.
LogicalResult planStep(Scene &scene, Operation *op, Step &step) {
  if (isa<tile::StoreOp, tile::ReduceOp>(op)) {
    step.prefetches = planPrefetches(scene, op);
    step.lookAheads = planLookAheads(scene, op);
  }
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](tile::StoreOp o) { return planStore(scene, o, step); })
      .Case([&](tile::ReduceOp o) { return planReduce(scene, o, step); })
      .Case([&](tile::DotOp o) { return planDot(scene, o, step); })
      .Case([&](tile::ForOp o) { return planLoop(scene, o, step); })
      .Case([&](scf::IfOp o) { return planBranch(scene, o, step); })
      .Case([&](tile::LoadOp o) -> LogicalResult {
        step.form = Step::Form::Materialize;
        if (mustReadNow(scene, o))
          return toMemory(scene, o, step.before);
        step.op = nullptr;
        return success();
      })
      .Case([&](tile::ExtractOp o) {
        scene.ready.insert(o.getResult());
        step.lookAheads = planLookAheads(o);
        return planOnlyElement(scene, o.getOperand(), step);
      })
      .Case([&](tile::ScanOp o) { return planScan(scene, o, step); })
      .Case([&](tile::SortOp o) { return planSort(scene, o, step); })
      .Case([&](tile::ScatterOp o) { return planScatter(scene, o, step); })
      .Case([&](tile::CheckOp o) -> LogicalResult {
        if (!isDeferred(o))
          return planCheck(scene, o, step);
        step.op = nullptr;
        return success();
      })
      .Default([&](Operation *o) { return planExpression(scene, o, step); });
}

/// Scalars that follow from what is known at the start of the block.
void addReadyScalars(Scene &scene, Block &block) {
  for (Operation &op : block)
    if (isScalarOperation(&op) && llvm::all_of(op.getOperands(), [&](Value operand) {
          return scene.ready.contains(operand);
        }))
      scene.ready.insert(op.getResult(0));
}

LogicalResult planVersion(Scene &scene, Block &block, VersionPlan &version,
                          llvm::function_ref<LogicalResult(HandOver &)> finish) {
  groupStores(scene, block);
  for (Operation &op : block) {
    if (isCancelled(scene.cancellation))
      return failure();
    if (op.hasTrait<OpTrait::IsTerminator>())
      continue;
    if (isScalarOperation(&op)) {
      scene.ready.insert(op.getResult(0));
      continue;
    }
    Step step;
    step.op = &op;
    if (failed(planStep(scene, &op, step)))
      return failure();
    if (step.op && !moveIntoProduct(scene, version.steps, step))
      version.steps.push_back(std::move(step));
  }
  return finish(version.results);
}

} // namespace

LogicalResult planBlock(Scene &scene, Block &block, BlockPlan &plan,
                        llvm::function_ref<LogicalResult(HandOver &)> finish) {
  plan.block = &block;
  addFacts(scene, block);
  planInside(scene, block, plan);
  addReadyScalars(scene, block);
  if (!scene.isBoundary)
    planGuards(scene, block, plan);
  if (plan.guards.empty())
    return planVersion(scene, block, plan.versions.emplace_back(), finish);
  for (bool isInterior : {true, false}) {
    SceneScope scope(scene);
    auto readyBefore = scene.ready;
    if (isInterior)
      for (const Guard &guard : plan.guards)
        scene.inside.insert(guard.access);
    llvm::SaveAndRestore boundary(scene.isBoundary, !isInterior);
    LogicalResult planned = planVersion(scene, block, plan.versions.emplace_back(), finish);
    for (const Guard &guard : plan.guards)
      scene.inside.erase(guard.access);
    if (failed(planned))
      return failure();
    scene.ready = readyBefore;
  }
  return success();
}

LogicalResult planLoop(Scene &scene, tile::ForOp op, Step &step) {
  LoopStep loop;
  Carried carried(scene, op);
  if (failed(carried.take(op.getInitial(), loop.initial)))
    return failure();
  {
    SceneScope scope(scene);
    scene.ready.insert(op.getInductionVar());
    carried.give(op.getCarried());
    Block &body = op.getBody().front();
    if (failed(planBlock(scene, body, loop.blocks.emplace_back(), [&](HandOver &results) {
          return carried.take(body.getTerminator()->getOperands(), results, op.getCarried());
        })))
      return failure();
  }
  carried.give(op.getResults());
  leaveZerosToTiles(op, loop);
  step.detail = std::move(loop);
  return success();
}

LogicalResult planBranch(Scene &scene, scf::IfOp op, Step &step) {
  BranchStep branch;
  Carried carried(scene, op.getResultTypes());
  for (Region &region : op->getRegions()) {
    if (region.empty())
      continue;
    SceneScope scope(scene);
    Block &block = region.front();
    if (failed(planBlock(scene, block, branch.blocks.emplace_back(), [&](HandOver &results) {
          return carried.take(block.getTerminator()->getOperands(), results);
        })))
      return failure();
  }
  carried.give(op.getResults());
  step.detail = std::move(branch);
  return success();
}

FailureOr<KernelPlan> planKernel(tile::KernelOp kernel, const CpuFeatures &cpu,
                                 const Cancellation *cancellation) {
  KernelPlan plan;
  Scene scene(kernel, cpu);
  scene.cancellation = cancellation;
  plan.nonTemporal = scene.nonTemporal = nonTemporalOutputs(kernel);
  for (Value argument : kernel.getBody().getArguments())
    if (!isa<tile::BufferType>(argument.getType()))
      scene.ready.insert(argument);
  if (failed(planBlock(scene, kernel.getBody().front(), plan.body,
                       [](HandOver &) { return success(); })))
    return failure();
  plan.multipliesPairs = scene.multipliesPairs;
  return plan;
}

} // namespace tw::target::cpu
