// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// linalg.generic as loops, in one of three forms:
//
//   elementwise   parallel loops, the innermost one consecutive in the result
//   inner sums    parallel loops around reduction loops that carry the results in registers; float
//                 sums in partial sums of 256 terms, which are added up in double precision
//   row sums      reduction loops around a strip of consecutive results: a partial row on the stack
//                 takes 256 terms at a time
//
// A result that a reduction loop indexes is another element in every step of it: it is never
// carried, but read and written where the body runs.
//
// Contractions have a file of their own.
#include "Target/Reference/Contraction.h"
#include "Target/Reference/Nest.h"
#include "Target/Reference/Operations.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tw::target::reference {
namespace {

constexpr int64_t partialTerms = 256;
constexpr int64_t stripWidth = 64;

using Values = SmallVector<Value>;

class GenericEmitter {
public:
  GenericEmitter(Nest &nest, Emitter &e) : nest(nest), e(e) {
    Block &block = nest.op->getRegion(0).front();
    for (unsigned i = 0; i < nest.outs().size(); ++i) {
      moves.push_back(isIndexedByReduction(nest.outs()[i]));
      combiners.push_back(moves[i] ? nullptr : combinerOf(block, i));
      reads.push_back(!block.getArgument(nest.inputs() + i).use_empty());
    }
    for (unsigned d = 0; d < nest.ranges.size(); ++d)
      (nest.parallel[d] ? outer : reduced).push_back(d);
    at.assign(nest.ranges.size(), Ix(0));
  }

  LogicalResult emit() {
    dropTrivial(outer);
    dropTrivial(reduced);
    if (reduced.empty())
      elementwise();
    else if (int strip = stripLoop(); strip >= 0)
      rowSums(strip);
    else
      innerSums();
    return success(!failedInside);
  }

private:
  //===--- what the body does ----------------------------------------------===//

  /// The operation that combines result `i` with the next term, when that is all the body does
  /// with the result's old value.
  Operation *combinerOf(Block &block, unsigned i) const {
    Value old = block.getArgument(nest.inputs() + i);
    Operation *combiner = block.getTerminator()->getOperand(i).getDefiningOp();
    if (!old.hasOneUse() || !combiner || *old.getUsers().begin() != combiner ||
        combiner->getBlock() != &block || combiner->getNumOperands() != 2)
      return nullptr;
    return combiner;
  }

  bool isIndexedByReduction(const Access &out) const {
    for (unsigned d = 0; d < nest.parallel.size(); ++d)
      if (!nest.parallel[d] && out.map.isFunctionOfDim(d))
        return true;
    return false;
  }

  bool isFloatSum(unsigned i) const { return combiners[i] && isa<arith::AddFOp>(combiners[i]); }

  /// Values of the body at the current position; `old` are the results so far. A result that moves
  /// with a reduction loop is read and written here; what is returned for it is `old`.
  Values body(ArrayRef<Value> old) {
    Values arguments;
    for (unsigned i = 0; i < nest.inputs(); ++i)
      arguments.push_back(nest.accesses[i].load(e, at));
    for (unsigned i = 0; i < old.size(); ++i)
      arguments.push_back(moves[i] && reads[i] ? nest.outs()[i].load(e, at) : old[i]);
    BodyScope scope{at};
    if (old.size() == 1 && isFloatSum(0) && reassociates)
      scope.reduction = combiners[0];
    auto yielded = e.body(nest.op->getRegion(0).front(), arguments, scope);
    failedInside |= failed(yielded);
    if (failed(yielded))
      return Values(old);
    for (unsigned i = 0; i < old.size(); ++i)
      if (moves[i]) {
        store(i, (*yielded)[i]);
        (*yielded)[i] = old[i];
      }
    return *yielded;
  }

  Values loadOuts() {
    Values old;
    for (auto [i, out] : llvm::enumerate(nest.outs()))
      old.push_back(reads[i] && !moves[i] ? out.load(e, at) : e.constant(scalarOf(i), 0));
    return old;
  }

  Type scalarOf(unsigned out) const { return Emitter::scalarType(nest.outs()[out].buffer.element); }

  void store(unsigned i, Value value) {
    const Access &out = nest.outs()[i];
    e.store(value, out.buffer, out.element(e, at));
  }

  void storeOuts(ArrayRef<Value> values) {
    for (unsigned i = 0; i < values.size(); ++i)
      if (!moves[i])
        store(i, values[i]);
  }

  //===--- loops -----------------------------------------------------------===//

  /// Loops of one step need no loop.
  void dropTrivial(SmallVector<unsigned> &loops) {
    llvm::erase_if(loops, [&](unsigned d) {
      if (nest.ranges[d].len.is(1))
        at[d] = nest.ranges[d].lo;
      return nest.ranges[d].len.is(1);
    });
  }

  void over(ArrayRef<unsigned> loops, llvm::function_ref<void()> inside, bool parallel) {
    if (loops.empty())
      return inside();
    const Range &range = nest.ranges[loops[0]];
    e.loop(
        range.lo, e.ix().add(range.lo, range.len), 1,
        [&](Ix i) {
          at[loops[0]] = i;
          over(loops.drop_front(), inside, parallel);
        },
        parallel && loops.size() == 1);
  }

  /// How many operands are read or written consecutively along loop `d`; results count most.
  int consecutive(unsigned d, bool withResults) const {
    int score = 0;
    for (auto [i, access] : llvm::enumerate(nest.accesses)) {
      bool result = i >= nest.inputs();
      if (access.linear && access.strides[d].is(1) && (withResults || !result))
        score += result ? 100 : 1;
    }
    return score;
  }

  /// The best loop goes innermost; the others keep their order.
  void rotateBestInnermost(SmallVector<unsigned> &loops, bool withResults) {
    if (loops.empty())
      return;
    auto best = loops.end() - 1;
    for (auto it = loops.begin(); it != loops.end(); ++it)
      if (consecutive(*it, withResults) > consecutive(*best, withResults))
        best = it;
    std::rotate(best, best + 1, loops.end());
  }

  //===--- forms -----------------------------------------------------------===//

  void elementwise() {
    rotateBestInnermost(outer, true);
    over(outer, [&] { storeOuts(body(loadOuts())); }, true);
  }

  /// The parallel loop to strip for row sums: consecutive in results and in an input, while no
  /// reduction loop is consecutive in an input. -1: none.
  int stripLoop() const {
    for (unsigned d : reduced)
      if (consecutive(d, false) > 0)
        return -1;
    if (nest.op.hasIndexSemantics() || llvm::any_of(combiners, [](Operation *c) { return !c; }))
      return -1;
    for (unsigned d : outer)
      if (consecutive(d, true) >= 101)
        return d;
    return -1;
  }

  /// Whether results need partial sums at all: more terms than one partial sum takes.
  bool needsPartials() const {
    Ix terms = 1;
    for (unsigned d : reduced)
      terms = terms.isConstant() && nest.ranges[d].len.isConstant()
                  ? Ix(*terms.constant() * *nest.ranges[d].len.constant())
                  : Ix(int64_t(1) << 40);
    return *terms.constant() > partialTerms;
  }

  void innerSums() {
    rotateBestInnermost(reduced, false);
    reassociates = true;
    over(
        outer, [&] { storeOuts(needsPartials() ? partialSums() : carried(reduced, loadOuts())); },
        false);
  }

  /// The reduction loops with the results carried.
  Values carried(ArrayRef<unsigned> loops, const Values &state) {
    if (loops.empty())
      return body(state);
    const Range &range = nest.ranges[loops[0]];
    return e.loop(range.lo, e.ix().add(range.lo, range.len), 1, state,
                  [&](Ix i, ArrayRef<Value> values) {
                    at[loops[0]] = i;
                    return carried(loops.drop_front(), Values(values));
                  });
  }

  /// As `carried`, with float sums begun anew every 256 steps of the innermost loop.
  Values partialSums() {
    Values state = loadOuts();
    for (unsigned i = 0; i < state.size(); ++i)
      if (isFloatSum(i))
        state[i] = e.convert(state[i], e.b.getF64Type());
    state = outerSums(ArrayRef(reduced).drop_back(), state);
    for (unsigned i = 0; i < state.size(); ++i)
      if (isFloatSum(i))
        state[i] = e.convert(state[i], scalarOf(i));
    return state;
  }

  Values outerSums(ArrayRef<unsigned> loops, const Values &state) {
    if (loops.empty())
      return chunks(state);
    const Range &range = nest.ranges[loops[0]];
    return e.loop(range.lo, e.ix().add(range.lo, range.len), 1, state,
                  [&](Ix i, ArrayRef<Value> values) {
                    at[loops[0]] = i;
                    return outerSums(loops.drop_front(), Values(values));
                  });
  }

  Values chunks(const Values &state) {
    unsigned d = reduced.back();
    const Range &range = nest.ranges[d];
    Ix end = e.ix().add(range.lo, range.len);
    return e.loop(range.lo, end, partialTerms, state, [&](Ix begin, ArrayRef<Value> totals) {
      Values partial(totals);
      for (unsigned i = 0; i < partial.size(); ++i)
        if (isFloatSum(i))
          partial[i] = e.constant(scalarOf(i), 0);
      Ix stop = e.ix().min(e.ix().add(begin, partialTerms), end);
      partial = e.loop(begin, stop, 1, partial, [&](Ix k, ArrayRef<Value> values) {
        at[d] = k;
        return body(values);
      });
      for (unsigned i = 0; i < partial.size(); ++i)
        if (isFloatSum(i))
          partial[i] =
              arith::AddFOp::create(e.b, e.loc, totals[i], e.convert(partial[i], e.b.getF64Type()));
      return partial;
    });
  }

  /// Strips of results in the cache, terms outside.
  void rowSums(unsigned strip) {
    llvm::erase(outer, strip);
    const Range &range = nest.ranges[strip];
    Ix end = e.ix().add(range.lo, range.len);
    partials.clear();
    for (unsigned i = 0; i < nest.outs().size(); ++i)
      partials.push_back(e.onStack(nest.outs()[i].buffer.element, stripWidth));
    over(
        outer,
        [&] {
          e.loop(range.lo, end, stripWidth, [&](Ix begin) {
            Ix width = range.len.isConstant() && *range.len.constant() % stripWidth == 0
                           ? Ix(stripWidth)
                           : e.ix().min(stripWidth, e.ix().sub(end, begin));
            over(ArrayRef(reduced).drop_back(), [&] { stripChunks(strip, begin, width); }, false);
          });
        },
        false);
  }

  void stripChunks(unsigned strip, const Ix &begin, const Ix &width) {
    unsigned d = reduced.back();
    const Range &range = nest.ranges[d];
    Ix end = e.ix().add(range.lo, range.len);
    e.loop(range.lo, end, partialTerms, [&](Ix chunk) {
      alongStrip(strip, begin, width, [&](Ix j) { startPartials(j); });
      Ix stop = e.ix().min(e.ix().add(chunk, partialTerms), end);
      e.loop(chunk, stop, 1, [&](Ix k) {
        at[d] = k;
        alongStrip(strip, begin, width, [&](Ix j) {
          Values old;
          for (Buffer &partial : partials)
            old.push_back(e.load(partial, j));
          for (auto [value, partial] : llvm::zip(body(old), partials))
            e.store(value, partial, j);
        });
      });
      alongStrip(strip, begin, width, [&](Ix j) { finishPartials(j); });
    });
  }

  void alongStrip(unsigned strip, const Ix &begin, const Ix &width,
                  llvm::function_ref<void(Ix)> inside) {
    e.loop(
        0, width, 1,
        [&](Ix j) {
          at[strip] = e.ix().add(begin, j);
          inside(j);
        },
        true);
  }

  void startPartials(const Ix &j) {
    Values old = loadOuts();
    for (unsigned i = 0; i < partials.size(); ++i)
      e.store(isFloatSum(i) ? e.constant(scalarOf(i), 0) : old[i], partials[i], j);
  }

  void finishPartials(const Ix &j) {
    Values old = loadOuts(), results;
    for (unsigned i = 0; i < partials.size(); ++i) {
      Value partial = e.load(partials[i], j);
      results.push_back(isFloatSum(i) ? sum(old[i], partial) : partial);
    }
    storeOuts(results);
  }

  Value sum(Value x, Value y) {
    Type type = x.getType();
    if (!type.isF16() && !type.isBF16())
      return arith::AddFOp::create(e.b, e.loc, x, y);
    return e.narrow(arith::AddFOp::create(e.b, e.loc, e.widen(x), e.widen(y)), type);
  }

  Nest &nest;
  Emitter &e;
  SmallVector<Operation *> combiners;
  SmallVector<bool> reads, moves; // moves: a reduction loop indexes the result
  SmallVector<unsigned> outer, reduced;
  SmallVector<Buffer> partials;
  Indices at;
  bool reassociates = false, failedInside = false;
};

} // namespace

LogicalResult emitGeneric(Operation *op, Emitter &e) {
  auto linalg = cast<linalg::LinalgOp>(op);
  if (auto contraction = findContraction(linalg))
    return emitContraction(linalg, *contraction, e);
  FailureOr<Nest> nest = makeNest(linalg, e);
  if (failed(nest))
    return failure();
  return GenericEmitter(*nest, e).emit();
}

} // namespace tw::target::reference
