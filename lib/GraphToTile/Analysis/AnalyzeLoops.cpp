// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "GraphToTile/Analysis/DispatchAnalyzer.h"
#include "IR/ModelLocation.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace tw::conversion {

static DimSet without(const DimSet &dims, const std::vector<int> &reduced) {
  DimSet kept;
  llvm::copy_if(dims, std::back_inserter(kept),
                [&](int dim) { return !llvm::is_contained(reduced, dim); });
  return kept;
}

LogicalResult DispatchAnalyzer::addMap(OpLoops &nest, linalg::LinalgOp op) {
  Draft draft(*this, subkernelFor(nest), nest, Statement::Kind::Map, op);
  if (failed(readOperands(draft, op, [](unsigned) { return true; })))
    return failure();
  for (Value value : op.getBlock()->getTerminator()->getOperands()) {
    FailureOr<DimSet> dims = draft.body.visit(value);
    if (failed(dims))
      return failBody(draft.body);
    draft.statement.results.push_back(*dims);
  }
  for (graph::CheckIndexOp check : unreadChecks(*op.getBlock())) {
    FailureOr<DimSet> dims = draft.body.visit(check);
    if (failed(dims))
      return failBody(draft.body);
    for (DimSet &result : draft.statement.results)
      result = unionOf(result, *dims);
  }
  finish(draft);
  return success();
}

LogicalResult DispatchAnalyzer::addReduce(OpLoops &nest, linalg::LinalgOp op) {
  Draft draft(*this, subkernelFor(nest), nest, Statement::Kind::Reduce, op);
  draft.statement.dims = dimsOf(nest.reduced);
  unsigned inputs = op.getNumDpsInputs();
  if (failed(readOperands(draft, op, [&](unsigned number) { return number < inputs; })))
    return failure();
  Block *block = op.getBlock();
  for (auto [i, yielded] : llvm::enumerate(block->getTerminator()->getOperands())) {
    BlockArgument state = block->getArgument(inputs + i);
    FailureOr<DimSet> element = draft.body.visit(elementOf(yielded, state));
    if (failed(element))
      return failBody(draft.body);
    if (!dtypeOf(yielded.getType()))
      return fail("a reduction of a dtype without kernels");
    DimSet dims = without(*element, draft.statement.dims);
    OpOperand &init = *op.getDpsInitOperand(i);
    Value filled = filledWith(init.get());
    if (!filled || !isNeutral(filled, *combinerOf(yielded, state))) {
      FailureOr<DimSet> start = read(draft, init);
      if (failed(start))
        return failure();
      dims = unionOf(dims, *start);
    }
    draft.statement.results.push_back(dims);
  }
  finish(draft);
  return success();
}

bool DispatchAnalyzer::isAlongRow(const OpLoops &nest, linalg::LinalgOp op,
                                  const ExtremeParts &parts) const {
  Value least = filledWith(op.getDpsInits()[0]), first = filledWith(op.getDpsInits()[1]);
  bool isFloat = isa<FloatType>(parts.element.getType());
  const Combiner *row = findCombiner(parts.isMax ? (isFloat ? "arith.maximumf" : "arith.maxsi")
                                                 : (isFloat ? "arith.minimumf" : "arith.minsi"));
  return dimsOf(nest.reduced).size() == 1 && least && first && isNeutral(least, *row) &&
         matchPattern(first, m_Zero());
}

LogicalResult DispatchAnalyzer::addArgReduce(OpLoops &nest, linalg::LinalgOp op,
                                             const ExtremeParts &parts) {
  Draft draft(*this, subkernelFor(nest), nest, Statement::Kind::ArgReduce, op);
  draft.statement.dims = dimsOf(nest.reduced);
  unsigned inputs = op.getNumDpsInputs();
  if (failed(readOperands(draft, op, [&](unsigned number) { return number < inputs; })))
    return failure();
  FailureOr<DimSet> element = draft.body.visit(parts.element);
  if (failed(element))
    return failBody(draft.body);
  draft.statement.results.assign(2, without(*element, draft.statement.dims));
  finish(draft);
  return success();
}

bool DispatchAnalyzer::readsWindows(const OpLoops &nest, linalg::LinalgOp op) const {
  auto isReduced = [&](unsigned loop) {
    return llvm::is_contained(nest.reduced, nest.loops[loop]);
  };
  bool found = false;
  op->walk([&](tensor::ExtractOp look) {
    for (auto [axis, value] : llvm::enumerate(look.getIndices()))
      if (auto index = affineIndexOf(value, look.getTensor(), int64_t(axis), nests.callSizes()))
        found |= index->loops.size() > 1 &&
                 llvm::any_of(index->loops, [&](auto &term) { return isReduced(term.first); });
  });
  return found;
}

LogicalResult DispatchAnalyzer::addFold(OpLoops &nest, linalg::LinalgOp op) {
  Draft draft(*this, newSubkernel(operatorLocs(op)), nest, Statement::Kind::Fold, op);
  draft.statement.dims = dimsOf(nest.reduced);
  SmallVector<int> kept;
  for (int loop : nest.loops)
    if (!llvm::is_contained(nest.reduced, loop))
      kept.push_back(loop);
  std::vector<int> along = dimsOf(kept);
  DimSet states(along);
  llvm::sort(states);
  for (OpOperand &init : op.getDpsInitsMutable())
    if (failed(read(draft, init)))
      return failure();
  unsigned inputs = op.getNumDpsInputs();
  if (failed(readOperands(draft, op, [&](unsigned number) { return number < inputs; })))
    return failure();
  Block *block = op.getBlock();
  for (BlockArgument state : block->getArguments().drop_front(inputs))
    draft.body.map(state, states);
  for (Value next : block->getTerminator()->getOperands()) {
    if (failed(draft.body.visit(next)))
      return failBody(draft.body);
    draft.statement.results.push_back(states);
  }
  finish(draft);
  return success();
}

LogicalResult DispatchAnalyzer::addScan(OpLoops &nest, graph::ScanOp op) {
  Block &block = op.getBody().front();
  unsigned states = op.getInitial().size();
  Value yielded = block.getTerminator()->getOperand(0);
  const Combiner *row = states == 1 ? combinerOf(yielded, block.getArgument(0)) : nullptr;
  bool isKnown = row && row->scan && isNeutral(op.getInitial()[0], *row);
  if (!isKnown)
    return addRecurrence(nest, op);
  Draft draft(*this, subkernelFor(nest), nest, Statement::Kind::Scan, op);
  draft.statement.dims = dimsOf(nest.reduced);
  for (auto [i, input] : llvm::enumerate(op.getInputs())) {
    FailureOr<DimSet> dims = read(draft, op->getOpOperand(i));
    if (failed(dims))
      return failure();
    draft.body.map(block.getArgument(states + i), *dims);
  }
  FailureOr<DimSet> element = draft.body.visit(elementOf(yielded, block.getArgument(0)));
  if (failed(element) || !dtypeOf(yielded.getType()))
    return failBody(draft.body);
  DimSet along(draft.statement.dims);
  draft.statement.results.push_back(unionOf(*element, along));
  finish(draft);
  return success();
}

LogicalResult DispatchAnalyzer::addRecurrence(OpLoops &nest, graph::ScanOp op) {
  int number = newSubkernel(operatorLocs(op));
  Draft draft(*this, number, nest, Statement::Kind::Recurrence, op);
  draft.statement.dims = dimsOf(nest.reduced);
  Block &block = op.getBody().front();
  unsigned inputs = op.getInputs().size(), count = op.getInitial().size();
  DimSet states = without(dimsOf(nest.loops), draft.statement.dims);
  llvm::sort(states);
  for (unsigned i = 0; i < inputs + count; ++i) { // the initial states stand behind the inputs
    FailureOr<DimSet> dims = read(draft, op->getOpOperand(i));
    if (failed(dims))
      return failure();
    draft.body.map(block.getArgument(i < inputs ? count + i : i - inputs),
                   i < inputs ? *dims : states);
  }
  for (auto [next, result] : llvm::zip(block.getTerminator()->getOperands(), op.getResults())) {
    if (failed(draft.body.visit(next)))
      return failBody(draft.body);
    auto dtype = dtypeOf(result.getType());
    if (!dtype)
      return fail("its dtype has no kernel");
    draft.statement.carriedDims = states;
    draft.statement.targets.push_back(builders[number].accessOfValue(result, *dtype, true));
    values[result] = {number};
  }
  builders[number].add(std::move(draft.statement));
  builders[number].isClosed = true;
  return success();
}

LogicalResult DispatchAnalyzer::addSort(OpLoops &nest, graph::SortOp op) {
  Draft draft(*this, subkernelFor(nest), nest, Statement::Kind::Sort, op);
  draft.statement.dims = dimsOf(nest.reduced);
  std::vector<int> along = dimsOf({nest.reduced[0]});
  bool isShorter = nest.reduced.size() > 1; // what is kept has a dimension of its own, or is one
  if (along.empty() && !draft.statement.dims.empty())
    return fail("the first of one element are sorted");
  FailureOr<DimSet> dims = read(draft, op->getOpOperand(0));
  if (failed(dims))
    return failure();
  if (!dtypeOf(op.getInput().getType()))
    return fail("its dtype has no kernel");
  DimSet kept = isShorter ? std::vector<int>(draft.statement.dims) : along;
  if (isShorter)
    kept = without(kept, along);
  draft.statement.results.assign(2, unionOf(without(*dims, along), kept));
  finish(draft);
  return success();
}

} // namespace tw::conversion
