// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "GraphToTile/Lowering/TileBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include <cmath>

using namespace mlir;

namespace tw::conversion {

Extents TileBuilder::extentsOf(Value tile) {
  return tile::extentsOf(cast<RankedTensorType>(tile.getType()));
}

Type TileBuilder::elementOf(Value tile) {
  return cast<RankedTensorType>(tile.getType()).getElementType();
}

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

Value TileBuilder::index(const Size &size) {
  if (auto number = size.constant())
    return arith::ConstantIndexOp::create(b, loc, *number);
  return tile::SizeOp::create(b, loc, b.getIndexType(), tile::SizeAttr::get(b.getContext(), size));
}

Value TileBuilder::add(Value x, Value y) { return b.createOrFold<arith::AddIOp>(loc, x, y); }

Value TileBuilder::mul(Value x, int64_t factor) {
  if (factor == 1)
    return x;
  return b.createOrFold<arith::MulIOp>(loc, x, arith::ConstantIndexOp::create(b, loc, factor));
}

Value TileBuilder::toIndex(Value scalar) {
  if (scalar.getType().isIndex())
    return scalar;
  return arith::IndexCastOp::create(b, loc, b.getIndexType(), scalar);
}

Value TileBuilder::toI64(Value index) {
  if (auto number = getConstantIntValue(index))
    return arith::ConstantIntOp::create(b, loc, *number, 64);
  return arith::IndexCastOp::create(b, loc, b.getI64Type(), index);
}

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

Value TileBuilder::constant(TypedAttr value) { return arith::ConstantOp::create(b, loc, value); }

Value TileBuilder::number(double value, Type type) {
  if (isa<FloatType>(type))
    return constant(b.getFloatAttr(type, value));
  unsigned width = type.getIntOrFloatBitWidth();
  APInt bits = std::isfinite(value) ? APInt(width, uint64_t(int64_t(value)), true, true)
               : width == 1         ? APInt(1, value > 0)
               : value < 0          ? APInt::getSignedMinValue(width)
                                    : APInt::getSignedMaxValue(width);
  return constant(b.getIntegerAttr(type, bits));
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

Value TileBuilder::full(Value scalar, const Extents &extents) {
  return tile::FullOp::create(b, loc, tile::tileType(extents, scalar.getType()), scalar);
}

Value TileBuilder::iota(const Extents &extents, int axis, Value start) {
  return tile::IotaOp::create(b, loc, tile::tileType(extents, b.getI64Type()), axis, start);
}

Value TileBuilder::reshape(Value tile, const Extents &extents) {
  Type type = tile::tileType(extents, elementOf(tile));
  return type == tile.getType() ? tile : Value(tile::ReshapeOp::create(b, loc, type, tile));
}

Value TileBuilder::broadcast(Value tile, const Extents &extents) {
  Type type = tile::tileType(extents, elementOf(tile));
  return type == tile.getType() ? tile : Value(tile::BroadcastOp::create(b, loc, type, tile));
}

Value TileBuilder::transpose(Value tile, ArrayRef<int> permutation) {
  if (llvm::is_sorted(permutation))
    return tile;
  Extents from = extentsOf(tile), extents;
  SmallVector<int64_t> axes(permutation);
  for (int64_t axis : axes)
    extents.push_back(from[axis]);
  return tile::TransposeOp::create(b, loc, tile::tileType(extents, elementOf(tile)), tile, axes);
}

Value TileBuilder::extract(Value tile) {
  return tile::ExtractOp::create(b, loc, elementOf(tile), tile);
}

Value TileBuilder::reduce(tile::ReduceKind kind, Value tile, int axis) {
  Extents kept = extentsOf(tile), dropped = kept;
  kept[axis] = Size(1);
  dropped.erase(dropped.begin() + axis);
  bool isPosition = kind == tile::ReduceKind::ArgMax || kind == tile::ReduceKind::ArgMin;
  Type element = isPosition ? b.getI64Type() : elementOf(tile);
  Value reduced =
      tile::ReduceOp::create(b, loc, tile::tileType(dropped, element), kind, tile, axis);
  return reshape(reduced, kept);
}

Value TileBuilder::scan(tile::ScanKind kind, Value tile, int axis, bool isReverse) {
  return tile::ScanOp::create(b, loc, tile.getType(), kind, tile, axis, isReverse);
}

TileBuilder::Tiles TileBuilder::sort(Value tile, int axis, const Size &count, bool isDescending,
                                     bool isUnsigned) {
  Extents kept = extentsOf(tile);
  kept[axis] = count;
  auto op = tile::SortOp::create(b, loc, tile::tileType(kept, elementOf(tile)),
                                 tile::tileType(kept, b.getI64Type()), tile, axis, isDescending,
                                 isUnsigned && !elementOf(tile).isInteger(1));
  return {op.getValues(), op.getPositions()};
}

Value TileBuilder::elementwise(StringRef operation, ArrayRef<Value> operands, Type element,
                               Attribute predicate) {
  Extents extents = extentsOf(operands[0]);
  for (Value operand : operands.drop_front())
    for (auto [all, own] : llvm::zip(extents, extentsOf(operand)))
      if (isOne(all))
        all = own;
  OperationState state(loc, operation);
  for (Value operand : operands)
    state.addOperands(broadcast(operand, extents));
  state.addTypes(tile::tileType(extents, element));
  if (predicate)
    state.addAttribute("predicate", predicate);
  return b.create(state)->getResult(0);
}

Value TileBuilder::isLess(Value x, Value y) {
  return elementwise("arith.cmpi", {x, y}, b.getI1Type(),
                     arith::CmpIPredicateAttr::get(b.getContext(), arith::CmpIPredicate::slt));
}

Value TileBuilder::both(Value mask, Value other) {
  return !mask ? other : !other ? mask : elementwise("arith.andi", {mask, other}, b.getI1Type());
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

tile::ForOp TileBuilder::loop(Value begin, Value end, Value step, ValueRange inits, Body body,
                              Combine combine) {
  auto op = tile::ForOp::create(b, loc, inits.getTypes(), begin, end, step, inits);
  OpBuilder::InsertionGuard guard(b);
  auto fill = [&](Region &region, TypeRange types, llvm::function_ref<Tiles(ValueRange)> values) {
    Block *block = b.createBlock(&region, {}, types, SmallVector<Location>(types.size(), loc));
    Tiles yielded = values(block->getArguments());
    b.setInsertionPointToEnd(block);
    tile::YieldOp::create(b, loc, yielded);
  };
  SmallVector<Type> carried = {b.getIndexType()};
  llvm::append_range(carried, inits.getTypes());
  fill(op.getBody(), carried,
       [&](ValueRange arguments) { return body(arguments[0], arguments.drop_front()); });
  if (!combine)
    return op;
  SmallVector<Type> states(inits.getTypes());
  llvm::append_range(states, inits.getTypes());
  fill(op.getCombine(), states, [&](ValueRange arguments) {
    return combine(arguments.take_front(inits.size()), arguments.drop_front(inits.size()));
  });
  return op;
}

} // namespace tw::conversion
