// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tensor.insert_slice as LoopNests reads it: insertions one after the other into the same tensor
// are one assembly.
#include "Kernels/LoopNests.h"

using namespace mlir;

namespace tw::kernels {

/// Whether a tensor only says where to write.
static bool isUndefined(Value tensor) {
  if (auto argument = dyn_cast<BlockArgument>(tensor)) {
    auto function = cast<func::FuncOp>(argument.getOwner()->getParentOp());
    return argument.getArgNumber() >= function.getNumArguments() - function.getNumResults();
  }
  return isa_and_present<tensor::EmptyOp>(tensor.getDefiningOp());
}

LogicalResult LoopNests::addInsertion(tensor::InsertSliceOp op) {
  FailureOr<Assembly *> assembly = assemblyOf(op);
  if (failed(assembly) || failed(addPart(op, **assembly)))
    return failure();
  (*assembly)->result = op.getResult();
  (*assembly)->after = ops.size();
  SmallVector<int> &dims = results[op.getResult()];
  for (const AxisWalk &axis : (*assembly)->axes)
    llvm::append_range(dims, axis.dims);
  return success();
}

/// All that is stored sees the result in the same axes.
void LoopNests::finish(Assembly &assembly) {
  for (auto [d, axis] : llvm::enumerate(assembly.axes)) {
    for (const Assembly::Part &part : assembly.parts)
      axis.isPart |= part.axes[d].isPart;
    for (Assembly::Part &part : assembly.parts)
      part.axes[d].isPart = axis.isPart;
  }
}

/// The assembly that an insertion goes on with, or a new one.
FailureOr<Assembly *> LoopNests::assemblyOf(tensor::InsertSliceOp op) {
  Value base = op.getDest();
  auto earlier = llvm::find_if(assemblies, [&](Assembly &a) { return a.result == base; });
  if (earlier != assemblies.end() && base.hasOneUse()) {
    results.erase(base);
    return &*earlier;
  }
  Assembly made{op.getResult(), {}, {}, {}, {}, {}, {}, 0};
  SmallVector<int> loops;
  for (int64_t size : op.getDestType().getShape()) {
    loops.push_back(table.make(ShapedType::isDynamic(size) ? std::nullopt : std::optional(size)));
    made.axes.push_back({{loops.back()}});
  }
  loopSets.push_back(loops);
  if (failed(setBase(made, base)))
    return failure();
  assemblies.push_back(std::move(made));
  return &assemblies.back();
}

LogicalResult LoopNests::setBase(Assembly &assembly, Value base) {
  if (isUndefined(base))
    return success();
  assembly.base = base;
  if (filledWith(base))
    return success();
  assembly.baseWalk = OperandWalk{base, assembly.axes};
  SmallVector<int> loops;
  for (AxisWalk &axis : assembly.baseWalk->axes) {
    axis.isPart = false;
    llvm::append_range(loops, axis.dims);
  }
  return traceParts(*assembly.baseWalk, loops);
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
  for (auto [input, map] : llvm::zip(op.getInputs(), maps)) {
    nest.operands.emplace_back();
    if (!filledWith(input) && failed(walkOf(op->getOpOperand(nest.operands.size() - 1), map, nest)))
      return failure();
  }
  Assembly made{op.getResult(), {}, {}, {}, {}, {}, {}, ops.size()};
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
    made.axes.back().isPart = !isWhole;
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
  assemblies.push_back(std::move(made));
  return success();
}

/// As traceViews, but what a reshape would cut into several dimensions is reshaped in memory.
LogicalResult LoopNests::traceParts(OperandWalk &walk, ArrayRef<int> loops) {
  DimTable before = table;
  OperandWalk whole = walk;
  partLoops.insert(partLoops.end(), loops.begin(), loops.end());
  if (succeeded(traceViews(walk)) && isSound(table))
    return success();
  table = std::move(before);
  walk = std::move(whole);
  walk.isInMemory = true;
  Value base = baseOf(walk.root);
  if (isa<BlockArgument>(base) || results.contains(base))
    return success();
  return fail("a part that is put into a tensor is cut by a reshape");
}

LogicalResult LoopNests::addPart(tensor::InsertSliceOp op, Assembly &assembly) {
  Assembly::Part part{op.getSource(), {}, {}, {}, op.getLoc()};
  llvm::SmallBitVector dropped = op.getDroppedDims();
  OperandWalk walk{op.getSource(), {}};
  for (int64_t d = 0; d < op.getDestType().getRank(); ++d) {
    OpFoldResult size = op.getMixedSizes()[d];
    auto offset = getConstantIntValue(op.getMixedOffsets()[d]),
         stride = getConstantIntValue(op.getMixedStrides()[d]);
    if (!stride || *stride <= 0)
      return fail("a part is stored in steps of a computed length");
    bool isWhole = offset == 0 && stride == 1 && calls.isSizeOf(size, op.getDest(), d);
    int loop = isWhole ? assembly.axes[d].dims[0] : table.make(getConstantIntValue(size));
    part.loops.push_back(loop);
    AxisWalk axis{{loop}, offset.value_or(0), *stride};
    if (!offset)
      axis.places.push_back({cast<Value>(op.getMixedOffsets()[d]), 1});
    axis.isPart = !isWhole;
    part.axes.push_back(axis);
    if (!dropped.test(d))
      walk.axes.push_back({{loop}});
  }
  loopSets.push_back(part.loops);
  if (!filledWith(op.getSource())) {
    if (failed(traceParts(walk, part.loops)))
      return failure();
    part.walk = std::move(walk);
  }
  assembly.parts.push_back(std::move(part));
  return success();
}

} // namespace tw::kernels
