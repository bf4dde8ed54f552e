// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/Reference/Emitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tw::target::reference {

/// Terms of one partial sum.
constexpr int64_t partialTerms = 256;

Values Emitter::loop(const Ix &lo, const Ix &hi, const Ix &step, ArrayRef<Value> initial,
                     LoopBody body) {
  Value lower = ix().value(lo), upper = ix().value(hi), by = ix().value(step);
  auto loop = scf::ForOp::create(b, loc, lower, upper, by, initial,
                                 [&](OpBuilder &, Location, Value i, ValueRange carried) {
                                   scf::YieldOp::create(b, loc, body(i, Values(carried)));
                                 });
  return Values(loop.getResults());
}

static Values reduceFrom(Emitter &e, ArrayRef<Ix> sizes, Indices &at, ArrayRef<Value> state,
                         Emitter::ReduceBody body) {
  if (at.size() == sizes.size())
    return body(at, state);
  return e.loop(0, sizes[at.size()], 1, state, [&](Ix i, ArrayRef<Value> carried) {
    at.push_back(i);
    Values next = reduceFrom(e, sizes, at, carried, body);
    at.pop_back();
    return next;
  });
}

void Emitter::nest(ArrayRef<Ix> sizes, llvm::function_ref<void(ArrayRef<Ix>)> body) {
  Indices at;
  reduceFrom(*this, sizes, at, {}, [&](ArrayRef<Ix> at, ArrayRef<Value>) {
    body(at);
    return Values();
  });
}

/// The innermost loop of `reduce`: runs of 256 steps, each with sums of its own.
static Values sumInParts(Emitter &e, const Ix &size, ArrayRef<Value> state, ArrayRef<bool> isSum,
                         Emitter::LoopBody body) {
  return e.loop(0, size, partialTerms, state, [&](Ix begin, ArrayRef<Value> totals) {
    Values partial(totals);
    for (auto [value, sum] : llvm::zip(partial, isSum))
      value = sum ? e.constant(value.getType(), 0) : value;
    Ix end = e.ix().min(e.ix().add(begin, partialTerms), size);
    partial = e.loop(begin, end, 1, partial, body);
    for (auto [value, sum, total] : llvm::zip(partial, isSum, totals))
      value = sum ? e.add(total, value) : value;
    return partial;
  });
}

Values Emitter::reduce(ArrayRef<Ix> sizes, ArrayRef<Value> initial, ArrayRef<bool> isSum,
                       ReduceBody body) {
  if (sizes.empty())
    return body({}, initial);
  Indices at;
  return reduceFrom(
      *this, sizes.drop_back(), at, initial, [&](ArrayRef<Ix> outer, ArrayRef<Value> state) {
        return sumInParts(*this, sizes.back(), state, isSum, [&](Ix k, ArrayRef<Value> carried) {
          Indices all(outer);
          all.push_back(k);
          return body(all, carried);
        });
      });
}

void Emitter::ifThen(Value condition, llvm::function_ref<void()> then) {
  scf::IfOp::create(b, loc, condition, [&](OpBuilder &, Location) {
    then();
    scf::YieldOp::create(b, loc);
  });
}

Value Emitter::ifElse(Value condition, llvm::function_ref<Value()> then, Value otherwise) {
  return scf::IfOp::create(
             b, loc, condition,
             [&](OpBuilder &, Location) { scf::YieldOp::create(b, loc, then()); },
             [&](OpBuilder &, Location) { scf::YieldOp::create(b, loc, otherwise); })
      .getResult(0);
}

} // namespace tw::target::reference
