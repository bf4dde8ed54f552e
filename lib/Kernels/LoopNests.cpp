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

/// A copy that only other operations read: they read what it is a copy of.
static bool isPassedThrough(Operation &op) {
  return isa<linalg::CopyOp>(op) && op.getOperand(0).getType() == op.getResult(0).getType() &&
         llvm::all_of(op.getUsers(), [&](Operation *user) {
           return !isa<func::ReturnOp>(user) && user->getBlock() == op.getBlock();
         });
}

LogicalResult LoopNests::read(func::FuncOp dispatch) {
  if (!dispatch.getBody().hasOneBlock())
    return fail("it has several blocks");
  for (Operation &op : dispatch.getBody().front()) {
    if (isHelper(op) || isInit(op))
      continue;
    if (auto insert = dyn_cast<tensor::InsertSliceOp>(op)) {
      if (failed(addInsertion(insert)))
        return failure();
      continue;
    }
    if (auto scatter = dyn_cast<graph::ScatterOp>(op)) {
      if (failed(addScatter(scatter)))
        return failure();
      continue;
    }
    if (auto scan = dyn_cast<graph::ScanOp>(op)) {
      if (failed(addScan(scan)))
        return failure();
      continue;
    }
    if (isPassedThrough(op))
      continue;
    auto nest = dyn_cast<linalg::LinalgOp>(op);
    if (!nest)
      return fail(op.getName().getStringRef() + " has no kernel");
    if (failed(addOp(nest)))
      return failure();
  }
  for (Assembly &assembly : assemblies)
    finish(assembly);
  shareArguments();
  return success();
}

/// Whether no operation walks along one dimension in two of its loops, and what runs along a part
/// of an axis is one dimension.
bool LoopNests::isSound(const DimTable &dims) const {
  return llvm::all_of(loopSets,
                      [&](const SmallVector<int> &loops) {
                        std::vector<int> all = dims.atoms({loops.begin(), loops.end()});
                        llvm::sort(all);
                        return std::adjacent_find(all.begin(), all.end()) == all.end();
                      }) &&
         llvm::all_of(partLoops, [&](int loop) { return dims.atoms({loop}).size() <= 1; });
}

/// Operations that read the same argument walk over it together, as far as nothing then walks along
/// one dimension twice (x + x transposed).
void LoopNests::shareArguments() {
  llvm::DenseMap<Value, const OperandWalk *> first;
  auto share = [&](const std::optional<OperandWalk> &walk) {
    if (!walk || !isa<BlockArgument>(walk->root))
      return;
    auto [it, isNew] = first.try_emplace(walk->root, &*walk);
    if (isNew)
      return;
    DimTable shared = table;
    bool fits = true;
    for (auto [a, b] : llvm::zip(it->second->axes, walk->axes))
      fits &= !a.isPlain() || !b.isPlain() || a.dims.empty() || b.dims.empty() ||
              shared.unify({a.dims.begin(), a.dims.end()}, {b.dims.begin(), b.dims.end()});
    if (fits && isSound(shared))
      table = std::move(shared);
  };
  for (const OpLoops &nest : ops)
    llvm::for_each(nest.operands, share);
  for (const Assembly &assembly : assemblies) {
    for (const Assembly::Part &part : assembly.parts)
      share(part.walk);
    if (assembly.scatter)
      llvm::for_each(assembly.scatter->operands, share);
  }
}

LogicalResult LoopNests::addOp(linalg::LinalgOp op) {
  OpLoops nest{op, {}, {}, {}};
  for (auto [range, kind] : llvm::zip(op.getStaticLoopRanges(), op.getIteratorTypesArray())) {
    nest.loops.push_back(table.make(known(range)));
    if (kind == utils::IteratorType::reduction)
      nest.reduced.push_back(nest.loops.back());
  }
  loopSets.push_back(nest.loops);
  for (OpOperand &operand : op->getOpOperands()) {
    nest.operands.emplace_back();
    bool isShape = isa_and_present<tensor::EmptyOp>(operand.get().getDefiningOp());
    bool isRead = (op.isDpsInput(&operand) && !isShape) || op.payloadUsesValueFromOperand(&operand);
    if (isRead && isa<RankedTensorType>(operand.get().getType()) && !filledWith(operand.get()) &&
        failed(walkOf(operand, op.getMatchingIndexingMap(&operand), nest)))
      return failure();
  }
  for (auto [number, result] : llvm::enumerate(op->getResults())) {
    AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(number));
    SmallVector<int> dims;
    for (auto [axis, expr] : llvm::enumerate(map.getResults())) {
      if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
        int loop = nest.loops[dim.getPosition()];
        if (llvm::is_contained(nest.reduced, loop))
          return fail("a reduction loop indexes a result");
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

LogicalResult LoopNests::addScan(graph::ScanOp op) {
  OpLoops nest{op, {}, {}, {}};
  for (int64_t size : cast<RankedTensorType>(op.getInputs()[0].getType()).getShape())
    nest.loops.push_back(table.make(known(size)));
  nest.reduced.push_back(nest.loops[op.getDim()]);
  loopSets.push_back(nest.loops);
  auto identity = AffineMap::getMultiDimIdentityMap(nest.loops.size(), op.getContext());
  for (OpOperand &operand : op->getOpOperands()) {
    nest.operands.emplace_back();
    if (llvm::is_contained(op.getInputs(), operand.get()) && !filledWith(operand.get()) &&
        failed(walkOf(operand, identity, nest)))
      return failure();
  }
  for (Value result : op.getResults())
    results[result] = nest.loops;
  ops.push_back(std::move(nest));
  return success();
}

LogicalResult LoopNests::walkOf(OpOperand &operand, AffineMap map, OpLoops &nest) {
  OperandWalk walk{operand.get(), {}};
  auto type = cast<RankedTensorType>(operand.get().getType());
  for (auto [i, expr] : llvm::enumerate(map.getResults())) {
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

Value LoopNests::baseOf(Value tensor) {
  while (Operation *op = tensor.getDefiningOp()) {
    if (!isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp>(op) &&
        !isPassedThrough(*op))
      break;
    tensor = op->getOperand(0);
  }
  return tensor;
}

LogicalResult LoopNests::traceViews(OperandWalk &walk) {
  while (Operation *view = walk.root.getDefiningOp()) {
    if (results.contains(walk.root))
      break;
    if (isPassedThrough(*view)) {
      walk.root = view->getOperand(0);
      continue;
    }
    DimTable before = table;
    if (succeeded(through(view, walk)))
      continue;
    // A reshape moves nothing, so the host program can do it.
    Value base = baseOf(walk.root);
    if (base == walk.root || !(isa<BlockArgument>(base) || results.contains(base)))
      return failure();
    table = std::move(before);
    walk.isInMemory = true;
    return success();
  }
  if (isa<BlockArgument>(walk.root)) {
    walk.isInMemory = true;
    return success();
  }
  bool isAssembled =
      llvm::any_of(assemblies, [&](const Assembly &a) { return a.result == walk.root; });
  walk.isInMemory = isAssembled || !readsInDims(walk, results.find(walk.root)->second);
  return success();
}

/// Makes a reader of a result walk over it in the dimensions in which it is computed, where it can.
bool LoopNests::readsInDims(const OperandWalk &walk, ArrayRef<int> dims) {
  DimTable unified = table;
  for (auto [axis, dim] : llvm::zip(walk.axes, dims))
    if (!axis.isPlain() || !unified.unify({axis.dims.begin(), axis.dims.end()}, {dim}))
      return false;
  if (!isSound(unified))
    return false;
  table = std::move(unified);
  return true;
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
    return throughSlice(slice, walk);
  } else {
    return fail(view->getName().getStringRef() + " has no kernel");
  }
  walk.axes = axes;
  walk.root = view->getOperand(0);
  return success();
}

LogicalResult LoopNests::throughSlice(tensor::ExtractSliceOp slice, OperandWalk &walk) {
  SmallVector<AxisWalk> axes;
  llvm::SmallBitVector dropped = slice.getDroppedDims();
  unsigned next = 0;
  for (int64_t d = 0; d < slice.getSourceType().getRank(); ++d) {
    auto offset = getConstantIntValue(slice.getMixedOffsets()[d]);
    auto stride = getConstantIntValue(slice.getMixedStrides()[d]);
    if (!stride || *stride <= 0)
      return fail("a slice takes steps of a computed length");
    AxisWalk axis;
    if (!dropped.test(d))
      axis = walk.axes[next++];
    axis.offset = offset.value_or(0) + *stride * axis.offset;
    axis.stride *= *stride;
    for (auto &[place, factor] : axis.places)
      factor *= *stride;
    if (!offset)
      axis.places.push_back({cast<Value>(slice.getMixedOffsets()[d]), 1});
    axis.isPart |= !calls.isSizeOf(slice.getMixedSizes()[d], slice.getSource(), d);
    axes.push_back(axis);
  }
  walk.axes = axes;
  walk.root = slice.getSource();
  return success();
}

} // namespace tw::kernels
