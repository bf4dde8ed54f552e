// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tw.attention: for each query its scores, in a row of the workspace, their softmax, and the sums
// of values that it weighs. All in f64.
#include "Target/Reference/PlainLoops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <limits>

using namespace mlir;

namespace tw::target::reference {
namespace {

class AttentionLoops {
public:
  AttentionLoops(graph::AttentionOp op, Emitter &e)
      : op(op), e(e), f64(e.b.getF64Type()), at(op.resultMap(0).getNumDims(), Ix(0)) {}

  LogicalResult emit() {
    FailureOr<Value> given = e.scalar(op.getScale());
    FailureOr<Buffer> made = e.temporary(f64, extentOf(op.keyDim()));
    auto dims = llvm::seq(op.resultMap(0).getNumDims());
    FailureOr<Indices> found =
        e.sizes(llvm::map_to_vector(dims, [&](unsigned d) { return extentOf(d); }));
    if (failed(found) || failed(given) || failed(made))
      return failure();
    scale = *given;
    row = *made;
    sizes = *found;
    hidden = e.constant(f64, -std::numeric_limits<double>::infinity());
    e.nest(ArrayRef(sizes).take_front(op.keyDim()), [&](ArrayRef<Ix> batchAndQuery) {
      llvm::copy(batchAndQuery, at.begin());
      emitQuery();
    });
    return success();
  }

private:
  Extent extentOf(unsigned dim) {
    auto [operand, axis] = op.axisAlong(dim);
    return {operand->get(), axis};
  }

  void emitQuery() {
    Value most = along(op.keyDim(), hidden, false, [&](Value old) -> Value {
      Value score = scoreOfKey();
      e.store(score, row, at[op.keyDim()]);
      return arith::MaximumFOp::create(e.b, e.loc, old, score);
    });
    Value seesNone = arith::CmpFOp::create(e.b, e.loc, arith::CmpFPredicate::OEQ, most, hidden);
    Value zero = e.constant(f64, 0);
    Value sum = along(op.keyDim(), zero, true, [&](Value old) {
      Value below = arith::SubFOp::create(e.b, e.loc, e.load(row, at[op.keyDim()]), most);
      Value power = math::ExpOp::create(e.b, e.loc, below);
      Value weight = arith::SelectOp::create(e.b, e.loc, seesNone, zero, power);
      e.store(weight, row, at[op.keyDim()]);
      return e.add(old, weight);
    });
    e.nest(sizes[op.widthDim()], [&](ArrayRef<Ix> column) {
      at[op.widthDim()] = column[0];
      Value weighed = along(op.keyDim(), zero, true, [&](Value old) {
        return e.add(old, e.mul(e.load(row, at[op.keyDim()]), element(op.getValueMutable())));
      });
      Value mean = arith::DivFOp::create(e.b, e.loc, weighed, sum);
      store(0, arith::SelectOp::create(e.b, e.loc, seesNone, zero, mean));
    });
    if (op.getNumResults() > 1)
      store(1, e.add(math::LogOp::create(e.b, e.loc, sum), most));
  }

  /// Carries a value along a dimension.
  Value along(unsigned dim, Value initial, bool isSum, llvm::function_ref<Value(Value)> step) {
    return e.reduce(sizes[dim], initial, isSum, [&](ArrayRef<Ix> i, ArrayRef<Value> old) {
      at[dim] = i[0];
      return Values{step(old[0])};
    })[0];
  }

  /// Scaled and masked.
  Value scoreOfKey() {
    Value score = along(op.depthDim(), e.constant(f64, 0), true, [&](Value old) {
      return e.add(old, e.mul(element(op.getQueryMutable()), element(op.getKeyMutable())));
    });
    score = e.mul(score, scale);
    auto onlyIf = [&](Value isSeen) -> Value {
      return arith::SelectOp::create(e.b, e.loc, isSeen, score, hidden);
    };
    for (OpOperand &mask : op.getMaskMutable()) {
      Buffer buffer = e.buffer(mask.get());
      score = buffer.element.isInteger() ? onlyIf(e.load(buffer, e.affine(op.mapOf(mask), at)))
                                         : e.add(score, element(mask));
    }
    if (op.getCausal())
      score = onlyIf(e.ix().less(at[op.keyDim()], e.ix().add(at[op.queryDim()], 1)));
    return score;
  }

  Value element(OpOperand &of) {
    return e.convert(e.load(e.buffer(of.get()), e.affine(op.mapOf(of), at)), f64);
  }

  void store(unsigned result, Value value) {
    Buffer out = e.buffer(op.getResult(result));
    e.store(e.convert(value, out.element), out, e.affine(op.resultMap(result), at));
  }

  graph::AttentionOp op;
  Emitter &e;
  Type f64;
  Value scale, hidden; // the score of what a query may not see
  Buffer row;          // of scores, then of their exponentials
  Indices at, sizes;   // in and of all dimensions
};

} // namespace

LogicalResult emitAttention(graph::AttentionOp op, Emitter &e) {
  return AttentionLoops(op, e).emit();
}

} // namespace tw::target::reference
