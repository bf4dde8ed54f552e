// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// While a program runs over its row for the last time, in cache, memory would have nothing to do:
// the row of the next program is prefetched. What is read once only streams; the processor sees
// that by itself.
#include "Target/CPU/Plan/Prefetches.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

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
llvm::SetVector<Operation *> loadsOf(Operation *root, IsPlaced isKept) {
  llvm::SetVector<Operation *> loads;
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

/// By how many positions along each dimension the next program on this worker is further; empty
/// where it reads the same, or that is unknown.
SmallVector<int64_t> growthToNext(const Scene &scene, tile::LoadOp op) {
  unsigned last = scene.kernel.getGrid().size() - 1;
  auto type = op.getType();
  if (op.getMask() || (type.hasStaticShape() &&
                       type.getNumElements() * bytesOf(type.getElementType()) > mostFetched))
    return {};
  SmallVector<int64_t> growth;
  for (Value position : op.getPositions()) {
    auto own = isa<RankedTensorType>(position.getType()) ? std::nullopt : growthOf(position, last);
    if (!own)
      return {};
    growth.push_back(*own);
  }
  Size distance = 0, stride = 1;
  std::vector<Size> sizes = tile::sizesOf(op.getBuffer().getType());
  for (size_t d = sizes.size(); d-- > 0; stride = stride * sizes[d])
    distance = distance + stride * Size(growth[d]);
  return distance == Size(0) ? SmallVector<int64_t>() : growth;
}

} // namespace

std::vector<Prefetch> planPrefetches(const Scene &scene, Operation *root) {
  Block *block = root->getBlock();
  if (scene.isBoundary || block != &scene.kernel.getBody().front())
    return {};
  auto placedThen = [&](Value tile) {
    return scene.isPlaced(tile) || scene.shouldMaterialize(tile);
  };
  llvm::SetVector<Operation *> again, now = loadsOf(root, scene.placed());
  for (Operation &op : *block) {
    if (&op == root || now.empty() || !readsTiles(op))
      continue;
    if (op.isBeforeInBlock(root)) {
      again.insert_range(loadsOf(&op, [](Value) { return false; }));
      continue;
    }
    for (Operation *load : loadsOf(&op, placedThen))
      now.remove(load);
  }
  std::vector<Prefetch> prefetches;
  for (Operation *load : now)
    if (again.contains(load))
      if (auto growth = growthToNext(scene, cast<tile::LoadOp>(load)); !growth.empty())
        prefetches.push_back({load, growth});
  llvm::sort(prefetches, [](const Prefetch &a, const Prefetch &b) {
    return a.load->getBlock() == b.load->getBlock() && a.load->isBeforeInBlock(b.load);
  });
  return prefetches;
}

} // namespace tw::target::cpu
