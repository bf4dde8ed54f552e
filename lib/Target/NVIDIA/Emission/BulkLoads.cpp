// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/NVIDIA/Emission/BulkLoads.h"
#include "IR/Coded.h"
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
/// Of a block that keeps what all programs read, the only one of a multiprocessor: as many threads
/// as there may be; stages, at most; and programs that a multiprocessor must have, for it loads
/// once what they share, and some have one program more than others.
constexpr int64_t keepingThreads = 1024, mostStages = 2, leastPrograms = 16;

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

/// How the place that a load reads follows from the program's number.
enum class Place { OfProgram, SameInAll, Other };

/// Of a load of whole rows that a bulk copy can make.
Place placeOf(tile::KernelOp kernel, tile::LoadOp op) {
  auto type = cast<RankedTensorType>(op.getType());
  if (!isa<tile::KernelOp>(op->getParentOp()) || op.getMask() || !type.hasStaticShape() ||
      llvm::any_of(op.getStrides(), [](int64_t stride) { return stride != 1; }) ||
      llvm::any_of(op.getBuffer().getUsers(),
                   [](Operation *user) { return isa<tile::StoreOp, tile::ScatterOp>(user); }))
    return Place::Other;
  auto box = boxOf(op);
  llvm::SmallPtrSet<Operation *, 8> scalars;
  for (auto [d, position] : llvm::enumerate(op.getPositions()))
    if (isa<RankedTensorType>(position.getType()) || !isSurelyInside(kernel, *box, unsigned(d)) ||
        !collectScalars(position, scalars))
      return Place::Other;
  int64_t bytes = bytesOfWholeRows(op, *box);
  if (bytes == 0 || bytes % bulkAlignment != 0)
    return Place::Other;
  return llvm::any_of(scalars, [](Operation *one) { return isa<tile::ProgramIdOp>(one); })
             ? Place::OfProgram
             : Place::SameInAll;
}

int64_t bytesOf(tile::LoadOp op) {
  auto type = cast<RankedTensorType>(op.getType());
  return type.getNumElements() * Emitter::bytesOf(type.getElementType());
}

/// Where their number is known.
std::optional<int64_t> programsOf(tile::KernelOp kernel) {
  constexpr int64_t most = int64_t(1) << 31;
  int64_t all = 1;
  for (auto size : kernel.getGrid().getAsRange<tile::SizeAttr>()) {
    std::optional<int64_t> count = size.getSize().constant();
    if (!count || *count > most)
      return std::nullopt;
    all = std::min(all * *count, most);
  }
  return all;
}

/// Whether all that a kernel reads of more than one element is loaded by bulk copies, and rows are
/// gone through as they are loaded, so that threads find in registers what they have taken.
bool goesThroughLoads(tile::KernelOp kernel, const BulkPlan &plan) {
  auto shape = cast<RankedTensorType>(tile::LoadOp(plan.own.loads.front()).getType()).getShape();
  auto isLoaded = [&](tile::LoadOp load) {
    return llvm::is_contained(plan.own.loads, load) || llvm::is_contained(plan.kept.loads, load);
  };
  auto isGood = [&](Type type) {
    auto tile = cast<RankedTensorType>(type);
    return tile.hasStaticShape() && (tile.getNumElements() == 1 || tile.getShape() == shape);
  };
  bool isAll = true;
  kernel.walk([&](Operation *op) {
    if (auto load = dyn_cast<tile::LoadOp>(op))
      isAll &= isLoaded(load) || (isGood(load.getType()) && load.getType().getNumElements() == 1);
    else if (auto reduce = dyn_cast<tile::ReduceOp>(op))
      isAll &= isGood(reduce.getOperand().getType());
    else if (auto store = dyn_cast<tile::StoreOp>(op))
      isAll &= isGood(store.getTile().getType());
    else
      isAll &= !isa<tile::GatherOp>(op);
  });
  return isAll;
}

/// What a block that keeps so many bytes has for own loads.
int64_t roomBeside(int64_t kept, const GpuArchitecture &architecture) {
  return architecture.sharedBytes - leastScratch - kept;
}

/// Blocks that keep what all programs read, if that is at least as much as each has of its own.
std::optional<BulkPlan> planKept(tile::KernelOp kernel, const Width &width,
                                 const GpuArchitecture &architecture) {
  if (!areHeldBy(width, keepingThreads))
    return std::nullopt;
  BulkPlan plan{};
  for (auto op : kernel.getOps<tile::LoadOp>()) {
    Place place = placeOf(kernel, op);
    if (place == Place::SameInAll)
      plan.kept.add(op);
    else if (place == Place::OfProgram &&
             cast<RankedTensorType>(op.getType()).getNumElements() == *width.largestTile)
      plan.own.add(op);
  }
  if (plan.own.bytes < leastBytes || plan.kept.bytes < plan.own.bytes ||
      !hasRoomToKeep(plan.kept.bytes, plan.own.bytes, architecture) ||
      !goesThroughLoads(kernel, plan))
    return std::nullopt;
  int64_t room = roomBeside(plan.kept.bytes, architecture);
  plan.stages = std::min(mostStages, room / plan.own.bytes);
  std::optional<int64_t> programs = programsOf(kernel);
  if (!programs)
    emitReport(kernel.getLoc())
        << "does not keep what all programs read in shared memory: how many "
           "programs there are is known only at the call";
  if (!programs || !areEnoughToKeep(*programs, architecture))
    return std::nullopt;
  plan.shape = {keepingThreads, 1};
  plan.blocks = 1;
  return plan;
}

} // namespace

void BulkPart::add(tile::LoadOp op) {
  loads.push_back(op);
  offsets.push_back(bytes);
  bytes += bytesOf(op);
}

int64_t BulkPlan::firstNumber() const { return firstBarrier() + barriers() * barrierBytes; }

int64_t BulkPlan::sharedBytes() const {
  return alignUp(firstNumber() + numbers() * numberBytes, accessBytes);
}

bool hasRoomToKeep(int64_t kept, int64_t own, const GpuArchitecture &architecture) {
  return architecture.has(Capability::BulkCopies) && own <= roomBeside(kept, architecture);
}

bool areEnoughToKeep(int64_t programs, const GpuArchitecture &architecture) {
  return programs >= architecture.multiprocessors * leastPrograms;
}

std::optional<BulkPlan> planBulkLoads(tile::KernelOp kernel, const Width &width,
                                      const GpuArchitecture &architecture) {
  if (!width.isRowByRow || areHeldBy(width, blockThreads))
    return std::nullopt;
  if (std::string missing = architecture.whatIsMissing({Capability::BulkCopies});
      !missing.empty()) {
    emitReport(kernel.getLoc()) << "does not bring long rows into shared memory: " << missing;
    return std::nullopt;
  }
  if (std::optional<BulkPlan> plan = planKept(kernel, width, architecture))
    return plan;
  BulkPlan plan{};
  // What is the same in all programs stays in caches.
  for (auto op : kernel.getOps<tile::LoadOp>())
    if (placeOf(kernel, op) == Place::OfProgram)
      plan.own.add(op);
  plan.shape = {blockThreads, 1};
  plan.blocks = std::min(mostBlocks, architecture.sharedBytes / (plan.own.bytes + leastScratch));
  if (plan.own.bytes < leastBytes || plan.blocks < 2)
    return std::nullopt;
  return plan;
}

Value BulkLoads::stageOf(Value turn) const {
  return plan.stages == 1 ? at.i32(0) : at.rem(turn, plan.stages);
}

Value BulkLoads::barrierOf(Value stage) const {
  Value first = at.i32(plan.firstBarrier());
  return plan.stages == 1 ? first : at.add(at.mul(stage, barrierBytes), first);
}

Value BulkLoads::keptBarrier() const {
  return at.i32(plan.firstBarrier() + plan.stages * barrierBytes);
}

void BulkLoads::byOneThread(Value condition, llvm::function_ref<void()> body) const {
  at.when(e.both(e.ix().equal(Ix(e.thread), 0), condition), body);
}

void BulkLoads::initBarriers() const {
  byOneThread({}, [&] {
    for (int64_t number = 0; number < plan.barriers(); ++number)
      at.initBarrier(at.i32(plan.firstBarrier() + number * barrierBytes), 1);
    NVVM::FenceMbarrierInitOp::create(e.b, e.loc);
  });
  e.barrier();
}

void BulkLoads::load(tile::LoadOp op, Value offset, Value barrier) const {
  const Buffer &buffer = e.buffers.find(op.getBuffer())->second;
  Ix index = 0;
  for (auto [position, stride] : llvm::zip(op.getPositions(), buffer.strides))
    index = e.ix().add(index, e.ix().mul(e.index(position), stride));
  at.loadBytes(offset, e.address(buffer.base, Emitter::memoryType(buffer.element), index),
               bytesOf(op), barrier);
}

void BulkLoads::beginPart(const BulkPart &part, Value offset, Value barrier) const {
  Emitter::Scope scope(e);
  llvm::SmallPtrSet<Operation *, 8> scalars; // that positions are computed from
  for (tile::LoadOp op : part.loads)
    for (Value position : op.getPositions())
      collectScalars(position, scalars);
  for (Operation &op : e.kernel.getBody().front())
    if (scalars.contains(&op))
      e.emitScalar(&op);
  at.arriveExpecting(barrier, at.i32(part.bytes));
  for (auto [op, behind] : llvm::zip(part.loads, part.offsets))
    load(op, at.add(offset, behind), barrier);
}

void BulkLoads::begin(Value turn) const {
  Value stage = stageOf(turn);
  beginPart(plan.own, offsetOf(stage), barrierOf(stage));
}

void BulkLoads::beginKept() const { beginPart(plan.kept, at.i32(0), keptBarrier()); }

/// Where the own loads of a stage lie.
Value BulkLoads::offsetOf(Value stage) const {
  Value first = at.i32(plan.kept.bytes);
  return plan.stages == 1 ? first : at.add(at.mul(stage, plan.own.bytes), first);
}

void BulkLoads::readFrom(const BulkPart &part, Value offset) const {
  auto generic = LLVM::LLVMPointerType::get(e.b.getContext());
  for (auto [each, behind] : llvm::zip(part.loads, part.offsets)) {
    tile::LoadOp op = each;
    auto type = cast<RankedTensorType>(op.getType());
    Value base =
        LLVM::AddrSpaceCastOp::create(e.b, e.loc, generic, at.pointer(at.add(offset, behind)));
    e.materialized[op.getResult()] = {
        base, Emitter::rowMajor(e.ix(), e.sizes(tile::extentsOf(type))), type.getElementType()};
  }
}

void BulkLoads::take(Value turn) const {
  Value stage = stageOf(turn);
  // A stage's phases: one for each time that it is filled.
  at.waitFor(barrierOf(stage), at.rem(plan.stages == 1 ? turn : at.div(turn, plan.stages), 2));
  readFrom(plan.own, offsetOf(stage));
}

LogicalResult BulkLoads::hold() const {
  for (tile::LoadOp op : plan.own.loads) {
    auto read = [&](const Group &group) { return e.evaluate(op.getResult(), group); };
    if (failed(e.overGroups(e.extents(op.getResult()), read)))
      return failure();
    e.materialized.erase(op.getResult()); // what is asked for beside that is read in place
  }
  e.barrier();
  return success();
}

void BulkLoads::takeKept() const {
  at.waitFor(keptBarrier(), at.i32(0)); // which has one phase
  readFrom(plan.kept, at.i32(0));
}

} // namespace tw::target::nvidia
