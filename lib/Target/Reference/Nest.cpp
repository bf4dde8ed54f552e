// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/Reference/Nest.h"
#include "IR/Coded.h"

using namespace mlir;

namespace tw::target::reference {

/// Adds `expr * scale` to the linear function (offset, strides); false when it is not linear.
static bool addLinear(Emitter &e, AffineExpr expr, const Ix &scale, Ix &offset, Indices &strides) {
  IndexBuilder ix = e.ix();
  if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
    offset = ix.add(offset, ix.mul(scale, constant.getValue()));
    return true;
  }
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    strides[dim.getPosition()] = ix.add(strides[dim.getPosition()], scale);
    return true;
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return false;
  if (expr.getKind() == AffineExprKind::Add)
    return addLinear(e, binary.getLHS(), scale, offset, strides) &&
           addLinear(e, binary.getRHS(), scale, offset, strides);
  auto factor = dyn_cast<AffineConstantExpr>(binary.getRHS());
  return expr.getKind() == AffineExprKind::Mul && factor &&
         addLinear(e, binary.getLHS(), ix.mul(scale, factor.getValue()), offset, strides);
}

static Access makeAccess(Emitter &e, const Buffer &buffer, AffineMap map) {
  Access access{buffer, map, true, buffer.offset, Indices(map.getNumDims(), Ix(0))};
  for (auto [expr, stride] : llvm::zip(map.getResults(), buffer.strides))
    access.linear &= addLinear(e, expr, stride, access.offset, access.strides);
  return access;
}

Value Access::load(Emitter &e, ArrayRef<Ix> at) const {
  return scalar ? scalar : e.load(buffer, element(e, at));
}

Ix Access::element(Emitter &e, ArrayRef<Ix> at) const {
  IndexBuilder ix = e.ix();
  Ix element = linear ? offset : buffer.offset;
  if (linear) {
    for (auto [i, stride] : llvm::zip(at, strides))
      element = ix.add(element, ix.mul(i, stride));
    return element;
  }
  for (auto [expr, stride] : llvm::zip(map.getResults(), buffer.strides))
    element = ix.add(element, ix.mul(affineIndex(e, expr, at), stride));
  return element;
}

/// The size of each loop, from the first operand dimension that is just that loop.
static FailureOr<Indices> loopSizes(linalg::LinalgOp op, Emitter &e) {
  SmallVector<std::optional<Ix>> found(op.getNumLoops());
  for (OpOperand &operand : op->getOpOperands())
    for (auto [d, expr] : llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults()))
      if (auto dim = dyn_cast<AffineDimExpr>(expr); dim) {
        std::optional<Ix> &known = found[dim.getPosition()];
        if (known && known->isConstant())
          continue;
        FailureOr<Ix> size = e.size(operand.get(), d);
        if (failed(size))
          return failure();
        if (!known || size->isConstant())
          known = *size;
      }
  Indices sizes;
  for (auto &size : found) {
    if (!size)
      return emitCoded(op.getLoc(), Code::TARGET_2)
             << "the reference target cannot tell the bounds of a loop of "
             << op->getName().getStringRef();
    sizes.push_back(*size);
  }
  return sizes;
}

/// Whether in this operand loop `d` + 1 runs through what one step of loop `d` skips.
static bool follows(const Access &access, unsigned d, const Ix &innerSize) {
  if (!access.linear)
    return false;
  const Ix &outer = access.strides[d], &inner = access.strides[d + 1];
  if (outer.is(0) && inner.is(0))
    return true;
  if (outer.isConstant() && inner.isConstant() && innerSize.isConstant())
    return *outer.constant() == *inner.constant() * *innerSize.constant();
  for (unsigned i = 0; i + 1 < access.map.getNumResults(); ++i)
    if (access.map.getResult(i) == getAffineDimExpr(d, access.map.getContext()) &&
        access.map.getResult(i + 1) == getAffineDimExpr(d + 1, access.map.getContext()))
      return access.buffer.isDense(i) && llvm::count_if(access.map.getResults(), [&](AffineExpr x) {
                                           return x.isFunctionOfDim(d) || x.isFunctionOfDim(d + 1);
                                         }) == 2;
  return false;
}

/// Merges loops into the next inner one, from the innermost outward.
static void mergeLoops(Nest &nest, Emitter &e) {
  if (nest.op.hasIndexSemantics() || nest.ranges.empty())
    return;
  size_t target = nest.ranges.size() - 1;
  Ix innerSize = nest.ranges[target].len;
  for (int64_t d = int64_t(target) - 1; d >= 0; --d) {
    Range outer = nest.ranges[d], inner = nest.ranges[target];
    bool merges =
        inner.full && nest.parallel[d] == nest.parallel[d + 1] &&
        llvm::all_of(nest.accesses, [&](const Access &a) { return follows(a, d, innerSize); });
    innerSize = outer.len;
    if (!merges) {
      target = d;
      continue;
    }
    nest.ranges[target] = {e.ix().mul(outer.lo, inner.len), e.ix().mul(outer.len, inner.len),
                           outer.full};
    nest.ranges[d] = {0, 1, true};
  }
}

static FailureOr<Access> accessOf(linalg::LinalgOp op, OpOperand &operand, Emitter &e) {
  AffineMap map = op.getMatchingIndexingMap(&operand);
  if (isa<RankedTensorType>(operand.get().getType()))
    return makeAccess(
        e, e.buffer(op.isDpsInit(&operand) ? Value(op.getTiedOpResult(&operand)) : operand.get()),
        map);
  FailureOr<Value> scalar = e.scalar(operand.get());
  if (failed(scalar))
    return failure();
  Access access{{}, map, true, 0, Indices(map.getNumDims(), Ix(0))};
  access.scalar = *scalar;
  return access;
}

FailureOr<Nest> makeNest(linalg::LinalgOp op, Emitter &e) {
  FailureOr<Indices> sizes = loopSizes(op, e);
  if (failed(sizes))
    return failure();
  Nest nest;
  nest.op = op;
  for (const Ix &size : *sizes)
    nest.ranges.push_back({0, size, true});
  for (utils::IteratorType type : op.getIteratorTypesArray())
    nest.parallel.push_back(type == utils::IteratorType::parallel);
  AffineMap out = op.getIndexingMapsArray().back();
  for (unsigned d = 0; d < e.rows.size(); ++d)
    nest.ranges[cast<AffineDimExpr>(out.getResult(d)).getPosition()] = e.rows[d];
  for (OpOperand &operand : op->getOpOperands()) {
    FailureOr<Access> access = accessOf(op, operand, e);
    if (failed(access))
      return failure();
    nest.accesses.push_back(*access);
  }
  mergeLoops(nest, e);
  return nest;
}

} // namespace tw::target::reference
