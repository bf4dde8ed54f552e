// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Graph/ChannelsLast/PointwiseConvolutions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace tw {
namespace {

// With fewer places, as 14 x 14, a row of the result is few vectors, of which the last one is
// hardly used; the transposes cost little then.
constexpr int64_t leastPlaces = 768;

RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

/// Whether the function returns what is computed of `value`, element by element.
bool leavesAsItIs(Value value) {
  return llvm::all_of(value.getUses(), [](OpOperand &use) {
    auto reader = dyn_cast<linalg::LinalgOp>(use.getOwner());
    if (!reader)
      return isa<func::ReturnOp>(use.getOwner());
    bool isElementwise = reader.getNumParallelLoops() == reader.getNumLoops() &&
                         reader.getMatchingIndexingMap(&use).isIdentity();
    return isElementwise && llvm::all_of(reader->getResults(), [&](OpResult result) {
             return reader.getIndexingMapMatchingResult(result).isIdentity() &&
                    leavesAsItIs(result);
           });
  });
}

/// One product: where the operands and the result are, in loops of which the last one is the sum.
class Product {
public:
  Product(OpBuilder &b, graph::ConvOp op) : b(b), op(op), spatial(op.getSpatialRank()) {
    for (int64_t loop = 0; loop < spatial + 3; ++loop)
      loops.push_back(b.getAffineDimExpr(unsigned(loop)));
  }

  Value channelsLast(Value input, Value weight, Value init, bool readsFirst) {
    // Loops: n, places..., o, c.
    AffineExpr o = loops[spatial + 1], c = loops.back();
    SmallVector<AffineExpr> places(ArrayRef(loops).slice(1, spatial)), x = {loops[0]},
                                                                       y = {loops[0]};
    if (readsFirst)
      x.push_back(c);
    x.append(places), y.append(places);
    if (!readsFirst)
      x.push_back(c);
    y.push_back(o);
    SmallVector<ReassociationIndices> matrix(2);
    for (int64_t dim = 0; dim <= spatial; ++dim)
      matrix[0].push_back(dim);
    matrix[1].push_back(spatial + 1);
    return sum({input, asMatrix(weight, matrix, spatial)}, init, {x, {c, o}, y});
  }

  Value channelsFirst() {
    // Loops: n, o, places..., c.
    AffineExpr o = loops[1], c = loops.back();
    SmallVector<AffineExpr> y(ArrayRef(loops).drop_back()), x = {loops[0], c}, w = {o, c};
    x.append(y.begin() + 2, y.end());
    if (op.getTransposed())
      std::swap(w[0], w[1]);
    SmallVector<ReassociationIndices> matrix = {{0}, {}};
    for (int64_t dim = 1; dim < spatial + 2; ++dim)
      matrix[1].push_back(dim);
    return sum({asMatrix(op.getWeight(), matrix, 0), op.getInput()}, op.getInit(), {w, x, y});
  }

private:
  Value sum(ValueRange operands, Value init, ArrayRef<SmallVector<AffineExpr>> places) {
    SmallVector<AffineMap> maps;
    for (ArrayRef<AffineExpr> results : places)
      maps.push_back(AffineMap::get(unsigned(loops.size()), 0, results, b.getContext()));
    SmallVector<utils::IteratorType> iterators(loops.size() - 1, utils::IteratorType::parallel);
    iterators.push_back(utils::IteratorType::reduction);
    auto generic = linalg::GenericOp::create(b, op.getLoc(), init.getType(), operands, init, maps,
                                             iterators, multiplyAndAdd);
    return generic.getResult(0);
  }

  static void multiplyAndAdd(OpBuilder &b, Location loc, ValueRange v) {
    auto widened = [&](Value value) -> Value {
      if (value.getType() == v[2].getType())
        return value;
      return arith::ExtFOp::create(b, loc, v[2].getType(), value);
    };
    Value term = arith::MulFOp::create(b, loc, widened(v[0]), widened(v[1]));
    Value sum = arith::AddFOp::create(b, loc, v[2], term);
    linalg::YieldOp::create(b, loc, sum);
  }

  /// A weight whose two dimensions from `first` on are all that have more than one element.
  Value asMatrix(Value weight, ArrayRef<ReassociationIndices> matrix, int64_t first) {
    auto stored = weight.getDefiningOp<graph::WeightOp>();
    if (!stored)
      return tensor::CollapseShapeOp::create(b, op.getLoc(), weight, matrix);
    graph::WeightAttr source = stored.getSource();
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointAfter(stored);
    RankedTensorType type = typeOf(stored);
    return graph::WeightOp::create(
        b, stored.getLoc(), type.clone(type.getShape().slice(size_t(first), 2)),
        graph::WeightAttr::get(b.getContext(), source.getName(), source.getFile(),
                               source.getOffset(), source.getBytes(), source.getStart(),
                               source.getStrides().slice(size_t(first), 2)));
  }

  OpBuilder &b;
  graph::ConvOp op;
  int64_t spatial;
  SmallVector<AffineExpr> loops;
};

} // namespace

bool isPointwise(graph::ConvOp op) {
  auto all = [](ArrayRef<int64_t> list, int64_t value) {
    return llvm::all_of(list, [&](int64_t x) { return x == value; });
  };
  RankedTensorType input = typeOf(op.getInput()), result = typeOf(op.getInit());
  return op.getGroups() == 1 && all(typeOf(op.getWeight()).getShape().drop_front(2), 1) &&
         all(op.getStrides(), 1) && all(op.getPaddingLow(), 0) &&
         isa<FloatType>(result.getElementType()) &&
         input.hasStaticShape() == result.hasStaticShape() &&
         input.getShape().drop_front(2) == result.getShape().drop_front(2);
}

bool isBetterFirst(graph::ConvOp op) {
  RankedTensorType type = typeOf(op.getInput());
  return isPointwise(op) && type.hasStaticShape() &&
         ShapedType::getNumElements(type.getShape().drop_front(2)) >= leastPlaces &&
         leavesAsItIs(op.getResult());
}

Value multiplyChannelsLast(OpBuilder &b, graph::ConvOp op, Value input, Value weight, Value init,
                           bool readsFirst) {
  return Product(b, op).channelsLast(input, weight, init, readsFirst);
}

Value multiplyChannelsFirst(OpBuilder &b, graph::ConvOp op) {
  return Product(b, op).channelsFirst();
}

} // namespace tw
