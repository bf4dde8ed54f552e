// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "GraphToTile/Analysis/WindowOperands.h"
#include "IR/Graph/Contraction.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace tw::conversion {

/// Sums of loops, each times a number.
static bool isSum(AffineExpr expr) {
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return isa<AffineDimExpr, AffineConstantExpr>(expr);
  if (binary.getKind() == AffineExprKind::Mul)
    return isa<AffineConstantExpr>(binary.getRHS()) && isSum(binary.getLHS());
  return binary.getKind() == AffineExprKind::Add && isSum(binary.getLHS()) &&
         isSum(binary.getRHS());
}

static unsigned loopsIn(AffineExpr expr) {
  llvm::DenseSet<AffineExpr> loops;
  expr.walk([&](AffineExpr part) {
    if (isa<AffineDimExpr>(part))
      loops.insert(part);
  });
  return loops.size();
}

static bool isWindow(AffineMap map) {
  return llvm::all_of(map.getResults(), isSum) &&
         llvm::any_of(map.getResults(), [](AffineExpr expr) { return loopsIn(expr) > 1; });
}

static Value valueOf(OpBuilder &b, Location loc, AffineExpr expr) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return arith::ConstantIndexOp::create(b, loc, constant.getValue());
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return linalg::IndexOp::create(b, loc, dim.getPosition());
  auto binary = cast<AffineBinaryOpExpr>(expr);
  Value x = valueOf(b, loc, binary.getLHS()), y = valueOf(b, loc, binary.getRHS());
  return binary.getKind() == AffineExprKind::Mul ? Value(arith::MulIOp::create(b, loc, x, y))
                                                 : Value(arith::AddIOp::create(b, loc, x, y));
}

/// Looks up input `number` in the body instead.
static void lookUp(linalg::GenericOp op, unsigned number) {
  Location loc = op.getLoc();
  Value tensor = op.getInputs()[number];
  AffineMap map = op.getIndexingMapsArray()[number];
  Block &body = *op.getBody();
  OpBuilder b = OpBuilder::atBlockBegin(&body);
  SmallVector<Value> indices;
  for (AffineExpr expr : map.getResults())
    indices.push_back(valueOf(b, loc, expr));
  Value element = tensor::ExtractOp::create(b, loc, tensor, indices);
  body.getArgument(number).replaceAllUsesWith(element);
  body.eraseArgument(number);
  SmallVector<Attribute> maps(op.getIndexingMaps().getValue());
  maps.erase(maps.begin() + number);
  op.setIndexingMapsAttr(b.getArrayAttr(maps));
  op.getInputsMutable().erase(number);
}

/// Whether the other operands say how long all loops are. Of those with one iteration, such as over
/// the batch of a single image, they need not: dropUnusedLoops.
static bool isShapedByOthers(linalg::GenericOp op, unsigned number) {
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  SmallVector<int64_t> counts = op.getStaticLoopRanges();
  maps.erase(maps.begin() + number);
  llvm::SmallBitVector unused = getUnusedDimsBitVector(maps);
  return llvm::all_of(unused.set_bits(), [&](unsigned loop) { return counts[loop] == 1; }) &&
         inversePermutation(concatAffineMaps(compressUnusedDims(maps), op.getContext()));
}

/// Drops the loops that no operand is read or written along: each has one iteration.
static void dropUnusedLoops(linalg::GenericOp op) {
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  llvm::SmallBitVector unused = getUnusedDimsBitVector(maps);
  if (unused.none())
    return;
  SmallVector<Attribute> iterators;
  SmallVector<int64_t> numbers; // of the loops that stay, from now on
  for (auto [loop, iterator] : llvm::enumerate(op.getIteratorTypes())) {
    numbers.push_back(int64_t(iterators.size()));
    if (!unused[loop])
      iterators.push_back(iterator);
  }
  for (auto index : llvm::make_early_inc_range(op.getBody()->getOps<linalg::IndexOp>())) {
    OpBuilder b(index);
    if (unused[index.getDim()]) {
      index.replaceAllUsesWith(arith::ConstantIndexOp::create(b, index.getLoc(), 0).getResult());
      index.erase();
    } else {
      index.setDim(numbers[index.getDim()]);
    }
  }
  Builder b(op.getContext());
  op.setIndexingMapsAttr(b.getAffineMapArrayAttr(compressUnusedDims(maps)));
  op.setIteratorTypesAttr(b.getArrayAttr(iterators));
}

/// Fewer rows or columns than that are no product for each tap: their vectors would be mostly
/// empty, or what they read would be used too seldom. A fold takes all taps at once.
static constexpr int64_t leastOfProduct = 8;

void lookUpWindows(func::FuncOp function) {
  for (auto op : function.getOps<linalg::GenericOp>()) {
    if (graph::isProductOfWindows(op, leastOfProduct))
      continue;
    for (unsigned number = op.getNumDpsInputs(); number-- > 0;) {
      if (!isWindow(op.getIndexingMapsArray()[number]) || !isShapedByOthers(op, number))
        continue;
      lookUp(op, number);
      dropUnusedLoops(op);
    }
  }
}

} // namespace tw::conversion
