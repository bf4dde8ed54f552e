// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Kernels/LoopNests.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace tw::kernels {

static std::optional<int64_t> known(int64_t size) {
  return ShapedType::isDynamic(size) ? std::nullopt : std::optional(size);
}

Value filledWith(Value tensor) {
  auto fill = tensor.getDefiningOp<linalg::FillOp>();
  return fill ? fill.getInputs()[0] : Value();
}

/// Operations that have no elements of their own to compute, and those looked at where they are
/// used.
static bool isHelper(Operation &op) {
  return isa<tensor::EmptyOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp,
             tensor::ExtractSliceOp, tensor::DimOp, func::ReturnOp>(op) ||
         llvm::all_of(op.getResultTypes(), [](Type t) { return t.isIntOrIndexOrFloat(); });
}

/// A fill that only initialises reductions.
static bool isInit(Operation &op) {
  return isa<linalg::FillOp>(op) && llvm::all_of(op.getUses(), [](OpOperand &use) {
           return !isa<func::ReturnOp>(use.getOwner());
         });
}

LogicalResult LoopNests::read(func::FuncOp dispatch) {
  if (!dispatch.getBody().hasOneBlock())
    return fail("it has several blocks");
  for (Operation &op : dispatch.getBody().front()) {
    if (isHelper(op) || isInit(op))
      continue;
    auto nest = dyn_cast<linalg::LinalgOp>(op);
    if (!nest)
      return fail(op.getName().getStringRef() + " has no kernel");
    if (failed(addOp(nest)))
      return failure();
  }
  shareArguments();
  return success();
}

/// Whether no operation walks along one dimension in two of its loops.
bool LoopNests::areDistinct(const DimTable &dims) const {
  return llvm::all_of(ops, [&](const OpLoops &nest) {
    std::vector<int> all = dims.atoms({nest.loops.begin(), nest.loops.end()});
    llvm::sort(all);
    return std::adjacent_find(all.begin(), all.end()) == all.end();
  });
}

/// Operations that read the same argument walk over it together, as far as nothing then walks along
/// one dimension twice (x + x transposed).
void LoopNests::shareArguments() {
  llvm::DenseMap<Value, const OperandWalk *> first;
  for (const OpLoops &nest : ops)
    for (const auto &walk : nest.operands) {
      if (!walk || !isa<BlockArgument>(walk->root))
        continue;
      auto [it, isNew] = first.try_emplace(walk->root, &*walk);
      if (isNew)
        continue;
      DimTable shared = table;
      bool fits = true;
      for (auto [a, b] : llvm::zip(it->second->axes, walk->axes))
        fits &= !a.isPlain() || !b.isPlain() || a.dims.empty() || b.dims.empty() ||
                shared.unify({a.dims.begin(), a.dims.end()}, {b.dims.begin(), b.dims.end()});
      if (fits && areDistinct(shared))
        table = std::move(shared);
    }
}

LogicalResult LoopNests::addOp(linalg::LinalgOp op) {
  OpLoops nest{op, {}, {}};
  for (int64_t range : op.getStaticLoopRanges())
    nest.loops.push_back(table.make(known(range)));
  for (OpOperand &operand : op->getOpOperands()) {
    nest.operands.emplace_back();
    bool isRead = op.isDpsInput(&operand) || op.payloadUsesValueFromOperand(&operand);
    if (isRead && isa<RankedTensorType>(operand.get().getType()) && !filledWith(operand.get()) &&
        failed(walkOf(operand, nest)))
      return failure();
  }
  for (auto [number, result] : llvm::enumerate(op->getResults())) {
    AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(number));
    SmallVector<int> dims;
    for (auto [axis, expr] : llvm::enumerate(map.getResults())) {
      if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
        int loop = nest.loops[dim.getPosition()];
        int64_t size = cast<RankedTensorType>(result.getType()).getDimSize(axis);
        if (known(size) && !table.unify({loop}, {table.make(size)}))
          return fail("a loop has two sizes");
        dims.push_back(loop);
      } else if (expr == getAffineConstantExpr(0, op.getContext())) {
        dims.push_back(table.make(1));
      } else {
        return fail("a result is written at computed places");
      }
    }
    results[result] = dims;
  }
  ops.push_back(std::move(nest));
  return success();
}

/// offset + stride * loop
static bool readAxis(AffineExpr expr, ArrayRef<int> loops, AxisWalk &axis) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
    axis.offset += constant.getValue();
    return true;
  }
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    axis.dims.push_back(loops[dim.getPosition()]);
    return axis.dims.size() == 1;
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  auto factor = binary ? dyn_cast<AffineConstantExpr>(binary.getRHS()) : AffineConstantExpr();
  if (!binary)
    return false;
  axis.isPart = true;
  if (binary.getKind() == AffineExprKind::Add)
    return readAxis(binary.getLHS(), loops, axis) && readAxis(binary.getRHS(), loops, axis);
  if (binary.getKind() != AffineExprKind::Mul || !factor || factor.getValue() <= 0 ||
      !isa<AffineDimExpr>(binary.getLHS()))
    return false;
  axis.stride = factor.getValue();
  return readAxis(binary.getLHS(), loops, axis);
}

LogicalResult LoopNests::walkOf(OpOperand &operand, OpLoops &nest) {
  OperandWalk walk{operand.get(), {}};
  auto type = cast<RankedTensorType>(operand.get().getType());
  for (auto [i, expr] : llvm::enumerate(nest.op.getMatchingIndexingMap(&operand).getResults())) {
    AxisWalk axis;
    if (!readAxis(expr, nest.loops, axis))
      return fail("an operand is read in windows");
    if (axis.dims.size() == 1 && !axis.isPart && known(type.getDimSize(i)) &&
        !table.unify(std::vector<int>(axis.dims.begin(), axis.dims.end()),
                     {table.make(type.getDimSize(i))}))
      return fail("a loop has two sizes");
    walk.axes.push_back(axis);
  }
  if (failed(traceViews(walk)))
    return failure();
  nest.operands.back() = std::move(walk);
  return success();
}

LogicalResult LoopNests::traceViews(OperandWalk &walk) {
  while (Operation *view = walk.root.getDefiningOp()) {
    if (isa<linalg::LinalgOp>(view))
      break;
    if (failed(through(view, walk)))
      return failure();
  }
  if (isa<BlockArgument>(walk.root))
    return success();
  auto own = results.find(walk.root);
  if (own == results.end())
    return fail("a value that is no operation's result is read");
  for (auto [axis, dim] : llvm::zip(walk.axes, own->second)) {
    if (!axis.isPlain())
      return fail("a part of a value between operations is read");
    if (!table.unify(std::vector<int>(axis.dims.begin(), axis.dims.end()), {dim}))
      return fail("operations walk over a value in different ways");
  }
  return success();
}

LogicalResult LoopNests::through(Operation *view, OperandWalk &walk) {
  SmallVector<AxisWalk> axes;
  if (auto cast = dyn_cast<tensor::CastOp>(view)) {
    axes = walk.axes;
  } else if (auto expand = dyn_cast<tensor::ExpandShapeOp>(view)) {
    for (ArrayRef<int64_t> group : expand.getReassociationIndices()) {
      AxisWalk joined;
      if (group.size() == 1)
        joined = walk.axes[group[0]];
      else
        for (int64_t i : group) {
          if (!walk.axes[i].isPlain())
            return fail("a part of a reshaped tensor is read");
          llvm::append_range(joined.dims, walk.axes[i].dims);
        }
      axes.push_back(joined);
    }
  } else if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(view)) {
    for (auto [i, group] : llvm::enumerate(collapse.getReassociationIndices())) {
      if (group.size() == 1) {
        axes.push_back(walk.axes[i]);
        continue;
      }
      if (!walk.axes[i].isPlain())
        return fail("a part of a reshaped tensor is read");
      std::vector<int> parts;
      for (int64_t part : group) {
        parts.push_back(table.make(known(collapse.getSrcType().getDimSize(part))));
        axes.push_back(AxisWalk{{parts.back()}});
      }
      if (!table.unify(parts, std::vector<int>(walk.axes[i].dims.begin(), walk.axes[i].dims.end())))
        return fail("a reshape cuts dimensions that do not fit");
    }
  } else if (auto slice = dyn_cast<tensor::ExtractSliceOp>(view)) {
    llvm::SmallBitVector dropped = slice.getDroppedDims();
    unsigned next = 0;
    for (int64_t d = 0; d < slice.getSourceType().getRank(); ++d) {
      auto offset = getConstantIntValue(slice.getMixedOffsets()[d]);
      auto stride = getConstantIntValue(slice.getMixedStrides()[d]);
      if (!offset || !stride || *stride <= 0)
        return fail("a slice begins at a computed place");
      AxisWalk axis;
      if (!dropped.test(d))
        axis = walk.axes[next++];
      axis.offset = *offset + *stride * axis.offset;
      axis.stride *= *stride;
      int64_t whole = slice.getSourceType().getDimSize(d);
      axis.isPart |= !known(whole) || getConstantIntValue(slice.getMixedSizes()[d]) != whole;
      axes.push_back(axis);
    }
  } else {
    return fail(view->getName().getStringRef() + " has no kernel");
  }
  walk.axes = axes;
  walk.root = view->getOperand(0);
  return success();
}

} // namespace tw::kernels
