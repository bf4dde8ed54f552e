// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/CPU/Plan/HandOvers.h"
#include "IR/Tile/Elementwise.h"
#include "Target/CPU/Plan/Analysis/DotOperands.h"
#include "Target/CPU/Plan/Placements.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tw::target::cpu {

/// Whether `carried` is only read at the end of a loop's body, element by element.
static bool isReadAtEnd(BlockArgument carried) {
  llvm::DenseSet<Value> seen;
  SmallVector<Value> rest = {carried};
  while (!rest.empty())
    for (Operation *user : rest.pop_back_val().getUsers()) {
      if (user == carried.getOwner()->getTerminator())
        continue;
      if (!tile::isElementwise(user) || user->getBlock() != carried.getOwner())
        return false;
      if (seen.insert(user->getResult(0)).second)
        rest.push_back(user->getResult(0));
    }
  return true;
}

/// Whether registers cannot hold `carried`, which waits for the end of the body, together with the
/// result of a product there. The compiler of machine code may then spill the wrong ones: those
/// that the product adds to in each step.
static bool isCrowded(BlockArgument carried, const CpuFeatures &cpu) {
  auto vectors = [&](Type type) -> int64_t {
    auto tile = dyn_cast<RankedTensorType>(type);
    auto lanes = tile ? registerLanes(tile, cpu) : std::nullopt;
    return lanes ? tile.getNumElements() / *lanes : 0;
  };
  int64_t own = vectors(carried.getType());
  return llvm::any_of(carried.getOwner()->getOps<tile::DotOp>(),
                      [&](tile::DotOp dot) {
                        return vectors(dot.getType()) + own > cpu.vectorRegisters * 7 / 8;
                      }) &&
         isReadAtEnd(carried);
}

/// Whether `carried` is the sum of many trips, of this loop and of those around it, which in
/// registers would be one long chain of additions. In memory each trip has a sum of its own.
static bool isLongSum(BlockArgument carried) {
  auto product = carried.hasOneUse() ? dyn_cast<tile::DotOp>(*carried.user_begin()) : nullptr;
  if (!product || product.getAcc() != carried || !sumType(product).isF32())
    return false;
  auto a = product.getA().getType();
  int64_t terms = a.isDynamicDim(a.getRank() - 1) ? 1 : a.getShape().back();
  for (BlockArgument sum = carried; sum;) {
    auto loop = dyn_cast<tile::ForOp>(sum.getOwner()->getParentOp());
    auto trips = loop ? loop.constantTripCount() : std::nullopt;
    if (!trips || llvm::MulOverflow(terms, *trips, terms))
      break;
    sum = dyn_cast<BlockArgument>(loop.getInits()[sum.getArgNumber() - 1]);
  }
  return terms > longestChain;
}

void Carried::addSlot(Type type, bool isInMemory) {
  Slot slot;
  if (auto tile = dyn_cast<RankedTensorType>(type)) {
    slot.isTile = true;
    slot.lanes = isInMemory ? std::nullopt : registerLanes(tile, scene.cpu);
    slot.room = slot.lanes ? 0 : scene.newRoom();
  }
  slots.push_back(slot);
}

Carried::Carried(Scene &scene, TypeRange types) : scene(scene) {
  for (Type type : types)
    addSlot(type, /*isInMemory=*/false);
}

Carried::Carried(Scene &scene, tile::ForOp loop) : scene(scene) {
  for (BlockArgument carried : loop.getCarried())
    addSlot(carried.getType(), isCrowded(carried, scene.cpu) || isLongSum(carried));
}

/// Whether each element of `value` needs that one element of `before`, which nobody else wants.
bool Carried::updatesInPlace(Value value, Value before) const {
  for (Value one = before; one.hasOneUse();) {
    Operation *user = *one.user_begin();
    if (!tile::isElementwise(user) || scene.isPlaced(user->getResult(0)))
      return false;
    one = user->getResult(0);
    if (one == value)
      return one.hasOneUse();
  }
  return false;
}

bool Carried::isInOthersRoom(Value value, const Slot &own) const {
  unsigned room = scene.stateOf(value).room;
  return room != own.room &&
         llvm::any_of(slots, [&](const Slot &slot) { return slot.room && slot.room == room; });
}

LogicalResult Carried::takeOne(Value value, const Slot &slot, Value before, HandedOver &plan) {
  if (!slot.isTile)
    return success();
  if (slot.room && before && updatesInPlace(value, before)) {
    plan.form = HandedOver::Form::InPlace;
    FailureOr<Fill> fill = planFill(scene, value);
    if (failed(fill))
      return failure();
    plan.fill = *std::move(fill);
    scene.putInMemory(value, slot.room);
    return success();
  }
  if (slot.lanes) {
    plan.form = HandedOver::Form::Registers;
    int rank = int(cast<RankedTensorType>(value.getType()).getRank());
    plan.strips = {*slot.lanes > 1 ? rank - 1 : -1, *slot.lanes, true};
    return prepare(scene, value, plan.strips, plan.strips.lane, plan.before);
  }
  plan.form = HandedOver::Form::Memory;
  // One number everywhere is written right to where it is expected (`copy`).
  if (slot.room && value.getDefiningOp<tile::FullOp>() && !scene.isPlaced(value))
    return success();
  return toMemory(scene, value, plan.before);
}

LogicalResult Carried::take(ValueRange values, HandOver &plan, ValueRange before) {
  plan.resize(slots.size());
  for (size_t i = 0; i < slots.size(); ++i)
    if (failed(takeOne(values[i], slots[i], before.empty() ? Value() : before[i], plan[i])))
      return failure();
  auto fill = [&](size_t i, std::optional<Fill> &into) -> LogicalResult {
    FailureOr<Fill> made = planFill(scene, values[i]);
    if (failed(made))
      return failure();
    into = *std::move(made);
    return success();
  };
  // A value that lies in another's room is about to be written over.
  for (size_t i = 0; i < slots.size(); ++i)
    if (slots[i].room && isInOthersRoom(values[i], slots[i])) {
      if (failed(fill(i, plan[i].move)))
        return failure();
      scene.putInMemory(values[i]);
    }
  for (size_t i = 0; i < slots.size(); ++i)
    if (slots[i].room && scene.stateOf(values[i]).room != slots[i].room &&
        failed(fill(i, plan[i].copy)))
      return failure();
  return success();
}

void Carried::give(ValueRange values) {
  for (auto [value, slot] : llvm::zip(values, slots)) {
    if (!slot.isTile)
      scene.ready.insert(value);
    else if (slot.room)
      scene.putInMemory(value, slot.room);
    else
      scene.putInRegisters(value, *slot.lanes);
  }
}

void leaveZerosToTiles(tile::ForOp op, LoopStep &loop) {
  BlockPlan &body = loop.blocks.front();
  if (body.versions.size() > 1 || op.constantTripCount().value_or(0) == 0)
    return;
  for (Step &step : body.versions.front().steps) {
    auto *dot = std::get_if<DotStep>(&step.detail);
    // Rows that registers do not have stay as they are in memory.
    if (!dot || dot->form != DotStep::Form::Tiles || !dot->updatesAccumulator || dot->tileRows)
      continue;
    auto sums = dyn_cast<BlockArgument>(cast<tile::DotOp>(step.op).getAcc());
    if (!sums || sums.getOwner() != body.block)
      continue;
    unsigned number = sums.getArgNumber() - 1;
    auto begin = op.getInitial()[number].getDefiningOp<tile::FullOp>();
    HandedOver &initial = loop.initial[number];
    dot->beginsWithZero = begin && matchPattern(begin.getValue(), m_AnyZeroFloat()) &&
                          initial.before.empty() && initial.copy;
    if (dot->beginsWithZero)
      initial.copy.reset();
  }
}

} // namespace tw::target::cpu
