// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tw.attention: for each query its scores, in a row of the workspace, their softmax, and the sums
// of values that it weighs; and tw.attention_gradient.
#include "Target/Reference/PlainLoops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <limits>

using namespace mlir;
using tw::graph::AttentionInput;

namespace tw::target::reference {
namespace {

/// What both share: the place in all dimensions, elements there, and scores. All in f64.
class AttentionScores {
public:
  AttentionScores(graph::AttentionInterface op, Emitter &e)
      : op(op), e(e), f64(e.b.getF64Type()), at(op.mapAt(0).getNumDims(), Ix(0)) {}

protected:
  /// Reads what the loops need; to be called before anything else.
  LogicalResult begin() {
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

  Extent extentOf(unsigned dim) {
    auto [operand, axis] = op.axisAlong(dim);
    return {operand->get(), axis};
  }

  Indices sizesOf(ArrayRef<unsigned> dims) {
    return llvm::map_to_vector(dims, [&](unsigned dim) { return sizes[dim]; });
  }
  void setPlace(ArrayRef<unsigned> dims, ArrayRef<Ix> places) {
    for (auto [dim, place] : llvm::zip(dims, places))
      at[dim] = place;
  }

  /// Carries a value along dimensions.
  Value along(ArrayRef<unsigned> dims, Value initial, bool isSum,
              llvm::function_ref<Value(Value)> step) {
    return e.reduce(sizesOf(dims), initial, isSum, [&](ArrayRef<Ix> places, ArrayRef<Value> old) {
      setPlace(dims, places);
      return Values{step(old[0])};
    })[0];
  }

  /// Goes through all places along dimensions.
  void nest(ArrayRef<unsigned> dims, llvm::function_ref<void()> body) {
    e.nest(sizesOf(dims), [&](ArrayRef<Ix> places) {
      setPlace(dims, places);
      body();
    });
  }

  /// The score here, scaled and masked.
  Value score() {
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
      score = buffer.element.isInteger() ? onlyIf(e.load(buffer, e.ix().affine(op.mapOf(mask), at)))
                                         : e.add(score, element(mask));
    }
    if (op.getCausal())
      score = onlyIf(e.ix().less(at[op.keyDim()], e.ix().add(at[op.queryDim()], 1)));
    return score;
  }

  /// An element of an operand here.
  Value element(OpOperand &of) {
    return e.convert(e.load(e.buffer(of.get()), e.ix().affine(op.mapOf(of), at)), f64);
  }

  void store(unsigned result, Value value) {
    Buffer out = e.buffer(op->getResult(result));
    e.store(e.convert(value, out.element), out, e.ix().affine(op.resultMap(result), at));
  }

  graph::AttentionInterface op;
  Emitter &e;
  Type f64;
  Value scale, hidden, zero; // `hidden`: the score of what a query may not see
  Indices at, sizes;         // in and of all dimensions
};

class AttentionLoops : AttentionScores {
public:
  AttentionLoops(graph::AttentionOp op, Emitter &e) : AttentionScores(op, e) {}

  LogicalResult emit() {
    FailureOr<Buffer> made = e.temporary(f64, extentOf(op.keyDim()));
    if (failed(made) || failed(begin()))
      return failure();
    row = *made;
    nest(llvm::to_vector(llvm::seq(op.keyDim())), [&] { emitQuery(); });
    return success();
  }

private:
  void emitQuery() {
    unsigned key = op.keyDim();
    Value most = along(key, hidden, false, [&](Value old) -> Value {
      Value own = score();
      e.store(own, row, at[key]);
      return arith::MaximumFOp::create(e.b, e.loc, old, own);
    });
    Value seesNone = arith::CmpFOp::create(e.b, e.loc, arith::CmpFPredicate::OEQ, most, hidden);
    Value sum = along(key, zero, true, [&](Value old) {
      Value below = arith::SubFOp::create(e.b, e.loc, e.load(row, at[key]), most);
      Value power = math::ExpOp::create(e.b, e.loc, below);
      Value weight = arith::SelectOp::create(e.b, e.loc, seesNone, zero, power);
      e.store(weight, row, at[key]);
      return e.add(old, weight);
    });
    nest(op.widthDim(), [&] {
      Value weighed = along(key, zero, true, [&](Value old) {
        return e.add(old, e.mul(e.load(row, at[key]), element(op->getOpOperand(2))));
      });
      Value mean = arith::DivFOp::create(e.b, e.loc, weighed, sum);
      store(0, arith::SelectOp::create(e.b, e.loc, seesNone, zero, mean));
    });
    if (op->getNumResults() > 1)
      store(1, e.add(math::LogOp::create(e.b, e.loc, sum), most));
  }

  Buffer row; // of scores, then of their exponentials
};

/// Gradients: each result by itself. For one of its rows the weights, or the gradients of the
/// scores, that it is summed from lie in the workspace.
class GradientLoops : AttentionScores {
public:
  GradientLoops(graph::AttentionGradientOp op, Emitter &e) : AttentionScores(op, e), own(op) {}

  LogicalResult emit() {
    SmallVector<AttentionInput> inputs = own.inputs();
    auto rows = collect<SmallVector<Buffer>>(llvm::seq(inputs.size()), [&](size_t result) {
      return e.temporary(
          f64, llvm::map_to_vector(summed(result), [&](unsigned dim) { return extentOf(dim); }));
    });
    if (failed(rows) || failed(begin()))
      return failure();
    for (auto [result, input] : llvm::enumerate(inputs))
      emitResult(result, input, (*rows)[result]);
    return success();
  }

private:
  /// The dimensions that a result is a sum over, but for the one within a row.
  SmallVector<unsigned> summed(unsigned result) {
    SmallVector<unsigned> dims;
    for (unsigned dim = 0; dim < op.depthDim(); ++dim)
      if (!op.resultMap(result).isFunctionOfDim(dim))
        dims.push_back(dim);
    return dims;
  }

  void emitResult(unsigned result, AttentionInput input, const Buffer &row) {
    SmallVector<unsigned> sums = summed(result), rows;
    for (unsigned dim = 0; dim < op.depthDim(); ++dim)
      if (op.resultMap(result).isFunctionOfDim(dim))
        rows.push_back(dim);
    bool isOfValue = input == AttentionInput::Value;
    OpOperand &factor = isOfValue                        ? outputGradient()
                        : input == AttentionInput::Query ? op->getOpOperand(1)
                                                         : op->getOpOperand(0);
    auto inRow = [&] { return llvm::map_to_vector(sums, [&](unsigned dim) { return at[dim]; }); };
    nest(rows, [&] {
      nest(sums, [&] { e.store(isOfValue ? weight() : scoreGradient(), row, inRow()); });
      nest(isOfValue ? op.widthDim() : op.depthDim(), [&] {
        Value sum = along(sums, zero, true, [&](Value old) {
          return e.add(old, e.mul(e.load(row, inRow()), element(factor)));
        });
        store(result, isOfValue ? sum : e.mul(sum, scale));
      });
    });
  }

  /// 0 where the score is hidden, also from a query that sees none.
  Value weight() {
    Value own = score();
    Value isHidden = arith::CmpFOp::create(e.b, e.loc, arith::CmpFPredicate::OEQ, own, hidden);
    Value below = arith::SubFOp::create(e.b, e.loc, own, element(logOfSums()));
    Value power = math::ExpOp::create(e.b, e.loc, below);
    return arith::SelectOp::create(e.b, e.loc, isHidden, zero, power);
  }

  Value scoreGradient() {
    Value weightGradient = along(op.widthDim(), zero, true, [&](Value old) {
      return e.add(old, e.mul(element(outputGradient()), element(op->getOpOperand(2))));
    });
    Value difference = arith::SubFOp::create(e.b, e.loc, weightGradient, element(delta()));
    return e.mul(weight(), difference);
  }

  OpOperand &outputGradient() { return own.getOutputGradientMutable(); }
  OpOperand &logOfSums() { return own.getLogOfSumsMutable(); }
  OpOperand &delta() { return own.getDeltaMutable(); }

  graph::AttentionGradientOp own;
};

} // namespace

LogicalResult emitAttention(graph::AttentionOp op, Emitter &e) {
  return AttentionLoops(op, e).emit();
}

LogicalResult emitAttentionGradient(graph::AttentionGradientOp op, Emitter &e) {
  return GradientLoops(op, e).emit();
}

} // namespace tw::target::reference
