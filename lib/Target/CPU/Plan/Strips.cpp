// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/CPU/Plan/Strips.h"
#include "IR/Tile/Elementwise.h"
#include "mlir/IR/Matchers.h"
#include <set>

using namespace mlir;

namespace tw::target::cpu {

Strips stripsOf(ArrayRef<Size> extents, unsigned widest) {
  Strips strips{-1, 1, true};
  for (auto [d, extent] : llvm::enumerate(extents))
    if (extent.constant() != 1)
      strips.lane = int(d);
  if (strips.lane >= 0)
    strips.lanes = widest;
  auto along = strips.lane >= 0 ? extents[strips.lane].constant() : std::nullopt;
  while (along && strips.lanes / 2 >= *along && strips.lanes > 1)
    strips.lanes /= 2;
  int64_t count = 1;
  for (auto [d, extent] : llvm::enumerate(extents)) {
    auto size = extent.constant();
    strips.isUnrolled &= size.has_value();
    if (size && count <= mostUnrolled)
      count *= int(d) == strips.lane ? llvm::divideCeil(*size, strips.lanes) : *size;
  }
  strips.isUnrolled &= count <= mostUnrolled;
  return strips;
}

bool readsLeftRegisters(const Scene &scene, ValueRange tiles) {
  if (!scene.hasLeftRegisters)
    return false;
  auto hasLeft = [&](Value tile) { return scene.stateOf(tile).hasLeftRegisters; };
  return llvm::any_of(tiles, [&](Value tile) {
    return hasLeft(tile) || anyInBackwardSlice(tile, scene.placed(), [&](Operation *op) {
             return llvm::any_of(op->getOperands(), hasLeft);
           });
  });
}

/// Vectors are as many elements as of this many bytes fit into a register.
constexpr int64_t leastWidth = 4;

/// What the lanes of an expression follow from: its operands, which are elements of vectors as its
/// result is. Positions are not.
static OperandRange vectorOperands(Operation *op) {
  OperandRange operands = op->getOperands();
  return isa<tile::LoadOp, tile::GatherOp>(op) ? operands.take_front(0) : operands;
}

int64_t widestOf(const Scene &scene, Value tile) {
  auto type = dyn_cast<RankedTensorType>(tile.getType());
  int64_t widest = type ? std::max(leastWidth, bytesOf(type.getElementType())) : leastWidth;
  Operation *op = type ? tile.getDefiningOp() : nullptr;
  if (!op)
    return widest;
  for (Value operand : vectorOperands(op)) {
    if (auto found = scene.widestBehind.find(operand); found != scene.widestBehind.end())
      widest = std::max(widest, found->second);
    else if (isa<RankedTensorType>(operand.getType()))
      widest = std::max(widest, bytesOf(getElementTypeOrSelf(operand.getType())));
  }
  return widest;
}

unsigned lanesFor(const Scene &scene, ValueRange tiles) {
  int64_t widest = leastWidth;
  llvm::DenseSet<Value> seen;
  SmallVector<Value> rest(tiles);
  while (!rest.empty()) {
    Value tile = rest.pop_back_val();
    auto type = dyn_cast<RankedTensorType>(tile.getType());
    if (!type || !seen.insert(tile).second)
      continue;
    // Nothing behind it is wider than what is known: expressions that are long are not gone
    // through.
    if (!scene.hasVectors)
      if (auto most = scene.widestBehind.find(tile);
          most != scene.widestBehind.end() && most->second <= widest)
        continue;
    // Registers are read whole, whatever is computed beside them.
    if (unsigned lanes = scene.stateOf(tile).lanes; lanes > 1)
      return lanes;
    widest = std::max(widest, bytesOf(type.getElementType()));
    Operation *op = tile.getDefiningOp();
    if (op && !scene.isPlaced(tile))
      llvm::append_range(rest, vectorOperands(op));
  }
  return std::max<unsigned>(scene.cpu.vectorBytes / widest, 1);
}

unsigned lanesToMove(const Scene &scene, Value tile, int lane) {
  int64_t bytes = bytesOf(cast<RankedTensorType>(tile.getType()).getElementType());
  unsigned usual = lanesFor(scene, tile);
  auto [load, dim] =
      lane >= 0 && !scene.isPlaced(tile) ? traceToLoad(tile, lane) : std::pair(tile::LoadOp(), -1);
  if (!load || load.getMask() ||
      load.getType().getElementType() != getElementTypeOrSelf(tile.getType()))
    return usual;
  Value position = load.getPositions()[dim];
  if (isa<RankedTensorType>(position.getType()) && !scene.isComputed(position))
    return usual;
  // What is left of a row at its end must be no more work than with shorter vectors.
  int64_t extent = extentsOf(tile)[lane].constant().value_or(1);
  unsigned most = scene.cpu.vectorBytes / bytes;
  while (most > usual && !hasNativeMasking(scene.cpu, bytes) && extent % most != 0)
    most /= 2;
  return std::max(most, usual);
}

namespace {

/// Places at most where a loop over strips is cut because of positions.
constexpr size_t mostCuts = 8;
/// Strips at most whose positions are looked at.
constexpr int64_t mostStrips = 256;

/// A tile of positions that is read where vectors lie along dimension `lane` of it.
struct PositionTile {
  Value tile;
  int lane;
};

/// All behind `tile`, where vectors lie along its dimension `lane`.
SmallVector<PositionTile> positionTiles(const Scene &scene, Value tile, int lane) {
  SmallVector<PositionTile> found;
  std::set<std::pair<void *, int>> seen;
  SmallVector<PositionTile> rest = {{tile, lane}};
  while (!rest.empty()) {
    auto [value, along] = rest.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (!op || along < 0 || scene.isPlaced(value) || !isa<RankedTensorType>(value.getType()) ||
        !seen.insert({value.getAsOpaquePointer(), along}).second)
      continue;
    if (auto load = dyn_cast<tile::LoadOp>(op)) {
      if (Value position = load.getPositions()[along]; isa<RankedTensorType>(position.getType()))
        found.push_back({position, 0});
    } else if (auto gather = dyn_cast<tile::GatherOp>(op)) {
      for (Value position : gather.getPositions())
        found.push_back({position, along});
    } else if (tile::isElementwise(op)) {
      for (Value operand : op->getOperands())
        rest.push_back({operand, along});
    } else if (auto source = sourceLane(op, along); source && !isa<tile::SliceOp>(op)) {
      rest.push_back({op->getOperand(0), *source});
    }
  }
  return found;
}

/// Whether a load begins at a constant position along `lane`, or along any dimension where it is
/// not known (nothing), and is not all inside.
bool hasKnownEdge(const Scene &scene, tile::LoadOp load, std::optional<int> lane) {
  for (unsigned d = 0; d < load.getPositions().size(); ++d)
    if (int(d) == lane.value_or(int(d)) && matchPattern(load.getPositions()[d], m_Constant()) &&
        !scene.inside.contains({load, d}))
      return true;
  return false;
}

/// Whether which of the strips along dimension `lane` are inside follows from their coordinates: a
/// load behind `tile` has a known edge there.
bool hasKnownEdges(const Scene &scene, Value tile, int lane) {
  std::set<std::pair<void *, std::optional<int>>> seen;
  SmallVector<std::pair<Value, std::optional<int>>> rest = {{tile, lane}};
  while (!rest.empty()) {
    auto [value, along] = rest.pop_back_val();
    Operation *op = value.getDefiningOp();
    bool isSame = along && *along < 0; // for all strips
    if (!op || isSame || scene.isPlaced(value) || !isa<RankedTensorType>(value.getType()) ||
        !seen.insert({value.getAsOpaquePointer(), along}).second)
      continue;
    if (auto load = dyn_cast<tile::LoadOp>(op); load && hasKnownEdge(scene, load, along))
      return true;
    auto source = !along || tile::isElementwise(op) ? along : sourceLane(op, *along);
    for (Value operand : op->getOperands())
      rest.push_back({operand, source});
  }
  return false;
}

/// By how much all numbers have grown, where it is the same for all.
std::optional<int64_t> growth(ArrayRef<int64_t> before, ArrayRef<int64_t> after) {
  int64_t grown = after[0] - before[0];
  bool isSame = llvm::all_of(llvm::zip(before, after), [&](auto pair) {
    return std::get<1>(pair) - std::get<0>(pair) == grown;
  });
  return isSame ? std::optional(grown) : std::nullopt;
}

/// Where positions stop growing by the same number from strip to strip; none if they are not all
/// known.
SmallVector<int64_t> changesIn(const Scene &scene, const PositionTile &positions, int64_t strips,
                               int64_t width) {
  SmallVector<int64_t> at(cast<RankedTensorType>(positions.tile.getType()).getRank(), 0), changes;
  std::optional<SmallVector<int64_t>> before;
  std::optional<int64_t> usual;
  for (int64_t strip = 0; strip < strips; ++strip) {
    at[positions.lane] = strip * width;
    auto numbers = scene.elements.numbers(positions.tile, at, positions.lane, unsigned(width));
    if (!numbers)
      return {};
    if (before) {
      auto grown = growth(*before, *numbers);
      bool isUsual = grown && (!usual || *usual == *grown);
      if (!isUsual)
        changes.push_back(strip * width);
      usual = isUsual ? grown : std::nullopt;
    }
    before = std::move(numbers);
  }
  return changes;
}

} // namespace

bool readsAtComputed(const Scene &scene, Value tile, int lane) {
  return llvm::any_of(positionTiles(scene, tile, lane),
                      [&](const PositionTile &one) { return scene.isComputed(one.tile); });
}

SmallVector<int64_t> cutsFor(const Scene &scene, Value tile, const Strips &strips) {
  SmallVector<int64_t> cuts;
  auto extent = strips.lane >= 0 ? extentsOf(tile)[strips.lane].constant() : std::nullopt;
  int64_t width = strips.lanes, count = strips.isUnrolled ? 0 : extent.value_or(0) / width;
  if (width == 1 || count < 2)
    return cuts;
  if (hasKnownEdges(scene, tile, strips.lane))
    cuts = {width, (count - 1) * width};
  for (const PositionTile &positions : positionTiles(scene, tile, strips.lane)) {
    if (count > mostStrips || !scene.isComputed(positions.tile))
      continue;
    SmallVector<int64_t> own = changesIn(scene, positions, count, width);
    if (own.size() <= mostCuts)
      llvm::append_range(cuts, own);
  }
  llvm::sort(cuts);
  cuts.erase(llvm::unique(cuts), cuts.end());
  return cuts;
}

} // namespace tw::target::cpu
