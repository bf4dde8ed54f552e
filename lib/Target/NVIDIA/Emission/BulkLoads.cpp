// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/NVIDIA/Emission/BulkLoads.h"
#include "Target/Common/Index/Bounds.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tw::target::nvidia {

static constexpr int64_t bulkAlignment = 16;
/// Of a block; blocks of a multiprocessor, at most; what a program loads, at least, and what is
/// left of shared memory for its scratch. Measured on an H200, softmax of 4096 rows of 64 kB (us):
/// one block of 1024 threads that hold a row, while the next two rows are on their way, 146; three
/// blocks that read it from shared memory 134, two of them 135; a copy 128. Programs that are dealt
/// to blocks beforehand drift apart: just copying so takes 138. Rows that registers hold are faster
/// there: two of 32 kB, added and normalized, take 187 and not 240.
static constexpr int64_t blockThreads = 512, mostBlocks = 3, leastBytes = 16 << 10,
                         leastScratch = 4096;

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

/// Bytes of the rows that the box has whole, along all dimensions behind the first one of which it
/// has several elements: so it is contiguous, and its place a multiple of these. 0 where it has
/// none.
int64_t bytesOfWholeRows(tile::LoadOp op, const BoxAccess &box) {
  auto type = cast<RankedTensorType>(op.getType());
  auto sizes = tile::sizesOf(cast<tile::BufferType>(op.getBuffer().getType()));
  int64_t bytes = Emitter::bytesOf(type.getElementType());
  bool isInside = false;
  for (auto [d, extent] : llvm::enumerate(type.getShape())) {
    bool isWhole = box.extents[d] == sizes[d] && matchPattern(op.getPositions()[d], m_Zero());
    if (isInside && !isWhole)
      return 0;
    if (isInside || isWhole)
      bytes *= extent;
    isInside |= extent != 1;
  }
  return bytes;
}

bool canLoadInBulk(tile::KernelOp kernel, tile::LoadOp op) {
  auto type = cast<RankedTensorType>(op.getType());
  if (!isa<tile::KernelOp>(op->getParentOp()) || op.getMask() || !type.hasStaticShape() ||
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
  int64_t bytes = bytesOfWholeRows(op, *box);
  return ofProgram && bytes > 0 && bytes % bulkAlignment == 0;
}

int64_t bytesOf(tile::LoadOp op) {
  auto type = cast<RankedTensorType>(op.getType());
  return type.getNumElements() * Emitter::bytesOf(type.getElementType());
}

} // namespace

std::optional<BulkPlan> planBulkLoads(tile::KernelOp kernel, const Width &width,
                                      const GpuArchitecture &architecture) {
  if (!width.isRowByRow || areHeldBy(width, blockThreads))
    return std::nullopt;
  BulkPlan plan{};
  for (auto op : kernel.getOps<tile::LoadOp>())
    if (canLoadInBulk(kernel, op)) {
      plan.loads.push_back(op);
      plan.offsets.push_back(plan.bytes);
      plan.bytes += bytesOf(op);
    }
  plan.sharedBytes = alignUp(plan.bytes + barrierBytes, accessBytes);
  plan.shape = {blockThreads, 1};
  plan.blocks = std::min(mostBlocks, architecture.sharedBytes / (plan.bytes + leastScratch));
  if (plan.bytes < leastBytes || plan.blocks < 2)
    return std::nullopt;
  return plan;
}

BulkLoads::BulkLoads(Emitter &e, const BulkPlan &plan, Value shared)
    : e(e), plan(plan), at(e.b, e.loc, shared) {
  for (tile::LoadOp op : plan.loads)
    for (Value position : op.getPositions())
      collectScalars(position, scalars);
}

void BulkLoads::initBarrier() const {
  at.when(e.ix().equal(Ix(e.thread), 0), [&] {
    at.initBarrier(barrier(), 1);
    NVVM::FenceMbarrierInitOp::create(e.b, e.loc);
  });
  e.barrier();
}

void BulkLoads::load(tile::LoadOp op, int64_t offset) const {
  const Buffer &buffer = e.buffers.find(op.getBuffer())->second;
  Ix index = 0;
  for (auto [position, stride] : llvm::zip(op.getPositions(), buffer.strides))
    index = e.ix().add(index, e.ix().mul(e.index(position), stride));
  at.loadBytes(at.i32(offset), e.address(buffer.base, Emitter::memoryType(buffer.element), index),
               bytesOf(op), barrier());
}

void BulkLoads::begin() const {
  at.when(e.ix().equal(Ix(e.thread), 0), [&] {
    Emitter::Scope scope(e);
    for (Operation &op : e.kernel.getBody().front())
      if (scalars.contains(&op))
        e.emitScalar(&op);
    at.arriveExpecting(barrier(), at.i32(plan.bytes));
    for (auto [op, offset] : llvm::zip(plan.loads, plan.offsets))
      load(op, offset);
  });
}

void BulkLoads::take(Value parity) const {
  at.waitFor(barrier(), parity);
  auto generic = LLVM::LLVMPointerType::get(e.b.getContext());
  for (auto [each, offset] : llvm::zip(plan.loads, plan.offsets)) {
    tile::LoadOp op = each;
    auto type = cast<RankedTensorType>(op.getType());
    Value base = LLVM::AddrSpaceCastOp::create(e.b, e.loc, generic, at.pointer(at.i32(offset)));
    e.materialized[op.getResult()] = {
        base, Emitter::rowMajor(e.ix(), e.sizes(tile::extentsOf(type))), type.getElementType()};
  }
}

} // namespace tw::target::nvidia
