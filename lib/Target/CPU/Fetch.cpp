// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// While a program runs over its row for the last time, in cache, memory would have nothing to do:
// it is asked for the row of the next program. What is read once only streams; the processor sees
// that by itself.
#include "Target/CPU/Emitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace tw::target::cpu {
namespace {

/// Rows of more bytes than this do not stay in the first-level cache until the next program.
constexpr int64_t mostFetched = 1 << 17;

/// Runs over tiles where it stands.
bool readsTiles(Operation &op) {
  return op.getNumRegions() || isa<tile::ReduceOp, tile::StoreOp>(op);
}

/// The loads behind the operands of `root`, not looking behind tiles that `isKept` holds for.
llvm::DenseSet<Operation *> loadsOf(Operation *root, llvm::function_ref<bool(Value)> isKept) {
  llvm::DenseSet<Operation *> loads;
  llvm::DenseSet<Value> seen;
  SmallVector<Value> rest;
  root->walk([&](Operation *op) { llvm::append_range(rest, op->getOperands()); });
  while (!rest.empty()) {
    Value value = rest.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (!op || !isa<RankedTensorType>(value.getType()) || !seen.insert(value).second)
      continue;
    if (isa<tile::LoadOp>(op))
      loads.insert(op);
    else if (!readsTiles(*op) && !isKept(value))
      llvm::append_range(rest, op->getOperands());
  }
  return loads;
}

/// By how much `position` grows from one program to the next; nothing where that is not a constant.
std::optional<int64_t> growthOf(Value position, unsigned gridDim) {
  APInt number;
  if (matchPattern(position, m_ConstantInt(&number)))
    return 0;
  Operation *op = position.getDefiningOp();
  if (auto id = dyn_cast_or_null<tile::ProgramIdOp>(op))
    return id.getDim() == gridDim ? 1 : 0;
  if (!isa_and_nonnull<arith::AddIOp, arith::MulIOp>(op))
    return std::nullopt;
  auto x = growthOf(op->getOperand(0), gridDim), y = growthOf(op->getOperand(1), gridDim);
  if (!x || !y)
    return std::nullopt;
  if (isa<arith::AddIOp>(op))
    return *x + *y;
  if (!matchPattern(op->getOperand(1), m_ConstantInt(&number)))
    return *x == 0 && *y == 0 ? std::optional<int64_t>(0) : std::nullopt;
  return *x * number.getSExtValue();
}

/// How many elements further the next program on this worker reads; 0: the same, or unknown.
Ix distanceToNext(Emitter &e, tile::LoadOp op) {
  unsigned last = e.kernel.getGrid().size() - 1;
  auto type = op.getType();
  if (op.getMask() ||
      (type.hasStaticShape() &&
       type.getNumElements() * Emitter::bytesOf(type.getElementType()) > mostFetched))
    return 0;
  IndexBuilder ix = e.ix();
  Ix distance = 0;
  for (auto [position, stride] :
       llvm::zip(op.getPositions(), e.buffers.find(op.getBuffer())->second.strides)) {
    auto growth =
        isa<RankedTensorType>(position.getType()) ? std::nullopt : growthOf(position, last);
    if (!growth)
      return 0;
    distance = ix.add(distance, ix.mul(stride, *growth));
  }
  return distance;
}

} // namespace

void Emitter::planFetches(Operation *root) {
  fetches.clear();
  Block *block = root->getBlock();
  if (isEdge || block != &kernel.getBody().front())
    return;
  auto placed = [&](Value tile) { return isPlaced(tile); };
  auto placedThen = [&](Value tile) { return isPlaced(tile) || isWorthKeeping(tile); };
  llvm::DenseSet<Operation *> again, now = loadsOf(root, placed);
  for (Operation &op : *block) {
    if (&op == root || now.empty() || !readsTiles(op))
      continue;
    if (op.isBeforeInBlock(root)) {
      again.insert_range(loadsOf(&op, [](Value) { return false; }));
      continue;
    }
    for (Operation *load : loadsOf(&op, placedThen))
      now.erase(load);
  }
  for (Operation *load : now)
    if (again.contains(load))
      if (Ix distance = distanceToNext(*this, cast<tile::LoadOp>(load)); !distance.is(0))
        fetches[load] = distance;
}

void Emitter::fetchNext(tile::LoadOp op, const Ix &index) {
  auto found = fetches.find(op);
  if (found == fetches.end())
    return;
  Type pointer = LLVM::LLVMPointerType::get(b.getContext());
  const Buffer &buffer = buffers.find(op.getBuffer())->second;
  Value address =
      LLVM::GEPOp::create(b, loc, pointer, memoryType(buffer.element), buffer.base,
                          ArrayRef<LLVM::GEPArg>{ix().value(ix().add(index, found->second))});
  auto number = [&](int32_t n) { return b.getI32IntegerAttr(n); };
  LLVM::Prefetch::create(b, loc, address, /*rw=*/number(0), /*hint=*/number(3),
                         /*cache=*/number(1));
}

} // namespace tw::target::cpu
