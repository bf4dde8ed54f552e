// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tw-round-products (Passes.td).
#include "Graph/Passes.h"
#include "Graph/Sizes.h"
#include "IR/Coded.h"
#include "IR/Graph/Contraction.h"
#include "IR/Graph/Values.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace tw {
#define GEN_PASS_DEF_ROUNDPRODUCTS
#include "Graph/Passes.h.inc"

namespace {

bool isF32(Value value) { return getElementTypeOrSelf(value).isF32(); }

/// `tensor`, rounded to bf16 element by element.
Value rounded(Value tensor, OpBuilder &b, Location loc) {
  auto type = cast<RankedTensorType>(tensor.getType());
  FloatType bf16 = b.getBF16Type();
  Value empty = tensor::EmptyOp::create(b, loc, resolvedSizes(tensor, b), bf16);
  AffineMap identity = b.getMultiDimIdentityMap(type.getRank());
  SmallVector<utils::IteratorType> loops(type.getRank(), utils::IteratorType::parallel);
  auto body = [&](OpBuilder &inner, Location at, ValueRange elements) {
    Value made = arith::TruncFOp::create(inner, at, bf16, elements[0]);
    linalg::YieldOp::create(inner, at, made);
  };
  return linalg::GenericOp::create(b, loc, empty.getType(), tensor, empty,
                                   ArrayRef<AffineMap>{identity, identity}, loops, body)
      .getResult(0);
}

/// Operands of a contraction of f32 become bf16, and are widened in its body.
bool roundContraction(linalg::GenericOp op) {
  auto parts = graph::matchContraction(op);
  if (!parts || !isF32(op->getResult(0)))
    return false;
  for (unsigned operand : parts->operands)
    if (!isF32(op->getOperand(operand)))
      return false;
  OpBuilder b(op);
  Block *body = op.getBody();
  for (unsigned number : parts->operands) {
    if (!isF32(op->getOperand(number))) // both factors are the same operand
      continue;
    op->setOperand(number, rounded(op->getOperand(number), b, op.getLoc()));
    BlockArgument element = body->getArgument(number);
    element.setType(b.getBF16Type());
    OpBuilder inner = OpBuilder::atBlockBegin(body);
    auto wide = arith::ExtFOp::create(inner, op.getLoc(), inner.getF32Type(), element);
    element.replaceAllUsesExcept(wide, wide);
  }
  return true;
}

bool roundAttention(graph::AttentionOp op) {
  if (!isF32(op.getQuery()))
    return false;
  OpBuilder b(op);
  for (OpOperand *operand : {&op.getQueryMutable(), &op.getKeyMutable(), &op.getValueMutable()})
    operand->set(rounded(operand->get(), b, op.getLoc()));
  return true;
}

struct RoundProducts : impl::RoundProductsBase<RoundProducts> {
  void runOnOperation() override {
    getOperation()->walk([](Operation *op) {
      auto contraction = dyn_cast<linalg::GenericOp>(op);
      auto attention = dyn_cast<graph::AttentionOp>(op);
      if ((contraction && roundContraction(contraction)) ||
          (attention && roundAttention(attention)))
        emitReport(op->getLoc()) << "multiplies operands that are rounded to bf16";
    });
  }
};

} // namespace

} // namespace tw
