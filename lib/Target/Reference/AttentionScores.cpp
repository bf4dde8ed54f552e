// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/Reference/AttentionScores.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include <limits>

using namespace mlir;

namespace tw::target::reference {

AttentionScores::AttentionScores(graph::AttentionInterface op, Emitter &e)
    : op(op), e(e), f64(e.b.getF64Type()), at(op.mapAt(0).getNumDims(), Ix(0)) {}

LogicalResult AttentionScores::begin() {
  FailureOr<Value> given = e.scalar(op.getScale());
  FailureOr<Indices> found = e.sizes(llvm::map_to_vector(
      llvm::seq<unsigned>(at.size()), [&](unsigned dim) { return extentOf(dim); }));
  if (failed(given) || failed(found))
    return failure();
  scale = *given;
  sizes = *found;
  hidden = e.constant(f64, -std::numeric_limits<double>::infinity());
  zero = e.constant(f64, 0);
  return success();
}

Extent AttentionScores::extentOf(unsigned dim) {
  auto [operand, axis] = op.axisAlong(dim);
  return {operand->get(), axis};
}

Value AttentionScores::along(ArrayRef<unsigned> dims, Value initial, bool isSum,
                             llvm::function_ref<Value(Value)> step) {
  Indices counts = llvm::map_to_vector(dims, [&](unsigned dim) { return sizes[dim]; });
  return e.reduce(counts, initial, isSum, [&](ArrayRef<Ix> places, ArrayRef<Value> old) {
    for (auto [dim, place] : llvm::zip(dims, places))
      at[dim] = place;
    return Values{step(old[0])};
  })[0];
}

void AttentionScores::nest(ArrayRef<unsigned> dims, llvm::function_ref<void()> body) {
  Indices counts = llvm::map_to_vector(dims, [&](unsigned dim) { return sizes[dim]; });
  e.nest(counts, [&](ArrayRef<Ix> places) {
    for (auto [dim, place] : llvm::zip(dims, places))
      at[dim] = place;
    body();
  });
}

Value AttentionScores::score() {
  OpOperand &query = op->getOpOperand(0), &key = op->getOpOperand(1);
  Value score = along(op.depthDim(), zero, true,
                      [&](Value old) { return e.add(old, e.mul(element(query), element(key))); });
  score = e.mul(score, scale);
  auto onlyIf = [&](Value isSeen) -> Value {
    return arith::SelectOp::create(e.b, e.loc, isSeen, score, hidden);
  };
  if (op.getMask()) {
    OpOperand &mask = op->getOpOperand(3);
    Buffer buffer = e.buffer(mask.get());
    score = buffer.element.isInteger() ? onlyIf(e.load(buffer, e.affine(op.mapOf(mask), at)))
                                       : e.add(score, element(mask));
  }
  if (op.getCausal())
    score = onlyIf(e.ix().less(at[op.keyDim()], e.ix().add(at[op.queryDim()], 1)));
  return score;
}

Value AttentionScores::element(OpOperand &of) {
  return e.convert(e.load(e.buffer(of.get()), e.affine(op.mapOf(of), at)), f64);
}

void AttentionScores::store(unsigned result, Value value) {
  Buffer out = e.buffer(op->getResult(result));
  e.store(e.convert(value, out.element), out, e.affine(op.resultMap(result), at));
}

} // namespace tw::target::reference
