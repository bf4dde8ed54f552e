// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stores of whole tiles: those that follow each other and have one shape are made in one loop, so
// that what they have in common is read and computed once.
#include "Target/CPU/Plan/Stores.h"
#include "Target/CPU/Plan/Placements.h"
#include "Target/CPU/Plan/Strips.h"
#include "Target/Common/Index/Bounds.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace tw::target::cpu {
namespace {

/// Outputs of at least this many bytes are written past the caches: more than a core's share of
/// the last one. Measured (copies of 1 to 64 MiB, then a reader): from 8 MiB on it is faster on an
/// EPYC with 32 MiB; processors with more cache want the output there for longer.
constexpr int64_t leastNonTemporal = int64_t(32) << 20;

bool isNonTemporal(tile::KernelOp kernel, BlockArgument buffer) {
  auto type = dyn_cast<tile::BufferType>(buffer.getType());
  auto argument = kernel.getArgument(buffer.getArgNumber());
  if (!type || argument.getAccess() != tile::Access::Out || argument.getInit())
    return false;
  int64_t bytes = bytesOf(type.getTileElementType());
  for (const Size &size : tile::sizesOf(type))
    if (!size.constant() || __builtin_mul_overflow(bytes, *size.constant(), &bytes))
      return false;
  return bytes >= leastNonTemporal && llvm::all_of(buffer.getUsers(), [](Operation *user) {
           auto store = dyn_cast<tile::StoreOp>(user);
           return store && !store.getUpdate();
         });
}

/// A store that need not run alone, for how it goes through its elements.
bool canJoin(const Scene &scene, tile::StoreOp op) {
  auto type = op.getTile().getType();
  auto isPlain = [](Value position) { return !isa<RankedTensorType>(position.getType()); };
  return !op.getUpdate() && type.hasStaticShape() && type.getRank() > 0 &&
         type.getShape().back() > mostInterleaved && llvm::all_of(op.getPositions(), isPlain) &&
         !scene.looksUp(op.getTile());
}

/// Whether no element is written by both, for they are at other constant positions.
bool areApart(tile::StoreOp a, tile::StoreOp b) {
  if (a.getBuffer() != b.getBuffer())
    return true;
  if (!a.getStrides().empty() || !b.getStrides().empty())
    return false;
  ArrayRef<int64_t> extents = a.getTile().getType().getShape(); // of both
  for (auto [extent, x, y] : llvm::zip(extents, a.getPositions(), b.getPositions())) {
    auto first = getConstantIntValue(x), second = getConstantIntValue(y);
    if (first && second && std::abs(*first - *second) >= extent)
      return true;
  }
  return false;
}

bool fits(const Scene &scene, ArrayRef<tile::StoreOp> group, tile::StoreOp next) {
  tile::StoreOp first = group.front();
  return canJoin(scene, first) && canJoin(scene, next) &&
         first.getTile().getType().getShape() == next.getTile().getType().getShape() &&
         llvm::all_of(group, [&](tile::StoreOp one) { return areApart(one, next); });
}

bool isInterleaved(const Scene &scene, tile::StoreOp op) {
  auto type = op.getTile().getType();
  unsigned rank = type.getRank();
  if (rank < 2 || op.getUpdate() || op.getMask() || !op.getStrides().empty() ||
      type.getElementTypeBitWidth() < 32)
    return false;
  int64_t count = type.getShape().back(), along = type.getShape()[rank - 2];
  auto size = tile::sizesOf(op.getBuffer().getType()).back().constant();
  if (count < 2 || count > mostInterleaved || size != count ||
      (!ShapedType::isDynamic(along) && along < int64_t(lanesFor(scene, op.getTile()))))
    return false;
  for (unsigned d = 0; d < rank; ++d)
    if (!scene.inside.contains({op, d}))
      return false;
  // What is looked up one by one wants its positions side by side.
  return !scene.looksUp(op.getTile());
}

LogicalResult planInterleaved(Scene &scene, tile::StoreOp op, Step &step) {
  Value tile = op.getTile();
  step.strips = {int(op.getTile().getType().getRank()) - 2, lanesFor(scene, tile), false};
  return prepare(scene, tile, step.strips, step.strips.lane, step.before);
}

LogicalResult planGroup(Scene &scene, ArrayRef<tile::StoreOp> stores, Step &step) {
  SmallVector<Value> tiles, read; // `read`: with the masks, which may come from what is stored to
  for (tile::StoreOp store : stores) {
    tiles.push_back(store.getTile());
    if (store.getMask())
      read.push_back(store.getMask());
  }
  llvm::append_range(read, tiles);
  step.strips = stripsOf(extentsOf(tiles.front()), lanesFor(scene, tiles));
  step.strips.isUnrolled &= !readsLeftRegisters(scene, tiles);
  for (Value tile : read)
    if (failed(prepare(scene, tile, step.strips, step.strips.lane, step.before)))
      return failure();
  return success();
}

Strips stripsOfStore(const Scene &scene, tile::StoreOp op) {
  std::vector<Size> extents = extentsOf(op.getTile());
  Strips strips = stripsOf(extents, lanesFor(scene, op.getTile()));
  strips = stripsOf(extents, lanesToMove(scene, op.getTile(), strips.lane));
  strips.isUnrolled &= !readsLeftRegisters(scene, op.getTile());
  // Positions from a tile go one by one: they may be equal, and then the last write stays.
  bool isIndexed =
      strips.lane >= 0 && isa<RankedTensorType>(op.getPositions()[strips.lane].getType());
  // LLVM would make a gather of so few elements again.
  constexpr unsigned fewLanes = 4;
  bool isShort = strips.lanes <= fewLanes && !strips.isUnrolled && scene.looksUp(op.getTile());
  if (op.getUpdate() || isIndexed || isShort)
    strips = {};
  strips.cuts = cutsFor(scene, op.getTile(), strips);
  return strips;
}

LogicalResult planSingle(Scene &scene, tile::StoreOp op, Step &step) {
  step.strips = stripsOfStore(scene, op);
  int lane = step.strips.lane;
  if (failed(prepare(scene, op.getTile(), step.strips, lane, step.before)) ||
      (op.getMask() && failed(prepare(scene, op.getMask(), step.strips, lane, step.before))))
    return failure();
  for (Value position : op.getPositions())
    if (isa<RankedTensorType>(position.getType()) &&
        failed(prepare(scene, position, step.strips, -1, step.before)))
      return failure();
  return success();
}

/// Dimensions that may end outside the buffers of all stores, where loops can end sooner. Parts of
/// a loop that is cut know their ends.
SmallVector<unsigned> limitedDims(const Scene &scene, ArrayRef<tile::StoreOp> stores,
                                  const Strips &strips) {
  SmallVector<unsigned> limited;
  if (strips.isUnrolled)
    return limited;
  tile::StoreOp first = stores.front();
  for (unsigned d = 0; d < first.getPositions().size(); ++d) {
    bool isCut = int(d) == strips.lane && !strips.cuts.empty();
    if (!isCut && llvm::all_of(stores, [&](tile::StoreOp op) {
          return !scene.inside.contains({op, d}) && !op.getUpdate() && op.getStrides().empty() &&
                 !isa<RankedTensorType>(op.getPositions()[d].getType());
        }))
      limited.push_back(d);
  }
  return limited;
}

} // namespace

llvm::DenseSet<Value> nonTemporalOutputs(tile::KernelOp kernel) {
  llvm::DenseSet<Value> outputs;
  for (BlockArgument buffer : kernel.getBody().getArguments())
    if (isNonTemporal(kernel, buffer))
      outputs.insert(buffer);
  return outputs;
}

void groupStores(Scene &scene, Block &block) {
  SmallVector<SmallVector<tile::StoreOp>> groups;
  for (auto store : block.getOps<tile::StoreOp>()) {
    bool follows = !groups.empty() && store->getPrevNode() == groups.back().back();
    if (follows && fits(scene, groups.back(), store))
      groups.back().push_back(store);
    else
      groups.push_back({store});
  }
  for (auto &group : groups)
    for (tile::StoreOp store : group)
      scene.storeGroups[store] = group;
}

bool mustReadNow(const Scene &scene, tile::LoadOp op) {
  auto argument = dyn_cast<BlockArgument>(op.getBuffer());
  if (!argument ||
      scene.kernel.getArgument(argument.getArgNumber()).getAccess() == tile::Access::In)
    return false;
  // A store after it that has the same box reads and writes element by element.
  for (Operation *user : op.getBuffer().getUsers()) {
    auto store = dyn_cast<tile::StoreOp>(user);
    if (isa<tile::LoadOp>(user))
      continue;
    // What is written before, or around the block, is there when this one reads.
    Operation *inBlock = op->getBlock()->findAncestorOpInBlock(*user);
    if (!inBlock || inBlock->isBeforeInBlock(op))
      continue;
    bool isSameBox = store && store->getBlock() == op->getBlock() &&
                     store.getPositions() == op.getPositions() &&
                     store.getStrides() == op.getStrides() &&
                     store.getTile().getType().getShape() == op.getType().getShape();
    if (!isSameBox)
      return true;
    llvm::SmallPtrSet<Operation *, 4> sinks;
    for (tile::StoreOp one : scene.storeGroups.find(store)->second)
      sinks.insert(one);
    if (!reachesOnlyElementwise(op.getResult(), sinks))
      return true;
  }
  return false;
}

LogicalResult planStore(Scene &scene, tile::StoreOp op, Step &step) {
  StoreStep store;
  store.group = scene.storeGroups.find(op)->second;
  LogicalResult planned = success();
  if (store.group.size() == 1) {
    bool interleaved = isInterleaved(scene, op);
    store.form = interleaved ? StoreStep::Form::Interleaved : StoreStep::Form::Single;
    planned = interleaved ? planInterleaved(scene, op, step) : planSingle(scene, op, step);
  } else if (op == store.group.front()) {
    store.form = StoreStep::Form::Group;
    planned = planGroup(scene, store.group, step);
  } else {
    store.form = StoreStep::Form::InGroup;
  }
  if (store.form == StoreStep::Form::Single || store.form == StoreStep::Form::Group)
    store.limited = limitedDims(scene, store.group, step.strips);
  step.detail = std::move(store);
  return planned;
}

} // namespace tw::target::cpu
