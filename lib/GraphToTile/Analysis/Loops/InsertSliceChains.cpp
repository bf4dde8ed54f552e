// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tensor.insert_slice as LoopNests reads it: insertions one after the other into the same tensor
// are one chain.
#include "GraphToTile/Analysis/Loops/LoopNests.h"

using namespace mlir;

namespace tw::conversion {

/// Whether a tensor only says where to write.
static bool isUndefined(Value tensor) {
  if (auto argument = dyn_cast<BlockArgument>(tensor)) {
    auto function = cast<func::FuncOp>(argument.getOwner()->getParentOp());
    return argument.getArgNumber() >= function.getNumArguments() - function.getNumResults();
  }
  return isa_and_present<tensor::EmptyOp>(tensor.getDefiningOp());
}

LogicalResult LoopNests::addInsertion(tensor::InsertSliceOp op) {
  FailureOr<InsertSliceChain *> chain = chainOf(op);
  if (failed(chain) || failed(addPart(op, **chain)))
    return failure();
  (*chain)->result = op.getResult();
  (*chain)->after = ops.size();
  (*chain)->order = nextOrder++;
  SmallVector<int> &dims = results[op.getResult()];
  for (const AxisMap &axis : (*chain)->axes)
    llvm::append_range(dims, axis.dims);
  return success();
}

/// All that is stored sees the result in the same axes.
void LoopNests::finish(InsertSliceChain &chain) {
  for (auto [d, axis] : llvm::enumerate(chain.axes)) {
    for (const InsertSliceChain::Part &part : chain.parts)
      axis.isPartial |= part.axes[d].isPartial;
    for (InsertSliceChain::Part &part : chain.parts)
      part.axes[d].isPartial = axis.isPartial;
  }
}

/// The chain that an insertion goes on with, or a new one.
FailureOr<InsertSliceChain *> LoopNests::chainOf(tensor::InsertSliceOp op) {
  Value base = op.getDest();
  auto earlier = llvm::find_if(chains, [&](InsertSliceChain &a) { return a.result == base; });
  // A scatter adds to what has been stored, so what it gives cannot be stored before it.
  if (earlier != chains.end() && base.hasOneUse() && !earlier->scatter) {
    results.erase(base);
    return &*earlier;
  }
  InsertSliceChain made{op.getResult(), {}, {}, {}, {}, {}, {}, 0};
  SmallVector<int> loops;
  for (int64_t size : op.getDestType().getShape()) {
    loops.push_back(table.make(ShapedType::isDynamic(size) ? std::nullopt : std::optional(size)));
    made.axes.push_back({{loops.back()}});
    made.axes.back().isWhole = true;
  }
  loopSets.push_back(loops);
  if (failed(setBase(made, base)))
    return failure();
  chains.push_back(std::move(made));
  return &chains.back();
}

LogicalResult LoopNests::setBase(InsertSliceChain &chain, Value base) {
  if (isUndefined(base))
    return success();
  chain.base = base;
  if (filledWith(base))
    return success();
  chain.baseMap = OperandMap{base, chain.axes};
  SmallVector<int> loops;
  for (AxisMap &axis : chain.baseMap->axes) {
    axis.isPartial = false;
    llvm::append_range(loops, axis.dims);
  }
  return traceParts(*chain.baseMap, loops);
}

/// A slice that nothing can read through what lies on it (a reshape that cuts it, say) becomes a
/// tensor of its own: a chain of one part, which is all of it.
LogicalResult LoopNests::materialize(Value slice) {
  if (results.contains(slice))
    return success();
  auto op = slice.getDefiningOp<tensor::ExtractSliceOp>();
  if (!op || !materialized.insert(slice).second)
    return failure();
  InsertSliceChain made{slice, {}, {}, {}, {}, {}, {}, 0};
  InsertSliceChain::Part part{slice, {}, {}, {}, op.getLoc()};
  for (int64_t size : op.getType().getShape()) {
    part.loops.push_back(
        table.make(ShapedType::isDynamic(size) ? std::nullopt : std::optional(size)));
    made.axes.push_back({{part.loops.back()}});
  }
  loopSets.push_back(part.loops);
  part.axes = made.axes;
  OperandMap map{slice, made.axes};
  if (failed(traceParts(map, part.loops)))
    return failure();
  part.map = std::move(map);
  results[slice] = part.loops;
  made.parts.push_back(std::move(part));
  made.after = ops.size();
  made.order = nextOrder++;
  chains.push_back(std::move(made));
  return success();
}

/// Elements are looked up in tensors that are in memory as they are.
LogicalResult LoopNests::materializeLookedUp(Operation *op) {
  bool isGood = true;
  op->walk([&](tensor::ExtractOp look) {
    Value base = baseOf(look.getTensor());
    if (base.getDefiningOp<tensor::ExtractSliceOp>())
      isGood &= succeeded(materialize(base));
  });
  return isGood ? success() : fail("elements of a slice are looked up");
}

/// The loop that a coordinate of a scatter's result is, if it is one.
static int loopOfCoordinate(Value coordinate) {
  auto index = coordinate.getDefiningOp<graph::IndexOp>();
  return index ? int(index.getDim()) : -1;
}

LogicalResult LoopNests::addScatter(graph::ScatterOp op) {
  auto maps = op.getIndexingMaps().getAsValueRange<AffineMapAttr>();
  OpLoops nest{op, {}, {}, {}};
  SmallVector<int64_t> sizes;
  for (auto [input, map] : llvm::zip(op.getInputs(), maps)) {
    sizes.resize(map.getNumDims(), ShapedType::kDynamic);
    for (auto [axis, expr] : llvm::enumerate(map.getResults()))
      if (auto dim = dyn_cast<AffineDimExpr>(expr))
        sizes[dim.getPosition()] = cast<RankedTensorType>(input.getType()).getDimSize(axis);
  }
  for (int64_t size : sizes)
    nest.loops.push_back(
        table.make(ShapedType::isDynamic(size) ? std::nullopt : std::optional(size)));
  loopSets.push_back(nest.loops);
  if (failed(materializeLookedUp(op)))
    return failure();
  for (auto [input, map] : llvm::zip(op.getInputs(), maps)) {
    nest.operands.emplace_back();
    bool isShape = isa_and_present<tensor::EmptyOp>(input.getDefiningOp());
    if (isShape)
      learnSizes(input, map, nest.loops);
    if (!isShape && !filledWith(input) &&
        failed(mapOf(op->getOpOperand(nest.operands.size() - 1), map, nest)))
      return failure();
  }
  InsertSliceChain made{op.getResult(), {}, {}, {}, {}, {}, {}, ops.size()};
  Operation *yield = op.getBody().front().getTerminator();
  SmallVector<int> &dims = results[op.getResult()];
  llvm::DenseSet<int> whole;
  for (auto [axis, size] : llvm::enumerate(cast<RankedTensorType>(op.getType()).getShape())) {
    int loop = loopOfCoordinate(yield->getOperand(axis));
    bool isWhole = loop >= 0 && !ShapedType::isDynamic(size) && sizes[loop] == size &&
                   whole.insert(loop).second;
    made.loopOf.push_back(isWhole ? loop : -1);
    dims.push_back(
        isWhole ? nest.loops[loop]
                : table.make(ShapedType::isDynamic(size) ? std::nullopt : std::optional(size)));
    made.axes.push_back({{dims.back()}});
    made.axes.back().isPartial = !isWhole;
    made.axes.back().isWhole = true;
  }
  loopSets.push_back(dims);
  for (auto [number, loop] : llvm::enumerate(nest.loops)) {
    partLoops.push_back(loop);
    if (!whole.contains(int(number)))
      nest.reduced.push_back(loop);
  }
  if (failed(setBase(made, op.getInit())))
    return failure();
  made.scatter = std::move(nest);
  made.order = nextOrder++;
  chains.push_back(std::move(made));
  return success();
}

/// As traceViews, but what a reshape would cut into several dimensions is reshaped in memory.
LogicalResult LoopNests::traceParts(OperandMap &map, ArrayRef<int> loops) {
  DimTable before = table;
  OperandMap whole = map;
  partLoops.insert(partLoops.end(), loops.begin(), loops.end());
  if (succeeded(traceViews(map)) && isSound(table))
    return success();
  table = std::move(before);
  map = std::move(whole);
  map.isInMemory = true;
  Value base = baseOf(map.root);
  if (isa<BlockArgument>(base) || results.contains(base))
    return success();
  return fail("a part that is put into a tensor is cut by a reshape");
}

LogicalResult LoopNests::addPart(tensor::InsertSliceOp op, InsertSliceChain &chain) {
  InsertSliceChain::Part part{op.getSource(), {}, {}, {}, op.getLoc()};
  llvm::SmallBitVector dropped = op.getDroppedDims();
  OperandMap map{op.getSource(), {}};
  for (int64_t d = 0; d < op.getDestType().getRank(); ++d) {
    OpFoldResult size = op.getMixedSizes()[d];
    auto offset = getConstantIntValue(op.getMixedOffsets()[d]),
         stride = getConstantIntValue(op.getMixedStrides()[d]);
    if (!stride || *stride <= 0)
      return fail("a part is stored in steps of a computed length");
    bool isWhole = offset == 0 && stride == 1 && calls.isSizeOf(size, op.getDest(), d);
    int loop = isWhole ? chain.axes[d].dims[0] : table.make(getConstantIntValue(size));
    part.loops.push_back(loop);
    AxisMap axis{{loop}, offset.value_or(0), *stride};
    if (!offset)
      axis.scalarTerms.push_back({cast<Value>(op.getMixedOffsets()[d]), 1});
    axis.isPartial = !isWhole;
    part.axes.push_back(axis);
    if (!dropped.test(d))
      map.axes.push_back({{loop}});
  }
  loopSets.push_back(part.loops);
  if (!filledWith(op.getSource())) {
    if (failed(traceParts(map, part.loops)))
      return failure();
    part.map = std::move(map);
  }
  chain.parts.push_back(std::move(part));
  return success();
}

} // namespace tw::conversion
