// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/CPU/Plan/Analysis/Expressions.h"
#include "IR/Tile/Elementwise.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tw::target::cpu {

int64_t bytesOf(Type element) {
  if (element.isIndex())
    return 8;
  return element.isInteger(1) ? 1 : int64_t(element.getIntOrFloatBitWidth() / 8);
}

std::vector<Size> extentsOf(Value tile) {
  return tile::extentsOf(cast<RankedTensorType>(tile.getType()));
}

bool hasNativeMasking(const CpuFeatures &cpu, unsigned bytes) {
  return cpu.vectorBytes >= 64 || (cpu.vectorBytes >= 32 && bytes >= 4);
}

std::optional<unsigned> registerLanes(RankedTensorType type, const CpuFeatures &cpu) {
  if (!type.hasStaticShape())
    return std::nullopt;
  int64_t count = type.getNumElements();
  if (count == 1)
    return 1;
  unsigned wide = cpu.vectorBytes / std::max<int64_t>(bytesOf(type.getElementType()), 4);
  // The other registers hold what is multiplied or added.
  int64_t most = cpu.vectorRegisters * 7 / 8;
  if (type.getRank() == 0 || type.getShape().back() % wide != 0 || count / wide > most)
    return std::nullopt;
  return wide;
}

bool isScalarOperation(Operation *op) {
  return isMemoryEffectFree(op) && op->getNumResults() == 1 && op->getNumRegions() == 0 &&
         llvm::none_of(op->getOperandTypes(), llvm::IsaPred<RankedTensorType>) &&
         !isa<RankedTensorType>(op->getResult(0).getType());
}

//===----------------------------------------------------------------------===//
// What is behind a tile
//===----------------------------------------------------------------------===//

bool anyInBackwardSlice(Value tile, IsPlaced isPlaced,
                        llvm::function_ref<bool(Operation *)> holds) {
  llvm::DenseSet<Value> seen;
  SmallVector<Value> rest = {tile};
  while (!rest.empty()) {
    Value value = rest.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (!op || isPlaced(value) || !isa<RankedTensorType>(value.getType()) ||
        !seen.insert(value).second)
      continue;
    if (holds(op))
      return true;
    llvm::append_range(rest, op->getOperands());
  }
  return false;
}

bool isComputed(Value tile, IsPlaced isPlaced, bool fromConstants) {
  constexpr size_t mostOperations = 64;
  llvm::DenseSet<Value> seen;
  SmallVector<Value> rest = {tile};
  while (!rest.empty()) {
    Value value = rest.pop_back_val();
    if (!isa<RankedTensorType>(value.getType())) {
      if (fromConstants && !matchPattern(value, m_Constant()))
        return false;
      continue;
    }
    if (!seen.insert(value).second)
      continue;
    Operation *op = value.getDefiningOp();
    if (!op || isPlaced(value) || seen.size() > mostOperations ||
        !(tile::isElementwise(op) || isa<tile::IotaOp, tile::FullOp>(op) || movesElements(op)))
      return false;
    llvm::append_range(rest, op->getOperands());
  }
  return true;
}

/// Worth keeping rather than computing twice.
static bool isExpensive(Operation *op) {
  return op && tile::isElementwise(op) &&
         (isa<math::MathDialect>(op->getDialect()) ||
          isa<arith::DivFOp, arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp,
              arith::RemFOp>(op));
}

bool isWorthKeeping(Operation *op) { return isExpensive(op) || isa_and_present<tile::KeepOp>(op); }

bool isScalarToKeep(Operation *op) {
  auto type = op->getNumResults() == 1 ? dyn_cast<RankedTensorType>(op->getResult(0).getType())
                                       : RankedTensorType();
  return type && type.hasStaticShape() && type.getNumElements() == 1 && isWorthKeeping(op);
}

/// Numbers that follow from coordinates are folded where these are constants.
static bool isFolded(Value tile, IsPlaced isPlaced, const CpuFeatures &cpu) {
  auto type = cast<RankedTensorType>(tile.getType());
  return type.getElementType().isIntOrIndex() && type.hasStaticShape() &&
         type.getNumElements() <= mostUnrolled * int64_t(cpu.vectorBytes) / 8 &&
         isComputed(tile, isPlaced, /*fromConstants=*/true);
}

bool shouldMaterialize(Value tile, IsPlaced isPlaced, const CpuFeatures &cpu) {
  Operation *op = tile.getDefiningOp();
  if (!op || !tile::isElementwise(op) || isPlaced(tile))
    return false;
  if (auto keep = dyn_cast<tile::KeepOp>(op))
    return !isPlaced(keep.getOperand());
  auto isKept = [&](Value value) { return isPlaced(value) || value.getDefiningOp<tile::KeepOp>(); };
  return !tile.hasOneUse() && anyInBackwardSlice(tile, isKept, [&](Operation *o) {
    return isExpensive(o) && !isFolded(o->getResult(0), isPlaced, cpu);
  });
}

bool looksUp(Value tile, IsPlaced isPlaced) {
  return anyInBackwardSlice(tile, isPlaced, [&](Operation *op) {
    auto gather = dyn_cast<tile::GatherOp>(op);
    return gather &&
           !llvm::all_of(gather.getPositions(), [&](Value at) { return isComputed(at, isPlaced); });
  });
}

std::pair<tile::LoadOp, int> traceToLoad(Value tile, int dim) {
  while (Operation *op = tile.getDefiningOp()) {
    if (auto load = dyn_cast<tile::LoadOp>(op))
      return {load, dim};
    bool isWidening = isa<arith::ExtFOp, arith::ExtSIOp, arith::ExtUIOp>(op);
    auto source = isWidening ? std::optional(dim) : sourceLane(op, dim);
    if (!source || *source < 0)
      break;
    dim = *source;
    tile = op->getOperand(0);
  }
  return {nullptr, -1};
}

bool isContiguous(Value tile, int dim) {
  auto [load, at] = traceToLoad(tile, dim);
  return load && at + 1 == load.getType().getRank() &&
         !isa<RankedTensorType>(load.getPositions()[at].getType()) &&
         (load.getStrides().empty() || load.getStrides()[at] == 1);
}

std::optional<int> contiguousDim(Value tile, int lane) {
  auto type = cast<RankedTensorType>(tile.getType());
  if (lane < 0 || type.getElementType().isInteger(1) || !traceToLoad(tile, lane).first ||
      isContiguous(tile, lane))
    return std::nullopt;
  // What is only a few elements long is not worth it.
  constexpr int64_t least = 4;
  std::vector<Size> extents = extentsOf(tile);
  auto isLong = [&](int dim) { return extents[dim].constant().value_or(least) >= least; };
  for (int d = 0; d < type.getRank(); ++d)
    if (d != lane && isContiguous(tile, d) && isLong(d) && isLong(lane))
      return d;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Checks of positions
//===----------------------------------------------------------------------===//

static bool onlyChangesShape(Operation *op) {
  return isa_and_present<tile::ReshapeOp, tile::BroadcastOp>(op);
}

/// Whether every element of a tile is evaluated by a store in the same block.
static bool isStoredWhole(Value tile) {
  return llvm::any_of(tile.getUsers(), [&](Operation *user) {
    if (user->getBlock() != tile.getParentBlock())
      return false;
    if (auto store = dyn_cast<tile::StoreOp>(user))
      return store.getTile() == tile && !store.getMask();
    return (tile::isElementwise(user) || onlyChangesShape(user) || isa<tile::TransposeOp>(user)) &&
           isStoredWhole(user->getResult(0));
  });
}

/// Whether `tile`, of checked positions, is used for positions alone; `isCovered`: of something
/// that takes all of them.
static bool isOnlyPosition(Value tile, bool &isCovered) {
  return llvm::all_of(tile.getUsers(), [&](Operation *user) {
    if (user->getBlock() != tile.getParentBlock())
      return false;
    if (onlyChangesShape(user))
      return isOnlyPosition(user->getResult(0), isCovered);
    if (auto scatter = dyn_cast<tile::ScatterOp>(user)) {
      isCovered = true;
      return scatter.getTile() != tile;
    }
    if (!isa<tile::LoadOp, tile::GatherOp>(user))
      return false;
    isCovered |= isStoredWhole(user->getResult(0));
    return true;
  });
}

bool isDeferred(tile::CheckOp op) {
  auto type = dyn_cast<RankedTensorType>(op.getResult().getType());
  bool isCovered = false;
  return type && !(type.hasStaticShape() && type.getNumElements() == 1) &&
         isOnlyPosition(op.getResult(), isCovered) && isCovered;
}

//===----------------------------------------------------------------------===//
// Operations that move elements
//===----------------------------------------------------------------------===//

bool movesElements(Operation *op) {
  return isa<tile::BroadcastOp, tile::ReshapeOp, tile::TransposeOp, tile::SliceOp>(op);
}

bool keepsVectors(tile::SliceOp op, int lane, unsigned lanes) {
  return lane < 0 || (op.getStrides()[lane] == 1 && op.getOffsets()[lane] % lanes == 0);
}

/// The dimensions whose extent is not 1.
static SmallVector<int> longDims(ArrayRef<Size> extents) {
  SmallVector<int> dims;
  for (auto [d, extent] : llvm::enumerate(extents))
    if (!(extent == Size(1)))
      dims.push_back(int(d));
  return dims;
}

std::optional<UnitReshape> unitReshape(tile::ReshapeOp op) {
  std::vector<Size> from = extentsOf(op.getOperand()), to = extentsOf(op.getResult());
  UnitReshape reshape{longDims(from), longDims(to)};
  if (reshape.from.size() != reshape.to.size())
    return std::nullopt;
  for (auto [f, t] : llvm::zip(reshape.from, reshape.to))
    if (!(from[f] == to[t]))
      return std::nullopt;
  return reshape;
}

int sameLeading(ArrayRef<Size> from, ArrayRef<Size> to) {
  return int(std::mismatch(from.begin(), from.end(), to.begin(), to.end()).first - from.begin());
}

static std::optional<int> reshapedLane(tile::ReshapeOp op, int lane) {
  if (auto units = unitReshape(op)) {
    for (auto [f, t] : llvm::zip(units->from, units->to))
      if (t == lane)
        return f;
    return -1; // a dimension of extent 1 has one element
  }
  std::vector<Size> from = extentsOf(op.getOperand()), to = extentsOf(op.getResult());
  bool isLast = lane == int(to.size()) - 1 && !from.empty() && from.back() == to.back();
  if (lane < sameLeading(from, to)) // or -1
    return lane;
  return isLast ? std::optional(int(from.size()) - 1) : std::nullopt;
}

std::optional<int> sourceLane(Operation *op, int lane) {
  return llvm::TypeSwitch<Operation *, std::optional<int>>(op)
      .Case([&](tile::BroadcastOp o) -> std::optional<int> {
        return lane >= 0 && extentsOf(o.getOperand())[lane] == Size(1) ? -1 : lane;
      })
      .Case([&](tile::ReshapeOp o) { return reshapedLane(o, lane); })
      .Case([&](tile::TransposeOp o) -> std::optional<int> {
        return lane < 0 ? -1 : int(o.getPermutation()[lane]);
      })
      .Case([&](tile::SliceOp) -> std::optional<int> { return lane; })
      .Default([](Operation *) { return std::nullopt; });
}

} // namespace tw::target::cpu
