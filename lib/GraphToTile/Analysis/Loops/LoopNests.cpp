// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "GraphToTile/Analysis/Loops/LoopNests.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace tw::conversion {

static std::optional<int64_t> known(int64_t size) {
  return ShapedType::isDynamic(size) ? std::nullopt : std::optional(size);
}

Value filledWith(Value tensor) {
  while (Operation *view = tensor.getDefiningOp()) {
    if (!isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp,
             tensor::ExtractSliceOp>(view))
      break;
    tensor = view->getOperand(0);
  }
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
    if (auto sort = dyn_cast<graph::SortOp>(op)) {
      if (failed(addSort(sort)))
        return failure();
      continue;
    }
    if (auto conv = dyn_cast<graph::ConvOp>(op)) {
      if (failed(addConvolution(conv)))
        return failure();
      continue;
    }
    if (auto attention = dyn_cast<graph::AttentionInterface>(op)) {
      if (failed(addAttention(attention)))
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
  std::sort(chains.begin(), chains.end(), [](const InsertSliceChain &a, const InsertSliceChain &b) {
    return std::pair(a.after, a.order) < std::pair(b.after, b.order);
  });
  for (InsertSliceChain &chain : chains)
    finish(chain);
  shareArguments();
  return success();
}

/// Whether no operation runs along one dimension in two of its loops, and what runs along a part
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

/// Operations that read the same argument index it together, as far as nothing then walks along
/// one dimension twice (x + x transposed).
void LoopNests::shareArguments() {
  llvm::DenseMap<Value, const OperandMap *> first;
  auto share = [&](const std::optional<OperandMap> &map) {
    if (!map || !isa<BlockArgument>(map->root))
      return;
    auto [it, isNew] = first.try_emplace(map->root, &*map);
    if (isNew)
      return;
    DimTable shared = table;
    bool fits = true;
    for (auto [a, b] : llvm::zip(it->second->axes, map->axes))
      fits &= !a.isPlain() || !b.isPlain() || a.dims.empty() || b.dims.empty() ||
              shared.unify({a.dims.begin(), a.dims.end()}, {b.dims.begin(), b.dims.end()});
    if (fits && isSound(shared))
      table = std::move(shared);
  };
  for (const OpLoops &nest : ops)
    llvm::for_each(nest.operands, share);
  for (const InsertSliceChain &chain : chains) {
    for (const InsertSliceChain::Part &part : chain.parts)
      share(part.map);
    if (chain.scatter)
      llvm::for_each(chain.scatter->operands, share);
  }
}

LogicalResult LoopNests::addOp(linalg::LinalgOp op) {
  OpLoops nest{op, {}, {}, {}};
  if (failed(materializeLookedUp(op)))
    return failure();
  for (auto [range, kind] : llvm::zip(op.getStaticLoopRanges(), op.getIteratorTypesArray())) {
    nest.loops.push_back(table.make(known(range)));
    if (kind == utils::IteratorType::reduction)
      nest.reduced.push_back(nest.loops.back());
  }
  loopSets.push_back(nest.loops);
  for (OpOperand &operand : op->getOpOperands()) {
    nest.operands.emplace_back();
    bool isShape = isa_and_present<tensor::EmptyOp>(operand.get().getDefiningOp());
    if (isShape)
      learnSizes(operand.get(), op.getMatchingIndexingMap(&operand), nest.loops);
    bool isRead = (op.isDpsInput(&operand) && !isShape) || op.payloadUsesValueFromOperand(&operand);
    if (isRead && isa<RankedTensorType>(operand.get().getType()) && !filledWith(operand.get()) &&
        failed(mapOf(operand, op.getMatchingIndexingMap(&operand), nest)))
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
        return fail("a result is written at computed positions");
      }
    }
    results[result] = dims;
  }
  ops.push_back(std::move(nest));
  return success();
}

/// An operand that only says how long loops are: their sizes are what it was made with.
void LoopNests::learnSizes(Value shape, AffineMap map, ArrayRef<int> loops) {
  auto empty = shape.getDefiningOp<tensor::EmptyOp>();
  for (auto [expr, size] : llvm::zip(map.getResults(), empty.getMixedSizes())) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    auto argument = dyn_cast_if_present<BlockArgument>(dyn_cast<Value>(size));
    if (dim && argument)
      givenSizes.push_back({loops[dim.getPosition()], argument});
  }
}

/// offset + stride * loop
static bool readAxis(AffineExpr expr, ArrayRef<int> loops, AxisMap &axis) {
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
  axis.isPartial = true;
  if (binary.getKind() == AffineExprKind::Add)
    return readAxis(binary.getLHS(), loops, axis) && readAxis(binary.getRHS(), loops, axis);
  if (binary.getKind() != AffineExprKind::Mul || !factor || factor.getValue() <= 0 ||
      !isa<AffineDimExpr>(binary.getLHS()))
    return false;
  axis.stride = factor.getValue();
  return readAxis(binary.getLHS(), loops, axis);
}

/// The same of windows: one of the loops is summed over, others move it.
static bool readWindow(AffineExpr expr, const OpLoops &nest, int64_t factor, AxisMap &axis) {
  axis.isPartial = true;
  if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
    axis.offset += factor * constant.getValue();
    return true;
  }
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    int loop = nest.loops[dim.getPosition()];
    if (!llvm::is_contained(nest.reduced, loop)) {
      axis.dimTerms.push_back({loop, factor});
      return true;
    }
    axis.dims.push_back(loop);
    axis.stride = factor;
    return axis.dims.size() == 1 && factor > 0;
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (binary && binary.getKind() == AffineExprKind::Add)
    return readWindow(binary.getLHS(), nest, factor, axis) &&
           readWindow(binary.getRHS(), nest, factor, axis);
  auto times = binary ? dyn_cast<AffineConstantExpr>(binary.getRHS()) : AffineConstantExpr();
  return times && binary.getKind() == AffineExprKind::Mul &&
         readWindow(binary.getLHS(), nest, factor * times.getValue(), axis);
}

LogicalResult LoopNests::addScan(graph::ScanOp op) {
  OpLoops nest{op, {}, {}, {}};
  for (int64_t size : cast<RankedTensorType>(op.getInputs()[0].getType()).getShape())
    nest.loops.push_back(table.make(known(size)));
  nest.reduced.push_back(nest.loops[op.getDim()]);
  partLoops.push_back(nest.loops[op.getDim()]); // no reshape cuts it
  loopSets.push_back(nest.loops);
  auto identity = AffineMap::getMultiDimIdentityMap(nest.loops.size(), op.getContext());
  for (OpOperand &operand : op->getOpOperands()) {
    nest.operands.emplace_back();
    if (llvm::is_contained(op.getInputs(), operand.get()) && !filledWith(operand.get()) &&
        failed(mapOf(operand, identity, nest)))
      return failure();
  }
  for (Value result : op.getResults())
    results[result] = nest.loops;
  ops.push_back(std::move(nest));
  return success();
}

/// Results that are shorter than the input have a dimension of their own.
LogicalResult LoopNests::addSort(graph::SortOp op) {
  OpLoops nest{op, {}, {}, {}};
  for (int64_t size : cast<RankedTensorType>(op.getInput().getType()).getShape())
    nest.loops.push_back(table.make(known(size)));
  int64_t dim = int64_t(op.getDim());
  nest.reduced.push_back(nest.loops[dim]);
  loopSets.push_back(nest.loops);
  nest.operands.emplace_back();
  partLoops.push_back(nest.loops[dim]); // no reshape cuts it
  auto identity = AffineMap::getMultiDimIdentityMap(nest.loops.size(), op.getContext());
  if (!filledWith(op.getInput()) && failed(mapOf(op.getInputMutable(), identity, nest)))
    return failure();
  nest.operands.resize(op->getNumOperands()); // the inits are not read
  SmallVector<int> kept = nest.loops;
  if (!calls.areSameSize(op.getInput(), op.getValues(), dim)) {
    kept[dim] = table.make(known(cast<RankedTensorType>(op.getValues().getType()).getDimSize(dim)));
    loopSets.push_back(kept);
    loopSets.push_back({nest.loops[dim], kept[dim]});
    partLoops.push_back(kept[dim]);
    nest.reduced.push_back(kept[dim]);
  }
  for (Value result : op->getResults())
    results[result] = kept;
  ops.push_back(std::move(nest));
  return success();
}

/// Whether a tensor is all of what it is a slice of, but for one axis (-1: there is none).
static bool isWholeBut(Value tensor, int64_t partial, const CallSizes &calls) {
  auto isConstant = [](OpFoldResult value, int64_t constant) {
    return getConstantIntValue(value) == constant;
  };
  for (Operation *op = tensor.getDefiningOp(); op; op = op->getOperand(0).getDefiningOp()) {
    auto slice = dyn_cast<tensor::ExtractSliceOp>(op);
    if (!slice && !isa<tensor::CastOp>(op))
      return true;
    if (!slice)
      continue;
    if (slice.getType().getRank() != slice.getSourceType().getRank())
      return false;
    for (int64_t axis = 0; axis < slice.getType().getRank(); ++axis)
      if (axis != partial &&
          (!isConstant(slice.getMixedOffsets()[axis], 0) ||
           !isConstant(slice.getMixedStrides()[axis], 1) ||
           !calls.isSizeOf(slice.getMixedSizes()[axis], slice.getSource(), axis)))
        return false;
  }
  return true;
}

/// The input and the weight are read as they lie, along dimensions of their own.
LogicalResult LoopNests::addConvolution(graph::ConvOp op) {
  OpLoops nest{op, {}, {}, {}};
  for (int64_t size : cast<RankedTensorType>(op.getResult().getType()).getShape())
    nest.loops.push_back(table.make(known(size)));
  loopSets.push_back(nest.loops);
  // A program has a block of the places: no axis of the result may be cut.
  llvm::append_range(partLoops, nest.loops);
  std::pair<Value, int64_t> operands[] = {{op.getInput(), op.inputChannels()},
                                          {op.getWeight(), -1}};
  for (auto [tensor, channels] : operands)
    if (!isWholeBut(tensor, channels, calls) && failed(materialize(baseOf(tensor))))
      return fail("a convolution reads a part of a tensor");
  for (Value tensor : {Value(op.getInput()), Value(op.getWeight())}) {
    OperandMap map{tensor, {}};
    for (int64_t axis = 0; axis < cast<RankedTensorType>(tensor.getType()).getRank(); ++axis)
      map.axes.push_back({{}, 0, 1, {}, /*isPartial=*/true});
    if (failed(traceViews(map)))
      return failure();
    map.isInMemory = true;
    nest.operands.push_back(std::move(map));
  }
  nest.operands.emplace_back(); // the init is not read
  results[op.getResult()] = nest.loops;
  ops.push_back(std::move(nest));
  return success();
}

/// Queries, keys and the axes of heads are dimensions that blocks are cut from, or walked over by
/// themselves.
LogicalResult LoopNests::addAttention(graph::AttentionInterface op) {
  OpLoops nest{op, {}, {}, {}};
  unsigned dims = op.mapAt(0).getNumDims();
  for (unsigned dim = 0; dim < dims; ++dim) {
    auto [operand, axis] = op.axisAlong(dim);
    auto type = cast<RankedTensorType>(operand->get().getType());
    nest.loops.push_back(table.make(known(type.getDimSize(axis))));
  }
  for (unsigned dim = 0; dim < dims; ++dim)
    if (llvm::any_of(op->getResults(), [&](OpResult result) {
          return !op.resultMap(result.getResultNumber()).isFunctionOfDim(dim);
        }))
      nest.reduced.push_back(nest.loops[dim]);
  loopSets.push_back(nest.loops);
  for (unsigned dim = op.batchDims(); dim < dims; ++dim)
    partLoops.push_back(nest.loops[dim]);
  for (OpOperand &operand : op->getOpOperands()) {
    nest.operands.emplace_back();
    if (operand.get() == op.getScale() || llvm::is_contained(op.getOuts(), operand.get()))
      continue;
    if (filledWith(operand.get()))
      return fail("an operand of an attention is one value");
    if (failed(mapOf(operand, op.mapOf(operand), nest)))
      return failure();
  }
  for (unsigned number = 0; number < op->getNumResults(); ++number) {
    SmallVector<int> axes;
    for (AffineExpr expr : op.resultMap(number).getResults())
      axes.push_back(nest.loops[cast<AffineDimExpr>(expr).getPosition()]);
    results[op->getResult(number)] = axes;
  }
  ops.push_back(std::move(nest));
  return success();
}

LogicalResult LoopNests::mapOf(OpOperand &operand, AffineMap indexing, OpLoops &nest) {
  OperandMap map{operand.get(), {}};
  auto type = cast<RankedTensorType>(operand.get().getType());
  for (auto [i, expr] : llvm::enumerate(indexing.getResults())) {
    AxisMap axis, window;
    bool isRead = readAxis(expr, nest.loops, axis);
    if (!isRead && readWindow(expr, nest, 1, window)) {
      for (auto [loop, factor] : window.dimTerms)
        partLoops.push_back(loop);
      axis = std::move(window);
    } else if (!isRead) {
      return fail("an operand is read in windows");
    }
    if (axis.dims.size() == 1 && !axis.isPartial && known(type.getDimSize(i)) &&
        !table.unify(std::vector<int>(axis.dims.begin(), axis.dims.end()),
                     {table.make(type.getDimSize(i))}))
      return fail("a loop has two sizes");
    if (!axis.isPlain())
      llvm::append_range(partLoops, axis.dims);
    map.axes.push_back(axis);
  }
  if (failed(traceViews(map)))
    return failure();
  nest.operands.back() = std::move(map);
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

LogicalResult LoopNests::traceViews(OperandMap &map) {
  while (Operation *view = map.root.getDefiningOp()) {
    if (results.contains(map.root))
      break;
    if (isPassedThrough(*view)) {
      map.root = view->getOperand(0);
      continue;
    }
    DimTable before = table;
    OperandMap asBefore = map;
    size_t parts = partLoops.size();
    if (succeeded(through(view, map)) && isSound(table))
      continue;
    map = std::move(asBefore);
    partLoops.resize(parts);
    // A reshape moves nothing, so the host program can do it; a slice is copied first.
    Value base = baseOf(map.root);
    table = std::move(before);
    bool isTensor = isa<BlockArgument>(base) || results.contains(base);
    if (isTensor ? base == map.root : failed(materialize(base)))
      return failure();
    map.isInMemory = true;
    return success();
  }
  if (isa<BlockArgument>(map.root)) {
    map.isInMemory = true;
    return success();
  }
  bool isAssembled =
      llvm::any_of(chains, [&](const InsertSliceChain &a) { return a.result == map.root; });
  map.isInMemory = isAssembled || !readsInDims(map, results.find(map.root)->second);
  return success();
}

/// Makes a reader of a result index it in the dimensions in which it is computed, where it can.
bool LoopNests::readsInDims(const OperandMap &map, ArrayRef<int> dims) {
  DimTable unified = table;
  for (auto [axis, dim] : llvm::zip(map.axes, dims))
    if (!axis.isPlain() || !unified.unify({axis.dims.begin(), axis.dims.end()}, {dim}))
      return false;
  if (!isSound(unified))
    return false;
  table = std::move(unified);
  return true;
}

LogicalResult LoopNests::through(Operation *view, OperandMap &map) {
  SmallVector<AxisMap> axes;
  if (auto cast = dyn_cast<tensor::CastOp>(view)) {
    axes = map.axes;
  } else if (auto expand = dyn_cast<tensor::ExpandShapeOp>(view)) {
    for (ArrayRef<int64_t> group : expand.getReassociationIndices()) {
      AxisMap joined;
      if (group.size() == 1)
        joined = map.axes[group[0]];
      else
        for (int64_t i : group) {
          if (!map.axes[i].isPlain())
            return fail("a part of a reshaped tensor is read");
          llvm::append_range(joined.dims, map.axes[i].dims);
        }
      axes.push_back(joined);
    }
  } else if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(view)) {
    for (auto [i, group] : llvm::enumerate(collapse.getReassociationIndices())) {
      if (group.size() == 1) {
        axes.push_back(map.axes[i]);
        continue;
      }
      if (!map.axes[i].isPlain())
        return fail("a part of a reshaped tensor is read");
      std::vector<int> parts;
      for (int64_t part : group) {
        parts.push_back(table.make(known(collapse.getSrcType().getDimSize(part))));
        axes.push_back(AxisMap{{parts.back()}});
      }
      if (!table.unify(parts, std::vector<int>(map.axes[i].dims.begin(), map.axes[i].dims.end())))
        return fail("a reshape cuts dimensions that do not fit");
    }
  } else if (auto slice = dyn_cast<tensor::ExtractSliceOp>(view)) {
    return throughSlice(slice, map);
  } else {
    return fail(view->getName().getStringRef() + " has no kernel");
  }
  map.axes = axes;
  map.root = view->getOperand(0);
  return success();
}

LogicalResult LoopNests::throughSlice(tensor::ExtractSliceOp slice, OperandMap &map) {
  SmallVector<AxisMap> axes;
  llvm::SmallBitVector dropped = slice.getDroppedDims();
  unsigned next = 0;
  for (int64_t d = 0; d < slice.getSourceType().getRank(); ++d) {
    auto offset = getConstantIntValue(slice.getMixedOffsets()[d]);
    auto stride = getConstantIntValue(slice.getMixedStrides()[d]);
    if (!stride || *stride <= 0)
      return fail("a slice takes steps of a computed length");
    AxisMap axis;
    if (!dropped.test(d))
      axis = map.axes[next++];
    axis.offset = offset.value_or(0) + *stride * axis.offset;
    axis.stride *= *stride;
    for (auto &[place, factor] : axis.scalarTerms)
      factor *= *stride;
    for (auto &[loop, factor] : axis.dimTerms)
      factor *= *stride;
    if (!offset)
      axis.scalarTerms.push_back({cast<Value>(slice.getMixedOffsets()[d]), 1});
    axis.isPartial |= !calls.isSizeOf(slice.getMixedSizes()[d], slice.getSource(), d);
    if (!axis.isPlain() && table.atoms({axis.dims.begin(), axis.dims.end()}).size() > 1)
      return fail("a part of a reshaped tensor is read");
    if (!axis.isPlain())
      llvm::append_range(partLoops, axis.dims);
    axes.push_back(axis);
  }
  map.axes = axes;
  map.root = slice.getSource();
  return success();
}

} // namespace tw::conversion
