// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/NVIDIA/Product/Operand.h"
#include "Target/NVIDIA/Product/TileRoles.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tw::target::nvidia {

static constexpr int64_t mostOfDimension = int64_t(1) << 30;
static constexpr int64_t mostDims = 5;

bool throughReshape(tile::ReshapeOp op, std::array<unsigned, 2> &dims) {
  auto wide = [](Value value) {
    SmallVector<std::pair<unsigned, int64_t>> all;
    for (auto [d, extent] : llvm::enumerate(cast<RankedTensorType>(value.getType()).getShape()))
      if (extent != 1)
        all.push_back({unsigned(d), extent});
    return all;
  };
  auto from = wide(op.getOperand()), to = wide(op.getResult());
  if (from.size() != to.size())
    return false;
  for (auto [x, y] : llvm::zip(from, to))
    if (x.second != y.second || ShapedType::isDynamic(x.second))
      return false;
  for (unsigned &dim : dims)
    for (auto [x, y] : llvm::zip(from, to))
      if (y.first == dim) {
        dim = x.first;
        break;
      }
  return true;
}

static bool checkLoad(ProductOperand &operand, std::string &why) {
  auto no = [&](const char *reason) {
    why = reason;
    return false;
  };
  tile::LoadOp load = operand.load;
  auto type = cast<RankedTensorType>(load.getType());
  if (!type.hasStaticShape())
    return no("an operand's box is of unknown size");
  if (load.getMask() || llvm::any_of(load.getStrides(), [](int64_t s) { return s != 1; }) ||
      llvm::any_of(load.getPositions(),
                   [](Value at) { return isa<RankedTensorType>(at.getType()); }))
    return no("an operand is no plain box");
  if (load.getPad() && !matchPattern(load.getPad(), m_AnyZeroFloat()))
    return no("an operand is padded with something else than 0");
  operand.freeExtent = type.getDimSize(operand.freeDim);
  operand.sumExtent = type.getDimSize(operand.sumDim);
  if (operand.freeExtent * operand.sumExtent != type.getNumElements())
    return no("an operand is a box of more than two dimensions");
  auto last = unsigned(type.getRank() - 1);
  if (operand.freeDim != last && operand.sumDim != last)
    return no("an operand is not contiguous along a dimension of its matrix");
  operand.isSumInnermost = operand.sumDim == last;
  Type element = type.getElementType();
  if (!isHalf(element) && !element.isF32() && element.getIntOrFloatBitWidth() != 8)
    return no("an operand's elements are neither floats of 16 or 32 bits nor bytes");
  return canUseTensorMap(load.getBuffer(), why, &operand.needsAlignedRows);
}

/// Reshapes do not tell where a dimension of one element comes from: any other one will do.
static void findOneElement(ProductOperand &operand) {
  auto shape = cast<RankedTensorType>(tile::LoadOp(operand.load).getType()).getShape();
  for (auto [d, extent] : llvm::enumerate(shape))
    if (extent == 1 && d != operand.sumDim)
      operand.freeDim = unsigned(d);
}

bool findOperand(Value value, unsigned freeAxis, ProductOperand &operand, std::string &why,
                 bool mayBeOne) {
  bool isOne = cast<RankedTensorType>(value.getType()).getDimSize(freeAxis) == 1;
  std::array<unsigned, 2> dims = {freeAxis, 1 - freeAxis}; // free, sum
  while (!value.getDefiningOp<tile::LoadOp>()) {
    Operation *op = value.getDefiningOp();
    if (auto transpose = dyn_cast_or_null<tile::TransposeOp>(op)) {
      for (unsigned &dim : dims)
        dim = unsigned(transpose.getPermutation()[dim]);
    } else if (auto reshape = dyn_cast_or_null<tile::ReshapeOp>(op);
               !reshape || !throughReshape(reshape, dims)) {
      why = "an operand is computed, not loaded";
      return false;
    }
    value = op->getOperand(0);
  }
  operand.load = value.getDefiningOp<tile::LoadOp>();
  operand.freeDim = dims[0];
  operand.sumDim = dims[1];
  if (mayBeOne && isOne)
    findOneElement(operand);
  return checkLoad(operand, why);
}

namespace {

/// What an operand is computed from: the loads of all of its elements, with their dimensions.
class ComputedOperand {
public:
  ComputedOperand(Value value)
      : elements(typeOf(value).getNumElements()), block(value.getParentBlock()) {}

  /// Whether all is of single elements; `dims` are those of the operand's rows and sums in `value`.
  bool follow(Value value, std::array<unsigned, 2> dims) {
    Operation *op = value.getDefiningOp();
    if (!op || !isa<RankedTensorType>(value.getType()) || op->getBlock() != block)
      return true; // a scalar, or known before the trips
    if (!isOfSingleElements(op))
      return false;
    if (auto load = dyn_cast<tile::LoadOp>(op)) {
      if (load.getType().getNumElements() == elements &&
          !llvm::is_contained(found, std::pair(load, dims)))
        found.emplace_back(load, dims);
      return true;
    }
    if (auto transpose = dyn_cast<tile::TransposeOp>(op))
      for (unsigned &dim : dims)
        if (dim < transpose.getPermutation().size())
          dim = unsigned(transpose.getPermutation()[dim]);
    if (auto reshape = dyn_cast<tile::ReshapeOp>(op); reshape && !throughReshape(reshape, dims))
      return false;
    return llvm::all_of(op->getOperands(), [&](Value operand) { return follow(operand, dims); });
  }

  SmallVector<std::pair<tile::LoadOp, std::array<unsigned, 2>>> found;

private:
  static RankedTensorType typeOf(Value tile) { return cast<RankedTensorType>(tile.getType()); }
  int64_t elements;
  Block *block;
};

} // namespace

bool findComputedOperand(Value value, unsigned freeAxis, ProductOperand &operand,
                         std::string &why) {
  ComputedOperand from(value);
  if (!from.follow(value, {freeAxis, 1 - freeAxis}) || from.found.size() != 1) {
    why = "an operand is not computed element by element from one load";
    return false;
  }
  operand.load = from.found[0].first;
  operand.freeDim = from.found[0].second[0];
  operand.sumDim = from.found[0].second[1];
  return checkLoad(operand, why);
}

bool canUseTensorMap(Value buffer, std::string &why, bool *needsAlignedRows) {
  auto type = cast<tile::BufferType>(buffer.getType());
  std::vector<Size> sizes = tile::sizesOf(type);
  if (sizes.empty() || int64_t(sizes.size()) > mostDims) {
    why = "a buffer has no dimension, or more than five";
    return false;
  }
  int64_t bytes = type.getTileElementType().getIntOrFloatBitWidth() / 8;
  for (auto [d, size] : llvm::enumerate(sizes)) {
    std::optional<int64_t> known = size.constant();
    if (known && (*known < 1 || *known > mostOfDimension)) {
      why = "a buffer has a dimension of " + std::to_string(*known) + " elements";
      return false;
    }
    // A row's length is the distance between rows.
    bool isRow = d + 1 == sizes.size() && sizes.size() > 1;
    if (isRow && !known && needsAlignedRows) {
      *needsAlignedRows = true;
      continue;
    }
    if (isRow && (!known || *known * bytes % tmaAlignment != 0)) {
      why = known ? "rows of " + std::to_string(*known * bytes) +
                        " bytes are no multiples of the 16 that TMA wants"
                  : "rows are of a length known only at the call, which may be no multiple of the "
                    "16 bytes that TMA wants";
      return false;
    }
  }
  return true;
}

bool readsNoResult(tile::KernelOp kernel, std::string &why) {
  auto isWritten = [&](Value buffer) {
    auto number = cast<BlockArgument>(buffer).getArgNumber();
    return kernel.getArgument(number).getAccess() != tile::Access::In;
  };
  bool isFound = false;
  kernel.walk([&](Operation *op) {
    if (auto load = dyn_cast<tile::LoadOp>(op))
      isFound |= isWritten(load.getBuffer());
    else if (auto gather = dyn_cast<tile::GatherOp>(op))
      isFound |= isWritten(gather.getBuffer());
  });
  if (isFound)
    why = "it reads a buffer that it writes";
  return !isFound;
}

} // namespace tw::target::nvidia
