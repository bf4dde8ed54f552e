// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TorchToGraph/Core/RecomposeAttention.h"
#include "IR/Torch/AtenOp.h"
#include "IR/Torch/Torch.h"
#include "mlir/IR/OpDefinition.h"

using namespace mlir;

namespace tw::lower {
namespace {

using Backward = torch::Torch<"aten._scaled_dot_product_flash_attention_for_cpu_backward">;

bool isConstant(Value value) {
  Operation *def = value.getDefiningOp();
  return def && def->getNumOperands() == 0 && def->hasTrait<OpTrait::ConstantLike>();
}

/// Whether a value is there before `op`, or can be made there.
bool isReadyBefore(Value value, Operation *op) {
  Operation *def = value.getDefiningOp();
  return !def || isConstant(value) ||
         (def->getBlock() == op->getBlock() && def->isBeforeInBlock(op));
}

/// The type of the log of sums: one number for each query. Null where the tensors are not known, or
/// that is what the operator has.
Type missingSumsType(Backward op) {
  auto query = dyn_cast<torch::ValueTensorType>(op.arg("query").getType());
  auto given = dyn_cast<torch::ValueTensorType>(op.arg("logsumexp").getType());
  if (!query || !given || !query.getHasSizes() || !given.getHasSizes() ||
      query.getSizes().size() != given.getSizes().size())
    return {};
  auto dtype = dyn_cast_or_null<FloatType>(query.getDtype());
  if (!dtype)
    return {};
  bool isNarrow = dtype.getWidth() < 32;
  return torch::getValueTensor(op->getContext(), query.getSizes().drop_back(),
                               isNarrow ? Float32Type::get(op->getContext()) : dtype);
}

void recompose(Backward op, Type sumsType) {
  static constexpr const char *names[] = {"query",     "key",       "value", "dropout_p",
                                          "is_causal", "attn_mask", "scale"};
  Value out = op.arg("out");
  Operation *def = out.getDefiningOp();
  bool isWhole =
      def && def->getBlock() == op->getBlock() &&
      llvm::all_of(names, [&](const char *name) { return isReadyBefore(op.arg(name), def); });
  OpBuilder b(isWhole ? def : op.getOperation());
  SmallVector<torch::AtenOp::Named> arguments;
  for (const char *name : names) {
    Value value = op.arg(name);
    if (isWhole && isConstant(value))
      value = b.clone(*value.getDefiningOp())->getResult(0);
    arguments.push_back({name, value});
  }
  auto forward = torch::AtenOp::create(b, isWhole ? def->getLoc() : op.getLoc(),
                                       "aten._scaled_dot_product_flash_attention_for_cpu",
                                       TypeRange{out.getType(), sumsType}, {}, arguments);
  op->replaceUsesOfWith(op.arg("logsumexp"), forward->getResult(1));
  if (isWhole)
    out.replaceAllUsesWith(forward->getResult(0));
}

} // namespace

void recomposeAttention(ModuleOp module) {
  module.walk([](Operation *op) {
    if (auto backward = dyn_cast<Backward>(op))
      if (Type sums = missingSumsType(backward))
        recompose(backward, sums);
  });
}

} // namespace tw::lower
