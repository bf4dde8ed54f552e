// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/NVIDIA/Emission/Width.h"
#include "IR/Tile/Elementwise.h"
#include "Target/NVIDIA/Emission/Emitter.h"
#include "Target/NVIDIA/Emission/Lanes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tw::target::nvidia {

static constexpr int64_t mostNeighbours = 8;
/// What may stay in the registers of a thread, of which 1024 threads have 64 each.
static constexpr int64_t mostPoints = 32;
/// Simple operations that are written out for a thread.
static constexpr int64_t mostWritten = 4096;
/// Rows that are written out one after the other, and elements of each: fewer leave most threads
/// of a block without any.
static constexpr int64_t mostRows = 4, leastColumns = 2048;

int64_t ownCost(Operation *op) {
  if (isa<arith::DivFOp, arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp,
          math::SqrtOp, math::RsqrtOp>(op))
    return 8;
  bool isSimple = op->getName().getDialectNamespace() == "arith" ||
                  isa<math::AbsFOp, math::AbsIOp, math::CeilOp, math::FloorOp, math::FmaOp,
                      math::CopySignOp, math::TruncOp, math::RoundEvenOp>(op);
  return isSimple && !isa<arith::RemFOp>(op) ? 1 : 24;
}

namespace {

/// The arithmetic of sizes on powers of two that surely divide them.
struct Multiples {
  static int64_t constant(int64_t number) { return Emitter::multipleOf(Ix(number)); }
  static int64_t symbol(const std::string &) { return 1; }
  static int64_t add(int64_t a, int64_t b) { return std::min(a, b); }
  static int64_t mul(int64_t a, int64_t b) { return std::min(a * b, constant(0)); }
  static int64_t floorDiv(int64_t, int64_t) { return 1; }
  static int64_t ceilDiv(int64_t, int64_t) { return 1; }
  static int64_t mod(int64_t a, int64_t b) { return std::min(a, b); }
};

int64_t multipleOf(const Size &size) { return size.build(Multiples()); }

bool isOneColumn(Type type) {
  auto tile = dyn_cast<RankedTensorType>(type);
  return !tile || tile.getRank() == 0 || tile.getShape().back() == 1;
}

/// Most neighbours for a load or store of a box.
template <typename Op>
int64_t neighboursOf(Op op, Type tile) {
  if (isOneColumn(tile))
    return mostNeighbours;
  if (isa<RankedTensorType>(op.getPositions().back().getType()) ||
      (!op.getStrides().empty() && op.getStrides().back() != 1))
    return 1;
  std::vector<Size> sizes = tile::sizesOf(cast<tile::BufferType>(op.getBuffer().getType()));
  int64_t most = multipleOf(tile::extentsOf(cast<RankedTensorType>(tile)).back());
  return sizes.size() > 1 ? std::min(most, multipleOf(sizes.back())) : most;
}

/// Whether an operation takes neighbours along the last dimension apart.
bool scattersNeighbours(Operation *op) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<tile::DotOp, tile::ScanOp, tile::SortOp, tile::ScatterOp, tile::TransposeOp>(
          [](Operation *) { return true; })
      .Case([](tile::ReduceOp o) {
        return int64_t(o.getAxis()) != o.getOperand().getType().getRank() - 1;
      })
      .Case([](tile::SliceOp o) {
        return !o.getOffsets().empty() &&
               (o.getOffsets().back() != 0 || o.getStrides().back() != 1);
      })
      .Case([](tile::ReshapeOp o) {
        Type from = o.getOperand().getType(), to = o.getResult().getType();
        return !isOneColumn(from) && !isOneColumn(to) &&
               cast<RankedTensorType>(from).getShape().back() !=
                   cast<RankedTensorType>(to).getShape().back();
      })
      .Default([](Operation *) { return false; });
}

/// What all operations of a kernel permit: of the narrowest elements that are read or written in
/// rows an access has all neighbours, of others several accesses have them.
struct Widths {
  int64_t most = mostNeighbours, narrowest = accessBytes;
  bool keepsNeighbours = true;

  void visit(Operation *op) {
    if (scattersNeighbours(op))
      keepsNeighbours = false;
    if (auto load = dyn_cast<tile::LoadOp>(op))
      access(load, load.getType());
    else if (auto store = dyn_cast<tile::StoreOp>(op))
      access(store, store.getTile().getType());
  }

  template <typename Op>
  void access(Op op, Type tile) {
    most = std::min(most, neighboursOf(op, tile));
    auto buffer = cast<tile::BufferType>(op.getBuffer().getType());
    if (!isOneColumn(tile))
      narrowest = std::min(narrowest, Emitter::bytesOf(buffer.getTileElementType()));
  }
};

/// Rows of a tile: what it has of the last dimension; 0 where that is not known.
int64_t rowsOf(RankedTensorType type) {
  return type.hasStaticShape() && type.getRank() > 0 && type.getNumElements() > 0
             ? type.getNumElements() / type.getShape().back()
             : 0;
}

/// Rows that all reductions of a kernel reduce, if they are a few of the longest ones; else 1.
int64_t reducedRows(tile::KernelOp kernel, const Width &width) {
  if (!width.isRowByRow || !width.largestTile)
    return 1;
  int64_t rows = 0;
  bool areSame = true;
  kernel.walk([&](tile::ReduceOp op) {
    auto type = op.getOperand().getType();
    rows = rows ? rows : rowsOf(type);
    areSame &= rowsOf(type) == rows && type.getNumElements() == *width.largestTile;
  });
  bool isFew = rows > 1 && rows <= mostRows;
  return areSame && isFew && *width.largestTile / rows >= leastColumns ? rows : 1;
}

} // namespace

Width widthOf(tile::KernelOp kernel) {
  Width width;
  Widths widths;
  int64_t cost = 1;
  kernel.walk([&](Operation *op) {
    widths.visit(op);
    for (Type type : op->getResultTypes()) {
      auto tile = dyn_cast<RankedTensorType>(type);
      if (!tile)
        continue;
      if (!tile.hasStaticShape())
        width.largestTile.reset();
      else if (width.largestTile)
        width.largestTile = std::max(*width.largestTile, tile.getNumElements());
      cost += tile::isElementwise(op) ? ownCost(op) : 0;
    }
  });
  width.held = std::min(mostPoints, mostWritten / cost);
  width.isRowByRow = widths.keepsNeighbours;
  width.rows = reducedRows(kernel, width);
  width.neighbours = width.isRowByRow ? std::min(widths.most, accessBytes / widths.narrowest) : 1;
  // Rather a warp that reads less at a time than a few threads.
  while (width.neighbours > 1 &&
         (width.neighbours > width.held ||
          (width.largestTile && *width.largestTile / width.neighbours < lanesOfWarp)))
    width.neighbours /= 2;
  return width;
}

} // namespace tw::target::nvidia
