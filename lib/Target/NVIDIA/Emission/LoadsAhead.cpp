// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/NVIDIA/Emission/LoadsAhead.h"
#include "Target/Common/Index/Bounds.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tw::target::nvidia {

static constexpr int64_t stages = 2, bulkAlignment = 16;
/// Of a multiprocessor: a block with more than half of them has it for itself.
static constexpr int64_t threadsOfMultiprocessor = 1024;

namespace {

/// Adds the operations that a scalar is computed from; false if it depends on more than the
/// program's number and what all programs share.
bool collectScalars(Value scalar, llvm::SmallPtrSetImpl<Operation *> &all) {
  Operation *op = scalar.getDefiningOp();
  if (!op) // an argument, or a loop's variable
    return isa<tile::KernelOp>(cast<BlockArgument>(scalar).getOwner()->getParentOp());
  if (!Emitter::isScalar(op) || !isa<tile::KernelOp>(op->getParentOp()))
    return false;
  return !all.insert(op).second ||
         llvm::all_of(op->getOperands(), [&](Value from) { return collectScalars(from, all); });
}

/// Whether the box is whole rows along all dimensions from the first one on of which it has more
/// than one element: so it is contiguous, and its place a multiple of its size.
bool hasWholeRows(tile::LoadOp op, const BoxAccess &box) {
  auto sizes = tile::sizesOf(cast<tile::BufferType>(op.getBuffer().getType()));
  bool isInside = false;
  for (auto [extent, size, position] : llvm::zip(box.extents, sizes, op.getPositions())) {
    isInside |= extent != Size(1);
    if (isInside && (extent != size || !matchPattern(position, m_Zero())))
      return false;
  }
  return true;
}

bool canLoadAhead(tile::KernelOp kernel, tile::LoadOp op) {
  auto type = cast<RankedTensorType>(op.getType());
  if (!isa<tile::KernelOp>(op->getParentOp()) || op.getMask() || !type.hasStaticShape() ||
      type.getNumElements() * Emitter::bytesOf(type.getElementType()) % bulkAlignment != 0 ||
      llvm::any_of(op.getStrides(), [](int64_t stride) { return stride != 1; }) ||
      llvm::any_of(op.getBuffer().getUsers(),
                   [](Operation *user) { return isa<tile::StoreOp, tile::ScatterOp>(user); }))
    return false;
  auto box = boxOf(op);
  llvm::SmallPtrSet<Operation *, 8> scalars;
  for (auto [d, position] : llvm::enumerate(op.getPositions()))
    if (isa<RankedTensorType>(position.getType()) || !isSurelyInside(kernel, *box, unsigned(d)) ||
        !collectScalars(position, scalars))
      return false;
  // What is the same in all programs stays in caches.
  bool ofProgram =
      llvm::any_of(scalars, [](Operation *one) { return isa<tile::ProgramIdOp>(one); });
  return ofProgram && hasWholeRows(op, *box);
}

int64_t bytesOf(tile::LoadOp op) {
  auto type = cast<RankedTensorType>(op.getType());
  return type.getNumElements() * Emitter::bytesOf(type.getElementType());
}

} // namespace

std::optional<AheadPlan> planAhead(tile::KernelOp kernel, const BlockShape &shape,
                                   const GpuArchitecture &architecture) {
  if (shape.threads <= threadsOfMultiprocessor / 2)
    return std::nullopt;
  AheadPlan plan{};
  int64_t bytes = 0;
  for (auto op : kernel.getOps<tile::LoadOp>())
    if (canLoadAhead(kernel, op)) {
      plan.loads.push_back(op);
      plan.offsets.push_back(bytes);
      bytes += bytesOf(op);
    }
  plan.ring = {stages, bytes, 0, stages * bytes};
  plan.sharedBytes = stages * (bytes + 2 * barrierBytes);
  if (plan.loads.empty() || plan.sharedBytes > architecture.sharedBytes / 4 * 3)
    return std::nullopt;
  return plan;
}

LoadsAhead::LoadsAhead(Emitter &e, const AheadPlan &plan, Value shared)
    : e(e), plan(plan), at(e.b, e.loc, shared), ring(at, plan.ring) {
  for (tile::LoadOp op : plan.loads)
    for (Value position : op.getPositions())
      collectScalars(position, scalars);
}

Value LoadsAhead::isLeader() const { return e.ix().equal(Ix(e.thread), 0); }

void LoadsAhead::initBarriers() const {
  at.when(isLeader(), [&] {
    ring.initBarriers(/*users=*/1);
    NVVM::FenceMbarrierInitOp::create(e.b, e.loc);
  });
  e.barrier();
}

void LoadsAhead::load(tile::LoadOp op, Value offset, Value barrier) const {
  const Buffer &buffer = e.buffers.find(op.getBuffer())->second;
  Ix index = 0;
  for (auto [position, stride] : llvm::zip(op.getPositions(), buffer.strides))
    index = e.ix().add(index, e.ix().mul(e.index(position), stride));
  at.loadBytes(offset, e.address(buffer.base, Emitter::memoryType(buffer.element), index),
               bytesOf(op), barrier);
}

void LoadsAhead::begin(const Slot &slot, Value isProgram,
                       llvm::function_ref<void()> setNumber) const {
  at.when(e.both(isLeader(), isProgram), [&] {
    Emitter::Scope scope(e);
    auto before = e.programIds;
    setNumber();
    for (Operation &op : e.kernel.getBody().front())
      if (scalars.contains(&op))
        e.emitScalar(&op);
    Value barrier = ring.fill(slot, plan.ring.stageBytes), offset = ring.offset(slot.stage);
    for (auto [op, inStage] : llvm::zip(plan.loads, plan.offsets))
      load(op, at.add(offset, inStage), barrier);
    e.programIds = before;
  });
}

void LoadsAhead::take(const Slot &slot) const {
  ring.waitUntilFull(slot);
  Value offset = ring.offset(slot.stage);
  auto generic = LLVM::LLVMPointerType::get(e.b.getContext());
  for (auto [each, inStage] : llvm::zip(plan.loads, plan.offsets)) {
    tile::LoadOp op = each;
    auto type = cast<RankedTensorType>(op.getType());
    Value base =
        LLVM::AddrSpaceCastOp::create(e.b, e.loc, generic, at.pointer(at.add(offset, inStage)));
    e.materialized[op.getResult()] = {
        base, Emitter::rowMajor(e.ix(), e.sizes(tile::extentsOf(type))), type.getElementType()};
  }
}

bool LoadsAhead::areHeld() const {
  return llvm::all_of(
      plan.loads, [&](tile::LoadOp op) { return e.isHeld(cast<RankedTensorType>(op.getType())); });
}

LogicalResult LoadsAhead::hold() const {
  for (tile::LoadOp op : plan.loads) {
    auto read = [&](const Group &group) {
      return success(succeeded(e.evaluate(op.getResult(), group)));
    };
    if (failed(e.overGroups(e.extents(op.getResult()), read)))
      return failure();
    // A point that is not among them would come from the buffer.
    e.materialized.erase(op.getResult());
  }
  e.barrier();
  return success();
}

void LoadsAhead::release(const Slot &slot) const { ring.release(slot.stage, isLeader()); }

} // namespace tw::target::nvidia
