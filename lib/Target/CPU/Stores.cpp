// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stores of whole tiles, each in a loop over its elements; those that follow each other and have
// one shape in one loop, so that what they have in common is read and computed once. In it all
// values of a point are computed before the first is stored: a buffer may be updated where it is
// read.
#include "Target/CPU/Emitter.h"
#include "Target/Common/Bounds.h"

using namespace mlir;

namespace tw::target::cpu {

/// A store that need not run alone, for how it goes through its elements.
static bool canJoin(Emitter &e, tile::StoreOp op) {
  auto type = op.getTile().getType();
  auto isPlain = [](Value position) { return !isa<RankedTensorType>(position.getType()); };
  return !op.getUpdate() && type.hasStaticShape() && type.getRank() > 0 &&
         type.getShape().back() > Emitter::mostInterleaved &&
         llvm::all_of(op.getPositions(), isPlain) && !e.looksUp(op.getTile());
}

static bool fits(Emitter &e, ArrayRef<tile::StoreOp> group, tile::StoreOp next) {
  tile::StoreOp first = group.front();
  return canJoin(e, first) && canJoin(e, next) &&
         first.getTile().getType().getShape() == next.getTile().getType().getShape() &&
         llvm::none_of(group,
                       [&](tile::StoreOp one) { return one.getBuffer() == next.getBuffer(); });
}

void Emitter::groupStores(Block &block) {
  Operation *before = nullptr;
  for (auto store : block.getOps<tile::StoreOp>()) {
    bool follows = before && store->getPrevNode() == before;
    if (follows && fits(*this, storeGroups[groupOf[before]], store)) {
      storeGroups[groupOf[before]].push_back(store);
      groupOf[store] = groupOf[before];
    } else {
      groupOf[store] = unsigned(storeGroups.size());
      storeGroups.push_back({store});
    }
    before = store;
  }
}

bool Emitter::mustReadNow(tile::LoadOp op) {
  auto argument = dyn_cast<BlockArgument>(op.getBuffer());
  if (!argument || kernel.getArgument(argument.getArgNumber()).getAccess() == tile::Access::In)
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
    for (tile::StoreOp one : storeGroups[groupOf.lookup(store)])
      sinks.insert(one);
    if (!reachesOnlyElementwise(op.getResult(), sinks))
      return true;
  }
  return false;
}

LogicalResult Emitter::storeTiles(tile::StoreOp op) {
  const StoreGroup group = storeGroups[groupOf.lookup(op)];
  if (group.size() == 1)
    return storeTile(op);
  return op == group.front() ? storeTogether(group) : success();
}

LogicalResult Emitter::storeTogether(ArrayRef<tile::StoreOp> stores) {
  SmallVector<Value> tiles, read; // `read`: with the masks, which may come from what is stored to
  for (tile::StoreOp store : stores) {
    tiles.push_back(store.getTile());
    if (store.getMask())
      read.push_back(store.getMask());
  }
  llvm::append_range(read, tiles);
  Domain domain = domainOf(extents(tiles.front()), lanesFor(tiles));
  for (Value tile : read)
    if (failed(prepare(tile, domain, domain.lane)))
      return failure();
  Scope scope(*this);
  return overElements(domain, [&](const Point &point) -> LogicalResult {
    for (Value tile : read)
      if (failed(evaluate(tile, point)))
        return failure();
    for (tile::StoreOp store : stores)
      if (failed(this->store(store, point)))
        return failure();
    return success();
  });
}

LogicalResult Emitter::storeTile(tile::StoreOp op) {
  if (isInterleaved(op))
    return storeInterleaved(op);
  Domain domain = domainOf(extents(op.getTile()), lanesFor(op.getTile()));
  domain = domainOf(domain.extents, lanesToMove(op.getTile(), domain.lane));
  // Positions from a tile go one by one: they may be equal, and then the last write stays.
  bool isIndexed =
      domain.lane >= 0 && isa<RankedTensorType>(op.getPositions()[domain.lane].getType());
  // LLVM would make a gather of so few elements again.
  constexpr unsigned fewLanes = 4;
  bool isShort = domain.lanes <= fewLanes && !domain.isUnrolled && looksUp(op.getTile());
  if (op.getUpdate() || isIndexed || isShort)
    domain = {domain.extents, -1, 1, false};
  domain.cuts = cutsFor(op.getTile(), domain);
  if (failed(prepare(op.getTile(), domain, domain.lane)))
    return failure();
  if (op.getMask() && failed(prepare(op.getMask(), domain, domain.lane)))
    return failure();
  for (Value position : op.getPositions())
    if (isa<RankedTensorType>(position.getType()) && failed(prepare(position, domain, -1)))
      return failure();
  Scope scope(*this);
  return overElements(domain, [&](const Point &point) { return store(op, point); });
}

} // namespace tw::target::cpu
