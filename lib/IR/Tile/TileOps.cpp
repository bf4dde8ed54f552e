// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operations on tiles: rules and folds.
#include "IR/Tile/Tile.h"
#include "Support/Checked.h"
#include "Support/Counted.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace tw;
using namespace tw::tile;

static std::string text(ArrayRef<Size> extents) {
  SmallVector<std::string> parts;
  for (const Size &extent : extents)
    parts.push_back(extent.str());
  return "[" + llvm::join(parts, ", ") + "]";
}

LogicalResult ProgramIdOp::verify() {
  auto kernel = (*this)->getParentOfType<KernelOp>();
  if (kernel && getDim() >= kernel.getGrid().size())
    return emitOpError() << "dimension " << getDim() << " is not one of the grid's "
                         << kernel.getGrid().size();
  return success();
}

OpFoldResult SizeOp::fold(FoldAdaptor) {
  if (auto value = getSize().getSize().constant())
    return IntegerAttr::get(getType(), *value);
  return {};
}

LogicalResult FullOp::verify() {
  if (getValue().getType() != getType().getElementType())
    return emitOpError() << "the value is " << getValue().getType() << ", but the elements are "
                         << getType().getElementType();
  return success();
}

LogicalResult IotaOp::verify() {
  if (int64_t(getDim()) >= getType().getRank())
    return emitOpError() << "dimension " << getDim() << " is not one of the tile's "
                         << getType().getRank();
  return success();
}

//===----------------------------------------------------------------------===//
// Products and reductions
//===----------------------------------------------------------------------===//

static bool isWidened(Type from, Type to) {
  if (isa<FloatType>(from) && isa<FloatType>(to))
    return from == to || from.getIntOrFloatBitWidth() < to.getIntOrFloatBitWidth();
  return from == to && isa<IntegerType>(from) && !from.isInteger(1);
}

LogicalResult DotOp::verify() {
  RankedTensorType a = getA().getType(), b = getB().getType(), acc = getAcc().getType();
  int64_t rank = acc.getRank();
  if (rank < 2 || a.getRank() != rank || b.getRank() != rank)
    return emitOpError() << "operands and accumulator have one rank of at least 2, but these have "
                         << a.getRank() << ", " << b.getRank() << " and " << rank;
  for (RankedTensorType operand : {a, b})
    if (!isWidened(operand.getElementType(), acc.getElementType()))
      return emitOpError() << "cannot add products of " << operand.getElementType() << " to "
                           << acc.getElementType();
  auto x = extentsOf(a), y = extentsOf(b), z = extentsOf(acc);
  bool fits =
      x[rank - 2] == z[rank - 2] && y[rank - 1] == z[rank - 1] && x[rank - 1] == y[rank - 2];
  for (int64_t d = 0; d + 2 < rank; ++d)
    fits = fits && x[d] == z[d] && y[d] == z[d];
  if (!fits)
    return emitOpError() << text(x) << " by " << text(y) << " does not give " << text(z);
  return success();
}

/// Which elements a kind of reduction takes.
static bool takes(ReduceKind kind, Type element) {
  bool isFloat = isa<FloatType>(element), isBool = element.isInteger(1);
  switch (kind) {
  case ReduceKind::And:
  case ReduceKind::Or:
    return !isFloat;
  case ReduceKind::UMax:
  case ReduceKind::UMin:
    return !isFloat && !isBool;
  default:
    return !isBool;
  }
}

LogicalResult ReduceOp::verify() {
  RankedTensorType type = getOperand().getType();
  if (int64_t(getAxis()) >= type.getRank())
    return emitOpError() << "axis " << getAxis() << " is not one of the tile's " << type.getRank();
  if (!takes(getKind(), type.getElementType()))
    return emitOpError() << "cannot reduce " << type.getElementType() << " by "
                         << stringifyReduceKind(getKind());
  bool isPosition = getKind() == ReduceKind::ArgMax || getKind() == ReduceKind::ArgMin;
  Type element = isPosition ? IntegerType::get(getContext(), 64) : type.getElementType();
  auto extents = extentsOf(type);
  extents.erase(extents.begin() + getAxis());
  if (auto wanted = tileType(extents, element); wanted != getType())
    return emitOpError() << "gives " << wanted << ", not " << getType();
  return success();
}

LogicalResult ScanOp::verify() {
  if (int64_t(getAxis()) >= getType().getRank())
    return emitOpError() << "axis " << getAxis() << " is not one of the tile's "
                         << getType().getRank();
  if (getType().getElementType().isInteger(1))
    return emitOpError("cannot scan i1");
  return success();
}

LogicalResult SortOp::verify() {
  RankedTensorType type = getOperand().getType();
  if (int64_t(getAxis()) >= type.getRank())
    return emitOpError() << "axis " << getAxis() << " is not one of the tile's " << type.getRank();
  if (isa<FloatType>(type.getElementType()) && getIsUnsigned())
    return emitOpError() << "cannot compare " << type.getElementType() << " as unsigned";
  auto all = extentsOf(type), kept = extentsOf(getValues().getType());
  if (kept.size() == all.size())
    all[getAxis()] = kept[getAxis()]; // that these are not more is known for static extents alone
  Type positions = IntegerType::get(getContext(), 64);
  std::pair<Type, RankedTensorType> results[] = {{type.getElementType(), getValues().getType()},
                                                 {positions, getPositions().getType()}};
  for (auto [element, result] : results)
    if (auto wanted = tileType(all, element); wanted != result)
      return emitOpError() << "gives " << wanted << ", not " << result;
  int64_t most = type.getDimSize(getAxis()), count = getValues().getType().getDimSize(getAxis());
  if (!ShapedType::isDynamic(most) && !ShapedType::isDynamic(count) && count > most)
    return emitOpError() << "gives the first " << count << " of " << most;
  return success();
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

LogicalResult BroadcastOp::verify() {
  auto from = extentsOf(getOperand().getType()), to = extentsOf(getType());
  bool fits = from.size() == to.size() &&
              getOperand().getType().getElementType() == getType().getElementType();
  for (size_t d = 0; fits && d < from.size(); ++d)
    fits = from[d] == to[d] || from[d] == Size(1);
  if (!fits)
    return emitOpError() << getOperand().getType() << " cannot be stretched to " << getType();
  return success();
}

OpFoldResult BroadcastOp::fold(FoldAdaptor) {
  return getOperand().getType() == getType() ? getOperand() : OpFoldResult();
}

LogicalResult ReshapeOp::verify() {
  auto product = [](ArrayRef<Size> extents) {
    Size product(1);
    for (const Size &extent : extents)
      product = product * extent;
    return product;
  };
  auto from = extentsOf(getOperand().getType()), to = extentsOf(getType());
  if (getOperand().getType().getElementType() != getType().getElementType())
    return emitOpError("changes the type of the elements");
  if (!(product(from) == product(to)))
    return emitOpError() << text(from) << " has " << counted(product(from).str(), "element")
                         << ", but " << text(to) << " has " << product(to).str();
  return success();
}

OpFoldResult ReshapeOp::fold(FoldAdaptor) {
  if (getOperand().getType() == getType())
    return getOperand();
  if (auto inner = getOperand().getDefiningOp<ReshapeOp>()) {
    getOperandMutable().assign(inner.getOperand());
    return getResult();
  }
  return {};
}

LogicalResult TransposeOp::verify() {
  auto from = extentsOf(getOperand().getType());
  SmallVector<int64_t> sorted(getPermutation());
  llvm::sort(sorted);
  if (!llvm::equal(sorted, llvm::seq<int64_t>(0, from.size())))
    return emitOpError() << "[" << getPermutation() << "] is not a permutation of the "
                         << from.size() << " dimensions";
  std::vector<Size> extents;
  for (int64_t d : getPermutation())
    extents.push_back(from[d]);
  if (auto wanted = tileType(extents, getOperand().getType().getElementType()); wanted != getType())
    return emitOpError() << "gives " << wanted << ", not " << getType();
  return success();
}

OpFoldResult TransposeOp::fold(FoldAdaptor) {
  if (llvm::equal(getPermutation(), llvm::seq<int64_t>(0, getType().getRank())))
    return getOperand();
  return {};
}

LogicalResult SliceOp::verify() {
  auto from = extentsOf(getOperand().getType()), to = extentsOf(getType());
  if (getOperand().getType().getElementType() != getType().getElementType())
    return emitOpError("changes the type of the elements");
  if (from.size() != to.size() || getOffsets().size() != from.size() ||
      getStrides().size() != from.size())
    return emitOpError() << "needs an offset, a stride and a result extent for each of the "
                         << from.size() << " dimensions";
  for (auto [d, offset, stride] : llvm::enumerate(getOffsets(), getStrides())) {
    auto have = from[d].constant(), want = to[d].constant();
    bool isWhole = offset == 0 && stride == 1 && from[d] == to[d];
    if (isWhole)
      continue;
    bool isKnown = have && want && stride != 0 && std::abs(stride) <= *have;
    auto span = isKnown ? checkedMul(*want - 1, stride) : std::nullopt;
    int64_t last = span ? checkedAdd(offset, *span).value_or(-1) : -1;
    bool fits =
        isKnown && (*want == 0 || (offset >= 0 && offset < *have && last >= 0 && last < *have));
    if (!fits)
      return emitOpError() << "dimension " << d << ": " << counted(to[d].str(), "element")
                           << " from " << offset << " with stride " << stride << " "
                           << oneOrMany(want.value_or(0), "is not", "are not all") << " inside "
                           << from[d].str();
  }
  return success();
}

LogicalResult ExtractOp::verify() {
  RankedTensorType type = getOperand().getType();
  if (!type.hasStaticShape() || type.getNumElements() != 1)
    return emitOpError() << "needs a tile of one element, but this is " << type;
  if (getType() != type.getElementType())
    return emitOpError() << "gives " << type.getElementType() << ", not " << getType();
  return success();
}
