// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "GraphToTile/Analysis/ColumnParts.h"
#include "GraphToTile/Analysis/DispatchAnalyzer.h"
#include "IR/ModelLocation.h"

using namespace mlir;

namespace tw::conversion {

/// Whether the innermost columns are the last dimension of the result, all of it.
static bool hasWholeColumns(const Contraction &spec, const std::vector<Extent> &dims,
                            Value result) {
  auto type = cast<RankedTensorType>(result.getType());
  int last = spec.c.axes.empty() ? -1 : spec.c.axes.back().dim;
  return last >= 0 && !spec.a.covers(last) && dims[last].size == type.getShape().back();
}

/// Columns are what lies side by side in c, or in windows, whose sums are long and results small,
/// the longer ones of the innermost dimensions of both operands.
static bool hasColumnsInA(const Contraction &spec, const std::vector<Extent> &dims) {
  int last = spec.c.axes.empty() ? -1 : spec.c.axes.back().dim;
  bool isInA = last >= 0 && spec.a.covers(last) && !spec.b.covers(last);
  if (!readsWindows(spec))
    return isInA;
  auto length = [&](const Access &access) {
    int dim = access.axes.back().dim;
    return dim >= 0 && spec.c.covers(dim) ? dims[dim].size.value_or(0) : 0;
  };
  int64_t a = length(spec.a), b = length(spec.b);
  return a == b ? isInA : a > b;
}

FailureOr<bool> DispatchAnalyzer::addContraction(OpLoops &nest, linalg::LinalgOp op,
                                                 const graph::ContractionParts &parts) {
  const Combiner *add = findCombiner(parts.isFloat ? "arith.addf" : "arith.addi");
  Value init = filledWith(op.getDpsInits()[0]);
  bool isAdded = !init || !isNeutral(init, *add);
  int temporary = isAdded ? temporaries++ : -1;
  SubkernelBuilder builder(*joined, nests);
  Contraction spec;
  Value result = op->getResult(0);
  auto sum = dtypeOf(result.getType());
  Access *accesses[] = {&spec.a, &spec.b};
  for (auto [i, access] : llvm::enumerate(accesses)) {
    auto &map = nest.operands[parts.operands[i]];
    if (!map)
      return false;
    if (!sum)
      return fail("its dtype has no kernel");
    FailureOr<Access> found = accessOf(builder, *map);
    if (failed(found))
      return failure();
    if (llvm::any_of(found->axes, [](const Axis &axis) { return !axis.scalarTerms.empty(); }))
      return false;
    *access = *found;
  }
  spec.c = builder.accessOfValue(result, *sum, true, temporary);
  spec.sum = *sum;
  if (hasColumnsInA(spec, joined->dims))
    std::swap(spec.a, spec.b);
  if (hasWholeColumns(spec, joined->dims, result))
    spec.columnParts = columnPartsOf(result);
  llvm::append_range(builder.locations, operatorLocs(op));
  builder.setContraction(std::move(spec));
  builder.isClosed = true;
  if (!refuse(builder.contraction()).empty())
    return false;
  values[result] = {int(builders.size())};
  builders.push_back(std::move(builder));
  if (isAdded && failed(addToInit(nest, op, *sum, temporary)))
    return failure();
  return true;
}

LogicalResult DispatchAnalyzer::addToInit(OpLoops &nest, linalg::LinalgOp op, kernel::DType dtype,
                                          int temporary) {
  int number = newSubkernel(operatorLocs(op));
  Draft draft(*this, number, nest, Statement::Kind::AddToInit, op);
  draft.statement.loops.clear(); // its body is not looked at
  OpOperand &init = *op.getDpsInitOperand(0);
  FailureOr<DimSet> start = read(draft, init);
  if (failed(start))
    return failure();
  Value result = op->getResult(0);
  Access product = builders[number].accessOfValue(result, dtype, false, temporary);
  draft.statement.results = {unionOf(*start, conversion::dimsOf(product))};
  draft.statement.sources[0] = {{}, {}, product, {}};
  finish(draft);
  return success();
}

LogicalResult DispatchAnalyzer::addConvolution(OpLoops &nest, graph::ConvOp op) {
  Value init = filledWith(op.getInit());
  if (!op.isResultLast())
    return fail("a convolution has channels first");
  if (!init || !(matchPattern(init, m_Zero()) || matchPattern(init, m_AnyZeroFloat())))
    return fail("a convolution is added to what is there");
  if (!dtypeOf(op.getResult().getType()))
    return fail("its dtype has no kernel");
  SubkernelBuilder builder(*joined, nests);
  Convolution spec;
  int *buffers[] = {&spec.x, &spec.w};
  for (auto [number, buffer] : llvm::enumerate(buffers)) {
    FailureOr<Access> access = accessOf(builder, *nest.operands[number]);
    if (failed(access))
      return failure();
    int64_t channels = number == 0 ? op.inputChannels() : -1;
    for (auto [axis, read] : llvm::enumerate(access->axes)) {
      if (read.stride != 1 || !read.scalarTerms.empty() ||
          (read.offset != 0 && int64_t(axis) != channels))
        return fail("a convolution reads a part of a tensor");
      if (int64_t(axis) == channels)
        spec.firstChannel = read.offset;
    }
    *buffer = access->buffer;
  }
  if (!describe(builder, op, nest, spec))
    return fail("a reshape cuts the result of a convolution");
  if (op.getOutputsFirst()) {
    if (spec.x == spec.w || builder.buffers()[spec.w].shape.size() != spec.spatial.size() + 2)
      return fail("filters are read through a reshape");
    spec.isOutputsFirst = true;
    builder.joinAxes(spec.w, 1);
  }
  llvm::append_range(builder.locations, operatorLocs(op));
  builder.setConvolution(std::move(spec));
  builder.isClosed = true;
  if (std::string why = refuse(builder.getConvolution()); !why.empty())
    return fail("a convolution has no kernel: " + why);
  values[op.getResult()] = {int(builders.size())};
  builders.push_back(std::move(builder));
  return success();
}

bool DispatchAnalyzer::describe(SubkernelBuilder &builder, graph::ConvOp op, const OpLoops &nest,
                                Convolution &spec) {
  spec.sum = *dtypeOf(op.getResult().getType());
  spec.groups = int64_t(op.getGroups());
  spec.isTransposed = op.getTransposed();
  spec.isChannelsFirst = !op.isInputLast();
  spec.y = builder.accessOfValue(op.getResult(), spec.sum, true).buffer;
  auto inputAxis = [&](int64_t axis) { return builder.buffers()[spec.x].shape[axis]; };
  auto weightAxis = [&](int64_t axis) { return builder.buffers()[spec.w].shape[axis]; };
  SmallVector<Extent> sizes;
  for (int loop : nest.loops) {
    auto size = builder.extentOf(loop);
    if (!size)
      return false;
    sizes.push_back(*size);
  }
  int64_t spatial = op.getSpatialRank();
  spec.batch = sizes.front();
  spec.outputs = sizes.back();
  if (spec.outputs.size)
    *spec.outputs.size /= spec.groups;
  spec.channels = weightAxis(op.weightChannels());
  for (int64_t d = 0; d < spatial; ++d)
    spec.spatial.push_back({inputAxis(op.inputDim(d)), sizes[op.resultDim(d)],
                            weightAxis(op.weightDim(d)), op.getStrides()[d], op.getDilations()[d],
                            op.getPaddingLow()[d]});
  simplifyTransposed(spec);
  auto isKept = [](const Extent &size) { return size.size != 1; };
  return builder.buffers()[spec.y].shape.size() == size_t(llvm::count_if(sizes, isKept));
}

LogicalResult DispatchAnalyzer::readInputs(SubkernelBuilder &builder, const OpLoops &nest,
                                           graph::AttentionInterface op,
                                           kernels::AttentionInputs &inputs,
                                           ArrayRef<Access *> accesses) {
  FloatAttr scale;
  if (!matchPattern(op.getScale(), m_Constant(&scale)))
    return fail("the scale of an attention is computed at the call");
  inputs.scale = scale.getValueAsDouble();
  inputs.isCausal = op.getCausal();
  inputs.sum = *dtypeOf(op.sumType());
  for (auto [number, access] : llvm::enumerate(accesses)) {
    FailureOr<Access> found = accessOf(builder, *nest.operands[number]);
    if (failed(found))
      return failure();
    if (llvm::any_of(found->axes, [](const Axis &axis) { return !axis.scalarTerms.empty(); }))
      return fail("an operand of an attention begins at a computed place");
    *access = *found;
  }
  unsigned dims[] = {op.queryDim(), op.keyDim(), op.depthDim(), op.widthDim()};
  for (auto [role, dim] : llvm::zip(inputs.roles(), dims)) {
    auto found = builder.joinedDim(nest.loops[dim]);
    if (!found)
      return fail("a reshape cuts a dimension of an attention");
    *role = *found;
  }
  return success();
}

LogicalResult DispatchAnalyzer::addAttentionKernel(SubkernelBuilder builder,
                                                   graph::AttentionInterface op) {
  llvm::append_range(builder.locations, operatorLocs(op));
  builder.isClosed = true;
  if (std::string why = refuse(builder.attentionInputs()); !why.empty())
    return fail("an attention has no kernel: " + why);
  for (Value result : op->getResults())
    values[result] = {int(builders.size())};
  builders.push_back(std::move(builder));
  return success();
}

LogicalResult DispatchAnalyzer::addAttention(OpLoops &nest, graph::AttentionOp op) {
  SubkernelBuilder builder(*joined, nests);
  Attention spec;
  SmallVector<Access *> accesses = {&spec.query, &spec.key, &spec.value};
  if (op.getMask())
    accesses.push_back(&spec.mask.emplace());
  if (failed(readInputs(builder, nest, op, spec, accesses)))
    return failure();
  Access *stored[] = {&spec.output, op.getNumResults() > 1 ? &spec.logSumExp.emplace() : nullptr};
  for (OpResult result : op->getResults())
    *stored[result.getResultNumber()] =
        builder.accessOfValue(result, *dtypeOf(result.getType()), true);
  builder.setAttention(std::move(spec));
  return addAttentionKernel(std::move(builder), op);
}

LogicalResult DispatchAnalyzer::addAttentionGradient(OpLoops &nest, graph::AttentionGradientOp op) {
  SubkernelBuilder builder(*joined, nests);
  AttentionGradient spec;
  SmallVector<Access *> accesses = {&spec.query, &spec.key, &spec.value};
  if (op.getMask())
    accesses.push_back(&spec.mask.emplace());
  accesses.append({&spec.outputGradient, &spec.logSumExp, &spec.delta});
  if (failed(readInputs(builder, nest, op, spec, accesses)))
    return failure();
  for (auto [result, input] : llvm::zip(op->getResults(), op.inputs())) {
    auto &access = input == graph::AttentionInput::Query ? spec.queryGradient
                   : input == graph::AttentionInput::Key ? spec.keyGradient
                                                         : spec.valueGradient;
    access = builder.accessOfValue(result, *dtypeOf(result.getType()), true);
  }
  builder.setAttentionGradient(std::move(spec));
  return addAttentionKernel(std::move(builder), op);
}

} // namespace tw::conversion
