// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Tile/CutRows.h"
#include "IR/Tile/Elementwise.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tw::tile {
namespace {

RankedTensorType tileOf(Value value) { return dyn_cast<RankedTensorType>(value.getType()); }

/// The dimension of `to` that dimension `dim` of `from` is, where extents other than 1 are the same
/// in both.
std::optional<unsigned> throughReshape(RankedTensorType from, RankedTensorType to, unsigned dim) {
  auto wide = [](RankedTensorType type) {
    SmallVector<std::pair<int64_t, unsigned>> all;
    for (auto [d, extent] : llvm::enumerate(type.getShape()))
      if (extent != 1)
        all.push_back({extent, unsigned(d)});
    return all;
  };
  auto source = wide(from), result = wide(to);
  if (source.size() != result.size())
    return std::nullopt;
  std::optional<unsigned> found;
  for (auto [x, y] : llvm::zip(source, result)) {
    if (x.first != y.first)
      return std::nullopt;
    if (x.second == dim)
      found = y.second;
  }
  return found;
}

class RowCutter {
public:
  RowCutter(KernelOp kernel, int64_t rows) : kernel(kernel), rows(rows) {}

  /// Follows rows from a tile to all that has them.
  bool follow(Value tile, unsigned dim) {
    auto type = tileOf(tile);
    if (!type || !type.hasStaticShape() || type.getDimSize(dim) % rows != 0 ||
        (count && type.getDimSize(dim) != count))
      return false;
    count = type.getDimSize(dim);
    auto [known, isNew] = dims.try_emplace(tile, dim);
    if (!isNew)
      return known->second == dim;
    Operation *made = tile.getDefiningOp();
    return made && followOperation(made) &&
           llvm::all_of(tile.getUsers(), [&](Operation *user) { return followOperation(user); });
  }

  bool coversStores() {
    bool covers = true;
    kernel.walk([&](StoreOp store) { covers &= dims.contains(store.getTile()); });
    return covers;
  }

  void cut() {
    auto grid = kernel.getGrid().getAsRange<SizeAttr>();
    SmallVector<Attribute> sizes(grid.begin(), grid.end());
    sizes.push_back(SizeAttr::get(kernel.getContext(), Size(count / rows)));
    OpBuilder b = OpBuilder::atBlockBegin(&kernel.getBody().front());
    Location loc = kernel.getLoc();
    Value program = ProgramIdOp::create(b, loc, b.getIndexType(), sizes.size() - 1);
    Value each = arith::ConstantIndexOp::create(b, loc, rows);
    Value first = arith::MulIOp::create(b, loc, program, each);
    kernel.setGridAttr(b.getArrayAttr(sizes));
    if (auto block = kernel->getAttrOfType<DenseI64ArrayAttr>(TileDialect::blockName)) {
      SmallVector<int64_t> order(block.asArrayRef());
      order.push_back(1);
      kernel->setAttr(TileDialect::blockName, b.getDenseI64ArrayAttr(order));
    }
    kernel.walk([&](Operation *op) { cutOperation(op, first); });
    for (auto [tile, dim] : dims) {
      SmallVector<int64_t> shape(tileOf(tile).getShape());
      shape[dim] = rows;
      Value(tile).setType(RankedTensorType::get(shape, tileOf(tile).getElementType()));
    }
  }

private:
  /// The dimension of any tile of an operation of tiles of one shape.
  bool followAll(Operation *op) {
    std::optional<unsigned> dim;
    SmallVector<Value> tiles(op->getOperands());
    llvm::append_range(tiles, op->getResults());
    llvm::erase_if(tiles, [](Value value) { return !tileOf(value); });
    for (Value tile : tiles)
      if (auto found = dims.find(tile); found != dims.end())
        dim = found->second;
    return dim && llvm::all_of(tiles, [&](Value tile) { return follow(tile, *dim); });
  }

  /// Both sides of an operation on the shape of a tile.
  bool followBoth(Value operand, Value result,
                  llvm::function_ref<std::optional<unsigned>(unsigned)> toResult,
                  llvm::function_ref<std::optional<unsigned>(unsigned)> toOperand) {
    if (auto found = dims.find(operand); found != dims.end()) {
      auto dim = toResult(found->second);
      return dim && follow(result, *dim);
    }
    auto dim = toOperand(dims.find(result)->second);
    return dim && follow(operand, *dim);
  }

  bool followBroadcast(BroadcastOp op) {
    auto found = dims.find(op.getResult());
    if (found != dims.end() && tileOf(op.getOperand()).getDimSize(found->second) == 1 && count != 1)
      return true;
    auto same = [](unsigned dim) { return std::optional(dim); };
    return followBoth(op.getOperand(), op.getResult(), same, same);
  }

  bool followOperation(Operation *op) {
    if (op->getBlock() != &kernel.getBody().front())
      return false;
    auto isPlain = [](OperandRange positions) {
      return llvm::none_of(positions, [](Value at) { return tileOf(at) != nullptr; });
    };
    if (isElementwise(op) || isa<FullOp, IotaOp>(op))
      return followAll(op);
    if (auto load = dyn_cast<LoadOp>(op))
      return isPlain(load.getPositions()) && followAll(op);
    if (auto store = dyn_cast<StoreOp>(op))
      return isPlain(store.getPositions()) && !store.getUpdate() && followAll(op);
    if (auto broadcast = dyn_cast<BroadcastOp>(op))
      return followBroadcast(broadcast);
    if (auto reshape = dyn_cast<ReshapeOp>(op)) {
      RankedTensorType from = tileOf(reshape.getOperand()), to = tileOf(reshape.getResult());
      return followBoth(
          reshape.getOperand(), reshape.getResult(),
          [&](unsigned dim) { return throughReshape(from, to, dim); },
          [&](unsigned dim) { return throughReshape(to, from, dim); });
    }
    if (auto transpose = dyn_cast<TransposeOp>(op)) {
      ArrayRef<int64_t> from = transpose.getPermutation();
      return followBoth(
          transpose.getOperand(), transpose.getResult(),
          [&](unsigned dim) { return unsigned(llvm::find(from, int64_t(dim)) - from.begin()); },
          [&](unsigned dim) { return unsigned(from[dim]); });
    }
    return false;
  }

  void cutOperation(Operation *op, Value first) {
    OpBuilder b(op);
    auto moved = [&](Value position, int64_t stride) -> Value {
      Value by = first;
      if (stride != 1)
        by = arith::MulIOp::create(b, op->getLoc(), first,
                                   arith::ConstantIndexOp::create(b, op->getLoc(), stride));
      return arith::AddIOp::create(b, op->getLoc(), position, by);
    };
    auto moveBox = [&](Value tile, auto box) {
      auto found = dims.find(tile);
      if (found == dims.end())
        return;
      unsigned dim = found->second;
      ArrayRef<int64_t> strides = box.getStrides();
      Value position = box.getPositions()[dim];
      box.getPositionsMutable()[dim].assign(moved(position, strides.empty() ? 1 : strides[dim]));
    };
    if (auto load = dyn_cast<LoadOp>(op)) {
      moveBox(load.getResult(), load);
    } else if (auto store = dyn_cast<StoreOp>(op)) {
      moveBox(store.getTile(), store);
      store.setDrop(true); // programs may begin where the buffer has ended
    } else if (auto iota = dyn_cast<IotaOp>(op)) {
      auto found = dims.find(iota.getResult());
      if (found != dims.end() && found->second == iota.getDim())
        iota.getStartMutable().assign(moved(iota.getStart(), 1));
    }
  }

  KernelOp kernel;
  int64_t rows, count = 0;
  llvm::MapVector<Value, unsigned> dims; // along which rows run
};

} // namespace

bool cutRows(KernelOp kernel, ArrayRef<std::pair<Value, unsigned>> tiles, int64_t rows) {
  RowCutter cutter(kernel, rows);
  for (auto [tile, dim] : tiles)
    if (!cutter.follow(tile, dim))
      return false;
  if (!cutter.coversStores())
    return false;
  cutter.cut();
  return true;
}

} // namespace tw::tile
