// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/CPU/Plan/Placements.h"
#include "IR/Tile/Elementwise.h"
#include "Target/CPU/Plan/Strips.h"

using namespace mlir;

namespace tw::target::cpu {
namespace {

/// What one root needs: expressions are walked through once, not path by path.
class Preparation {
public:
  Preparation(Scene &scene, const Strips &strips, Placements &before)
      : scene(scene), strips(strips), before(before) {}

  LogicalResult run(Value tile, int lane) {
    if (!seen.insert({tile, lane}).second)
      return success();
    if (scene.isInMemory(tile) || !isa<RankedTensorType>(tile.getType()))
      return success();
    if (scene.isInRegisters(tile))
      return readsRegisters(tile, lane) ? success() : toMemory(scene, tile, before);
    Operation *op = tile.getDefiningOp();
    if (!op)
      return emitError(scene.kernel.getLoc(), "a tile without a place"), failure();
    if (scene.shouldMaterialize(tile) ||
        (contiguousDim(tile, lane) && !isPartOfTransposed(tile, lane)))
      return toMemory(scene, tile, before);
    if (movesElements(op))
      return moved(op, lane);
    if (auto load = dyn_cast<tile::LoadOp>(op))
      return loaded(load, lane);
    for (Value operand : op->getOperands())
      if (isa<RankedTensorType>(operand.getType()) && failed(run(operand, lane)))
        return failure();
    return success();
  }

private:
  bool readsRegisters(Value tile, int lane) {
    auto type = cast<RankedTensorType>(tile.getType());
    return type.getNumElements() == 1 ||
           (strips.isUnrolled && scene.stateOf(tile).lanes == strips.lanes &&
            lane == int(type.getRank()) - 1);
  }

  LogicalResult moved(Operation *op, int lane) {
    if (auto slice = dyn_cast<tile::SliceOp>(op); slice && !keepsVectors(slice, lane, strips.lanes))
      return run(slice.getOperand(), -1);
    if (auto source = sourceLane(op, lane))
      return run(op->getOperand(0), *source);
    return reshapeInMemory(cast<tile::ReshapeOp>(op));
  }

  LogicalResult loaded(tile::LoadOp load, int lane) {
    for (auto [d, position] : llvm::enumerate(load.getPositions()))
      if (failed(run(position, int(d) == lane ? 0 : -1)))
        return failure();
    return load.getMask() ? run(load.getMask(), lane) : success();
  }

  /// Row-major elements lie where they lay.
  LogicalResult reshapeInMemory(tile::ReshapeOp op) {
    if (failed(toMemory(scene, op.getOperand(), before)))
      return failure();
    before.push_back({op.getResult(), /*isView=*/true, {}});
    scene.putInMemory(op.getResult(), scene.stateOf(op.getOperand()).room);
    return success();
  }

public:
  /// For an operand of `op` where the tile that is gone through is the result of `op` itself.
  LogicalResult runOperand(Operation *op, Value operand) {
    int lane = strips.lane;
    if (movesElements(op)) {
      auto source = sourceLane(op, lane);
      if (!source)
        return reshapeInMemory(cast<tile::ReshapeOp>(op));
      auto slice = dyn_cast<tile::SliceOp>(op);
      lane = slice && !keepsVectors(slice, lane, strips.lanes) ? -1 : *source;
    } else if (isa<tile::LoadOp>(op) && operand.getType() != op->getResult(0).getType()) {
      lane = 0; // a position
    }
    return run(operand, lane);
  }

private:
  Scene &scene;
  const Strips &strips;
  Placements &before;
  llvm::DenseSet<std::pair<Value, int>> seen;
};

} // namespace

LogicalResult prepare(Scene &scene, Value tile, const Strips &strips, int lane,
                      Placements &before) {
  return Preparation(scene, strips, before).run(tile, lane);
}

LogicalResult toMemory(Scene &scene, Value tile, Placements &before) {
  if (scene.isInMemory(tile))
    return success();
  if (isCancelled(scene.cancellation)) // of one step that places many
    return failure();
  FailureOr<Fill> fill = planFill(scene, tile);
  if (failed(fill))
    return failure();
  before.push_back({tile, /*isView=*/false, *std::move(fill)});
  scene.putInMemory(tile);
  return success();
}

/// How many elements along a dimension are left over by blocks of `lanes` and worth a block of
/// which only they are read: its shuffles cost less than reading a few elements for each one by
/// one.
static unsigned transposedRest(const Scene &scene, Value tile, int dim, unsigned lanes) {
  auto extent = extentsOf(tile)[dim].constant();
  auto type = cast<RankedTensorType>(tile.getType()).getElementType();
  if (!extent || !hasNativeMasking(scene.cpu, bytesOf(type)))
    return 0;
  unsigned rest = unsigned(*extent % lanes);
  return rest >= lanes / 4 ? rest : 0;
}

bool isPartOfTransposed(Value tile, int lane) {
  for (Operation *op = tile.getDefiningOp(); op && movesElements(op);) {
    auto slice = dyn_cast<tile::SliceOp>(op);
    if (slice && !slice.getOperand().hasOneUse() && slice.getStrides()[lane] == 1 &&
        contiguousDim(slice.getOperand(), lane))
      return true;
    auto source = sourceLane(op, lane);
    if (!source || *source < 0)
      return false;
    lane = *source;
    op = op->getOperand(0).getDefiningOp();
  }
  return false;
}

FailureOr<Fill> planFill(Scene &scene, Value tile) {
  Fill fill;
  Strips &strips = fill.strips;
  strips = stripsOf(extentsOf(tile), lanesFor(scene, tile));
  strips.isUnrolled &= !readsLeftRegisters(scene, tile);
  auto keep = tile.getDefiningOp<tile::KeepOp>();
  auto from = scene.isPlaced(tile) ? std::nullopt
                                   : contiguousDim(keep ? keep.getOperand() : tile, strips.lane);
  int lane = strips.lane;
  if (from) {
    strips.lane = *from;
    strips.isUnrolled = false;
  }
  if (scene.isInRegisters(tile)) {
    strips.isUnrolled = true;
    strips.lanes = scene.stateOf(tile).lanes;
    strips.lane = int(cast<RankedTensorType>(tile.getType()).getRank()) - 1;
  } else if (Operation *op = tile.getDefiningOp(); op && !scene.isInMemory(tile)) {
    for (Value operand : op->getOperands())
      if (!isa<tile::BufferType>(operand.getType()) &&
          failed(Preparation(scene, strips, fill.before).runOperand(op, operand)))
        return failure();
  }
  strips.cuts = cutsFor(scene, tile, strips);
  if (from) {
    unsigned lanes = lanesFor(scene, tile);
    fill.transposition = {lane, lanes, transposedRest(scene, tile, *from, lanes),
                          transposedRest(scene, tile, lane, lanes)};
  }
  return fill;
}

bool isInBuffer(const Scene &scene, Value tile) {
  if (scene.isInMemory(tile))
    return false;
  Value source = tile;
  while (source.getDefiningOp() && isa<tile::ReshapeOp, tile::TransposeOp>(source.getDefiningOp()))
    source = source.getDefiningOp()->getOperand(0);
  auto load = source.getDefiningOp<tile::LoadOp>();
  if (!load || load.getMask() || !load.getStrides().empty())
    return false;
  for (unsigned d = 0; d < load.getPositions().size(); ++d)
    if (!scene.inside.contains({load, d}) ||
        isa<RankedTensorType>(load.getPositions()[d].getType()))
      return false;
  for (auto [d, extent] : llvm::enumerate(extentsOf(tile)))
    if (!traceToLoad(tile, int(d)).first && extent.constant() != 1)
      return false;
  return true;
}

FailureOr<StridedPlacement> asStridedMemory(Scene &scene, Value tile, int along) {
  StridedPlacement placement;
  placement.isInBuffer = isInBuffer(scene, tile) && (along < 0 || isContiguous(tile, along));
  if (!placement.isInBuffer && failed(toMemory(scene, tile, placement.before)))
    return failure();
  return placement;
}

/// The one store that `tile` gets to through elementwise operations; what else is made of it are
/// reductions, which stand before.
static tile::StoreOp storeOfAll(Value tile) {
  tile::StoreOp store;
  llvm::DenseSet<Value> seen;
  SmallVector<Value> rest = {tile};
  SmallVector<Operation *> reductions;
  while (!rest.empty()) {
    Value value = rest.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    for (Operation *user : value.getUsers()) {
      auto found = dyn_cast<tile::StoreOp>(user);
      if (isa<tile::ReduceOp>(user))
        reductions.push_back(user);
      else if (found && (!store || store == found) && found.getTile() == value)
        store = found;
      else if (!found && tile::isElementwise(user))
        rest.push_back(user->getResult(0));
      else
        return {};
    }
  }
  bool isLast = store && store->getBlock() == tile.getParentBlock() &&
                llvm::all_of(reductions, [&](Operation *op) {
                  return op->getBlock() == store->getBlock() && op->isBeforeInBlock(store);
                });
  return isLast ? store : tile::StoreOp();
}

tile::StoreOp outputAsScratch(Scene &scene, Value tile) {
  auto store = storeOfAll(tile);
  if (!store || store.getMask() || store.getUpdate() || !store.getStrides().empty() ||
      store.getTile().getType() != tile.getType() || !store.getBuffer().hasOneUse())
    return {};
  auto argument = scene.kernel.getArgument(cast<BlockArgument>(store.getBuffer()).getArgNumber());
  if (argument.getAccess() != tile::Access::Out || argument.getInit() ||
      scene.nonTemporal.contains(store.getBuffer()))
    return {};
  for (auto [d, position] : llvm::enumerate(store.getPositions()))
    if (isa<RankedTensorType>(position.getType()) || !scene.ready.contains(position) ||
        !scene.inside.contains({store, unsigned(d)}))
      return {};
  bool isOwn = scene.keptInOutputs.try_emplace(store, tile).first->second == tile;
  return isOwn ? store : tile::StoreOp();
}

} // namespace tw::target::cpu
