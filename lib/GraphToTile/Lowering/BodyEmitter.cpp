// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "GraphToTile/Lowering/BodyEmitter.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tw::conversion {

/// index is i64 on tiles.
Type BodyEmitter::elementType(Value scalar) const {
  Type type = scalar.getType();
  return type.isIndex() ? b.b.getI64Type() : type;
}

Value BodyEmitter::emit(Value scalar) {
  if (auto it = known.find(scalar); it != known.end())
    return it->second;
  Value tile = compute(scalar);
  known[scalar] = tile;
  return tile;
}

Value BodyEmitter::compute(Value scalar) {
  if (auto argument = dyn_cast<BlockArgument>(scalar))
    return this->argument(argument);
  Operation *op = scalar.getDefiningOp();
  if (statement.lookUps.contains(op))
    return lookUp(op);
  return TypeSwitch<Operation *, Value>(op)
      .Case<arith::ConstantOp>([&](arith::ConstantOp op) { return constant(op.getValue()); })
      .Case<linalg::IndexOp, graph::IndexOp>(
          [&](auto op) { return coordinate(unsigned(op.getDim())); })
      .Case<arith::IndexCastOp, arith::IndexCastUIOp>([&](Operation *op) { return castIndex(op); })
      .Case<tensor::DimOp>([&](tensor::DimOp op) { return size(op); })
      .Case<graph::CheckIndexOp>([&](graph::CheckIndexOp op) { return check(op); })
      .Case<arith::CeilDivUIOp>([&](arith::CeilDivUIOp op) { return ceilDiv(op); })
      .Case<scf::ForOp>([&](scf::ForOp op) {
        loop(op);
        return known.at(scalar);
      })
      .Default([&](Operation *op) { return elementwise(op); });
}

Value BodyEmitter::constant(Attribute value) {
  auto typed = cast<TypedAttr>(value);
  if (typed.getType().isIndex())
    typed = b.b.getI64IntegerAttr(cast<IntegerAttr>(value).getInt());
  return b.full(b.constant(typed), ones());
}

/// A scalar that the dispatch is called with, as an i64, f64 or i1.
Value BodyEmitter::argument(BlockArgument value) {
  Value passed = frame.scalar(value);
  Type type = elementType(value);
  Value tile = b.full(passed, ones());
  if (passed.getType() == type)
    return tile;
  return b.elementwise(isa<FloatType>(type) ? "arith.truncf" : "arith.trunci", {tile}, type);
}

/// The coordinate along a loop, which may be several dimensions: ((a * B) + b) * C + c.
Value BodyEmitter::coordinate(unsigned loop) {
  Type i64 = b.b.getI64Type();
  Value all;
  for (int dim : statement.loops[loop]) {
    Value own = frame.coordinates(dim);
    if (all) {
      Value extent = b.full(b.toI64(b.index(frame.size(dim))), ones());
      own =
          b.elementwise("arith.addi", {b.elementwise("arith.muli", {all, extent}, i64), own}, i64);
    }
    all = own;
  }
  return all ? all : constant(b.b.getI64IntegerAttr(0));
}

Value BodyEmitter::castIndex(Operation *op) {
  Value from = emit(op->getOperand(0));
  Type type = elementType(op->getResult(0));
  unsigned have = TileBuilder::elementOf(from).getIntOrFloatBitWidth(),
           want = type.getIntOrFloatBitWidth();
  if (have == want)
    return from;
  StringRef name = want < have                     ? "arith.trunci"
                   : isa<arith::IndexCastUIOp>(op) ? "arith.extui"
                                                   : "arith.extsi";
  return b.elementwise(name, {from}, type);
}

/// A scalar of one element: a constant, or a tile's.
Value BodyEmitter::scalarOf(Value scalar) {
  TypedAttr value;
  if (matchPattern(scalar, m_Constant(&value)))
    return b.constant(value);
  return b.extract(emit(scalar));
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Value BodyEmitter::load(const Access &access, Value pad) {
  if (Value tile = scopes.loaded(access, pad))
    return tile;
  Value tile = frame.load(access, pad ? scalarOf(pad) : Value());
  scopes.setLoaded(access, pad, tile);
  return tile;
}

Value BodyEmitter::lookUp(Operation *op) {
  const LookUp &found = statement.lookUps.find(op)->second;
  if (!found.isGather)
    return load(found.access, found.pad);
  return gather(cast<tensor::ExtractOp>(op), found);
}

static int onlyDim(Value tile) { // -1: none, -2: several
  int only = -1;
  for (auto [dim, extent] : llvm::enumerate(TileBuilder::extentsOf(tile)))
    if (!isOne(extent))
      only = only == -1 ? int(dim) : -2;
  return only;
}

/// A box where every position runs along a dimension of its own, as the rows of an embedding do;
/// else single elements.
Value BodyEmitter::gather(tensor::ExtractOp op, const LookUp &lookUp) {
  Value buffer = frame.buffer(lookUp.access.buffer);
  Value pad = b.constant(cast<TypedAttr>(b.b.getZeroAttr(elementType(op))));
  if (Value box = gatherBox(op, buffer, pad))
    return box;
  SmallVector<Value> positions;
  Extents extents = ones();
  for (Value index : op.getIndices()) {
    positions.push_back(emit(index));
    for (auto [all, own] : llvm::zip(extents, TileBuilder::extentsOf(positions.back())))
      if (isOne(all))
        all = own;
  }
  for (Value &position : positions)
    position = b.broadcast(position, extents);
  return tile::GatherOp::create(b.b, b.loc, tile::tileType(extents, elementType(op)), buffer,
                                positions, Value(), pad);
}

/// Whether an index is the coordinate along a loop that is one dimension.
static bool isOneDim(Value index, const Statement &statement) {
  Operation *op = index.getDefiningOp();
  if (auto loop = dyn_cast_if_present<linalg::IndexOp>(op))
    return statement.loops[loop.getDim()].size() == 1;
  auto loop = dyn_cast_if_present<graph::IndexOp>(op);
  return loop && statement.loops[loop.getDim()].size() == 1;
}

/// Null if it is no box.
Value BodyEmitter::gatherBox(tensor::ExtractOp op, Value buffer, Value pad) {
  SmallVector<int> dims;
  for (Value index : op.getIndices()) {
    int dim = onlyDim(emit(index));
    if (dim == -2 || (dim >= 0 && llvm::is_contained(dims, dim)))
      return {};
    dims.push_back(dim);
  }
  SmallVector<Value> positions;
  Extents box;
  for (auto [index, dim] : llvm::zip(op.getIndices(), dims)) {
    Value tile = emit(index);
    Size extent = dim < 0 ? Size(1) : frame.parts[dim].extent;
    bool isCoordinate = dim >= 0 && isOneDim(index, statement);
    positions.push_back(isCoordinate ? frame.parts[dim].first
                        : dim < 0    ? b.toIndex(b.extract(tile))
                                     : b.reshape(tile, {extent}));
    box.push_back(extent);
  }
  Value tile = tile::LoadOp::create(b.b, b.loc, tile::tileType(box, elementType(op)), buffer,
                                    positions, ArrayRef<int64_t>(), Value(), pad);
  auto order = llvm::to_vector_of<int>(llvm::seq<int>(0, int(dims.size())));
  SmallVector<int> kept;
  llvm::stable_sort(order, [&](int x, int y) { return dims[x] < dims[y]; });
  llvm::copy_if(dims, std::back_inserter(kept), [](int dim) { return dim >= 0; });
  return b.reshape(b.transpose(tile, order), frame.extentsOf(kept));
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

/// The quotient, and one more where something is left.
Value BodyEmitter::ceilDiv(arith::CeilDivUIOp op) {
  Value x = emit(op.getLhs()), y = emit(op.getRhs());
  Type type = elementType(op), i1 = b.b.getI1Type();
  Value rest = b.elementwise("arith.remui", {x, y}, type);
  Value zero = b.full(b.constant(cast<TypedAttr>(b.b.getZeroAttr(type))), ones());
  Value isLeft =
      b.elementwise("arith.cmpi", {rest, zero}, i1,
                    arith::CmpIPredicateAttr::get(b.b.getContext(), arith::CmpIPredicate::ne));
  return b.elementwise(
      "arith.addi",
      {b.elementwise("arith.divui", {x, y}, type), b.elementwise("arith.extui", {isLeft}, type)},
      type);
}

Value BodyEmitter::check(graph::CheckIndexOp op) {
  Value index = emit(op.getIndex()), bound = b.toIndex(b.extract(emit(op.getBound())));
  return tile::CheckOp::create(b.b, b.loc, index.getType(), index, bound,
                               frame.inside(TileBuilder::extentsOf(index)), op.getMessage());
}

Value BodyEmitter::size(tensor::DimOp op) {
  Size product(1);
  for (int dim : statement.sizes.find(op)->second)
    product = product * frame.size(dim);
  return b.full(b.toI64(b.index(product)), ones());
}

Value BodyEmitter::elementwise(Operation *op) {
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(emit(operand));
  return b.elementwise(op->getName().getStringRef(), operands, elementType(op->getResult(0)),
                       op->getAttr("predicate"));
}

/// A loop in the body; its results are known then.
void BodyEmitter::loop(scf::ForOp op) {
  Extents extents = frame.extentsOf(statement.carriedDims);
  SmallVector<Value> bounds, inits;
  for (Value bound : {op.getLowerBound(), op.getUpperBound(), op.getStep()})
    bounds.push_back(b.toIndex(b.extract(emit(bound))));
  for (Value init : op.getInitArgs())
    inits.push_back(b.broadcast(emit(init), extents));
  auto before = known;
  scopes.enter({});
  auto body = [&](Value index, ValueRange carried) {
    map(op.getInductionVar(), b.full(b.toI64(index), ones()));
    for (auto [argument, tile] : llvm::zip(op.getRegionIterArgs(), carried))
      map(argument, tile);
    TileBuilder::Tiles next;
    for (Value yielded : op.getYieldedValues())
      next.push_back(b.broadcast(emit(yielded), extents));
    return next;
  };
  tile::ForOp loop = b.loop(bounds[0], bounds[1], bounds[2], inits, body);
  scopes.leave();
  known = std::move(before);
  for (auto [result, tile] : llvm::zip(op.getResults(), loop.getResults()))
    map(result, tile);
}

} // namespace tw::conversion
