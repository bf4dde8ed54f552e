// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tw.attention_gradient: each result by itself. For one of its rows the weights, or the gradients
// of the scores, that it is summed from lie in the workspace.
#include "Target/Reference/AttentionScores.h"
#include "Target/Reference/PlainLoops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace tw::target::reference {
namespace {

using graph::AttentionInput;

class GradientLoops : AttentionScores {
public:
  GradientLoops(graph::AttentionGradientOp op, Emitter &e) : AttentionScores(op, e), own(op) {}

  LogicalResult emit() {
    SmallVector<AttentionInput> inputs = own.inputs();
    SmallVector<Buffer> rows;
    for (size_t result = 0; result < inputs.size(); ++result) {
      FailureOr<Buffer> row = e.temporary(
          f64, llvm::map_to_vector(summed(result), [&](unsigned dim) { return extentOf(dim); }));
      if (failed(row))
        return failure();
      rows.push_back(*row);
    }
    if (failed(begin()))
      return failure();
    for (auto [result, input] : llvm::enumerate(inputs))
      emitResult(result, input, rows[result]);
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

LogicalResult emitAttentionGradient(graph::AttentionGradientOp op, Emitter &e) {
  return GradientLoops(op, e).emit();
}

} // namespace tw::target::reference
