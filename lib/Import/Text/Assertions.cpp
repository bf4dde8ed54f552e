// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Other ways to say that something must hold. TorchScript's
//
//     %r = torch.prim.If %ok -> (!torch.int) { ...; torch.prim.If.yield %x : !torch.int }
//     else { torch.prim.RaiseException %message, %class : ...; ... }
//
// becomes `torch.runtime.assert %ok, "message"` followed by the other branch; `cf.assert` becomes
// `tw.assert`.
#include "IR/Graph/Graph.h"
#include "IR/Torch/Torch.h"
#include "Import/Text/Stages.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
namespace tw::text {

/// The operation that ends a program with an error whenever `block` runs; null if none does.
static Operation *raises(Block &block) {
  for (Operation &op : block)
    if (op.getName().getStringRef() == "torch.prim.RaiseException")
      return &op;
  return nullptr;
}

static std::string messageOf(Operation *raise) {
  auto text = torch::constantStr(raise->getOperand(0));
  return text && !text->empty() ? text->str() : "the program raised an exception";
}

/// Asserts that the branch which raises is not taken, and continues with the other.
static void assertInstead(IRRewriter &rewriter, torch::IfOp op, Operation *raise, Region &other,
                          bool expected) {
  rewriter.setInsertionPoint(op);
  Value condition = op.getCondition();
  if (!expected)
    condition = torch::AtenOp::create(rewriter, op.getLoc(), "aten.__not__",
                                      {torch::BoolType::get(op.getContext())}, {condition})
                    ->getResult(0);
  torch::RuntimeAssertOp::create(rewriter, raise->getLoc(), condition, messageOf(raise));
  Operation *yield = other.front().getTerminator();
  SmallVector<Value> results(yield->getOperands());
  rewriter.eraseOp(yield);
  rewriter.inlineBlockBefore(&other.front(), op);
  rewriter.replaceOp(op, results);
}

void normalizeAssertions(func::FuncOp entry) {
  IRRewriter rewriter(entry.getContext());
  SmallVector<torch::IfOp> branches; // the inner ones first
  entry.walk([&](torch::IfOp op) { branches.push_back(op); });
  for (torch::IfOp op : branches)
    if (Operation *raise = raises(op.getElseRegion().front()))
      assertInstead(rewriter, op, raise, op.getThenRegion(), true);
    else if (Operation *raise = raises(op.getThenRegion().front()))
      assertInstead(rewriter, op, raise, op.getElseRegion(), false);
  entry.walk([&](cf::AssertOp op) {
    rewriter.setInsertionPoint(op);
    rewriter.replaceOpWithNewOp<graph::AssertOp>(op, op.getArg(), op.getMsg(), ValueRange());
  });
}

} // namespace tw::text
