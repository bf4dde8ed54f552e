// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "GraphToTile/Analysis/DispatchAnalyzer.h"
#include "IR/Graph/Mutations.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace tw::conversion {

/// How the source of the only part is read along the result, beyond its own ends: what lies there
/// is the number that the rest is filled with.
static std::optional<OperandMap> paddedMap(const InsertSliceChain &chain) {
  if (!chain.base || chain.baseMap || chain.parts.size() != 1)
    return std::nullopt;
  const InsertSliceChain::Part &part = chain.parts[0];
  if (!part.map)
    return std::nullopt;
  OperandMap map = *part.map;
  map.isInMemory = true;
  for (auto [d, axis] : llvm::enumerate(part.axes)) {
    if (!axis.isPartial)
      continue;
    auto own = llvm::find_if(map.axes, [&](const AxisMap &a) { return a.dims == axis.dims; });
    if (own == map.axes.end() || !own->isPlain() || axis.stride != 1)
      return std::nullopt;
    *own = {chain.axes[d].dims, -axis.offset, 1, axis.scalarTerms, true};
    for (auto &term : own->scalarTerms)
      term.second = -term.second;
  }
  return map;
}

LogicalResult DispatchAnalyzer::addPadded(const InsertSliceChain &chain, const OperandMap &map,
                                          kernel::DType dtype) {
  int number = newSubkernel(chain.parts[0].loc);
  OpLoops none;
  Draft draft(*this, number, none, Statement::Kind::Copy, nullptr);
  Source &source = draft.statement.sources.emplace_back();
  source.pad = filledWith(chain.base);
  if (failed(draft.body.visit(source.pad)))
    return failBody(draft.body);
  FailureOr<Access> access = accessOf(builders[number], map);
  if (failed(access))
    return failure();
  source.access = *access;
  draft.statement.target = builders[number].accessOfValue(chain.result, dtype, true);
  builders[number].add(std::move(draft.statement));
  values[chain.result] = {number};
  return success();
}

LogicalResult DispatchAnalyzer::addChain(const InsertSliceChain &chain) {
  auto dtype = dtypeOf(chain.result.getType());
  if (!dtype)
    return fail("its dtype has no kernel");
  if (std::optional<OperandMap> padded = paddedMap(chain))
    return addPadded(chain, *padded, *dtype);
  // Who computes the parts stores them where they belong.
  int number = lastHasAllParts(chain) ? lastSubkernel() : newSubkernel(chain.result.getLoc());
  auto copy = [&](Value source, const std::optional<OperandMap> &map, ArrayRef<AxisMap> axes) {
    return addCopy(number, chain, source, map, axes, *dtype);
  };
  bool isInPlace = replacesBase(number, chain, *dtype);
  if (chain.base && !isInPlace && failed(copy(chain.base, chain.baseMap, chain.axes)))
    return failure();
  for (const InsertSliceChain::Part &part : chain.parts) {
    builders[number].locations.push_back(part.loc);
    if (failed(copy(part.source, part.map, part.axes)))
      return failure();
  }
  if (chain.scatter && failed(addUpdates(number, chain, *dtype)))
    return failure();
  builders[number].isClosed = true;
  values[chain.result] = {number};
  return success();
}

bool DispatchAnalyzer::lastHasAllParts(const InsertSliceChain &chain) const {
  if (builders.empty() || builders.back().isClosed || chain.scatter ||
      (chain.base && !chain.baseMap))
    return false;
  return llvm::all_of(chain.parts, [&](const InsertSliceChain::Part &part) {
    auto known = part.map ? values.find(part.map->root) : values.end();
    return known != values.end() && !part.map->isInMemory && known->second.result &&
           known->second.subkernel == lastSubkernel();
  });
}

bool DispatchAnalyzer::replacesBase(int number, const InsertSliceChain &chain,
                                    kernel::DType dtype) {
  auto base = chain.baseMap ? dyn_cast<BlockArgument>(chain.baseMap->root) : BlockArgument();
  auto result = llvm::find(returned, chain.result);
  auto isPlain = [](const AxisMap &axis) { return axis.isPlain() || axis.dims.size() == 1; };
  if (!base || !chain.baseMap->isInMemory || result == returned.end() ||
      base.getType() != chain.result.getType() || !llvm::all_of(chain.axes, isPlain) ||
      !llvm::all_of(chain.baseMap->axes, [](const AxisMap &axis) { return axis.isPlain(); }))
    return false;
  auto outs = cast<func::ReturnOp>(dispatch.getBody().front().getTerminator()).getOperands();
  auto place = llvm::find(outs, chain.result);
  auto isRead = [](Operation *user) { return !isa<tensor::DimOp>(user); };
  // What else of the dispatch reads it would see it half updated.
  if (llvm::count_if(base.getUsers(), isRead) != 1 ||
      !isa<linalg::CopyOp, tensor::InsertSliceOp, graph::ScatterOp>(
          *llvm::find_if(base.getUsers(), isRead)) ||
      !graph::isReplacedBy(nests.callSizes().all(), {base.getArgNumber()},
                           unsigned(place - outs.begin())))
    return false;
  auto output = builders[number].accessOfMemory(
      {chain.result, SmallVector<AxisMap>(chain.axes), true}, dtype, true);
  auto input = builders[number].accessOfMemory({base, chain.axes, true}, dtype);
  const auto &buffers = builders[number].buffers();
  if (!input || !output || buffers[input->buffer].shape != buffers[output->buffer].shape)
    return false;
  builders[number].beginAs(output->buffer, input->buffer);
  return true;
}

LogicalResult DispatchAnalyzer::addCopy(int number, const InsertSliceChain &chain, Value from,
                                        const std::optional<OperandMap> &map,
                                        ArrayRef<AxisMap> axes, kernel::DType dtype) {
  OpLoops none;
  Draft draft(*this, number, none, Statement::Kind::Copy, nullptr);
  Source &source = draft.statement.sources.emplace_back();
  if (failed(map ? readMap(draft, *map, source) : readScalar(draft, filledWith(from), source)))
    return failure();
  draft.statement.target = builders[number].accessOfMemory(
      {chain.result, SmallVector<AxisMap>(axes), true}, dtype, true);
  if (!draft.statement.target)
    return fail("a part is put where a reshape cuts the tensor");
  builders[number].add(std::move(draft.statement));
  return success();
}

LogicalResult DispatchAnalyzer::addUpdates(int number, const InsertSliceChain &chain,
                                           kernel::DType dtype) {
  const OpLoops &nest = *chain.scatter;
  auto op = cast<graph::ScatterOp>(nest.op);
  builders[number].locations.push_back(op.getLoc());
  Draft draft(*this, number, nest, Statement::Kind::Scatter, op);
  draft.statement.dims = dimsOf(nest.reduced);
  Block &block = op.getBody().front();
  for (auto [i, argument] : llvm::enumerate(block.getArguments())) {
    if (argument.use_empty())
      continue;
    FailureOr<DimSet> dims = read(draft, op->getOpOperand(i));
    if (failed(dims))
      return failure();
    draft.body.map(argument, *dims);
  }
  auto yielded = block.getTerminator()->getOperands();
  if (failed(draft.body.visit(yielded.back())))
    return failBody(draft.body);
  // Neighbours in memory are never the same element: several of them have a position each.
  std::vector<int> sideBySide;
  if (int loop = chain.loopOf.back(); loop >= 0 && chain.axes.back().isPlain())
    sideBySide = dimsOf({loop});
  SmallVector<AxisMap> axes;
  for (auto [axis, loop] : llvm::enumerate(chain.loopOf)) {
    axes.push_back(chain.axes[axis]);
    if (loop >= 0)
      continue;
    axes.back().dims.clear();
    draft.statement.positions.push_back(int(axis));
    FailureOr<DimSet> position = draft.body.visit(yielded[axis]);
    if (failed(position))
      return failBody(draft.body);
    for (int dim : *position)
      if (!llvm::is_contained(draft.statement.dims, dim) && !llvm::is_contained(sideBySide, dim))
        builders[number].takeOneElement(dim);
  }
  draft.statement.target = builders[number].accessOfMemory({chain.result, axes, true}, dtype, true);
  if (!draft.statement.target)
    return fail("a scatter updates what a reshape cuts");
  builders[number].add(std::move(draft.statement));
  return success();
}

} // namespace tw::conversion
