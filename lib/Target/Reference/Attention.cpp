// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tw.attention: for each query its scores, in a row of the workspace, their softmax, and the sums
// of values that it weighs.
#include "Target/Reference/AttentionScores.h"
#include "Target/Reference/PlainLoops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace tw::target::reference {
namespace {

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

} // namespace

LogicalResult emitAttention(graph::AttentionOp op, Emitter &e) {
  return AttentionLoops(op, e).emit();
}

} // namespace tw::target::reference
