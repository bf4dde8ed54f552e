// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operations of a text get names, as the nodes of an exported graph have them: "mm", "relu",
// "relu_1". Reports, configurations and `check` speak of them.
#include "IR/Graph/Graph.h"
#include "IR/ModelLocation.h"
#include "IR/Torch/Torch.h"
#include "Import/Text/Stages.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace tw::text {

/// Whether it computes a tensor that a person would speak of.
static bool isNamed(Operation *op) {
  bool isPartOfAnother = isa_and_nonnull<linalg::LinalgOp>(op->getParentOp());
  bool isStart = op->hasTrait<OpTrait::ConstantLike>() || isa<tensor::EmptyOp, linalg::FillOp>(op);
  return !isPartOfAnother && !isStart && llvm::any_of(op->getResultTypes(), [](Type type) {
    return isa<TensorType, torch::ValueTensorType, torch::NonValueTensorType>(type);
  });
}

/// torch.aten.add.Scalar is "add", linalg.matmul is "matmul", and a call of the kernel "softmax" is
/// "softmax".
static std::string baseName(Operation *op) {
  StringRef name = op->getName().getStringRef();
  if (auto called = op->getAttrOfType<StringAttr>("name"); called && name == "torch.operator")
    name = called.getValue();
  if (auto call = dyn_cast<graph::KernelCallOp>(op))
    name = call.getCallee();
  name.consume_front("torch.");
  StringRef inNamespace = name.split('.').second;
  return (inNamespace.empty() ? name : inNamespace).split('.').first.str();
}

/// Gives the name to the operation and to those parts of it that have no name of their own.
static void nameParts(Operation *op, StringAttr name) {
  op->walk<WalkOrder::PreOrder>([&](Operation *part) {
    if (part != op && isNamed(part))
      return WalkResult::skip();
    part->setLoc(NameLoc::get(name, part->getLoc()));
    return WalkResult::advance();
  });
}

void nameOperations(func::FuncOp entry) {
  llvm::StringSet<> taken;
  SmallVector<Operation *> unnamed;
  entry.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (!isNamed(op))
      return;
    if (std::string name = nodeName(op->getLoc()); !name.empty())
      taken.insert(name);
    else
      unnamed.push_back(op);
  });
  llvm::StringMap<int> counts;
  for (Operation *op : unnamed) {
    std::string base = baseName(op), name = base;
    for (int &number = counts[base]; !taken.insert(name).second;)
      name = base + "_" + std::to_string(++number);
    nameParts(op, StringAttr::get(op->getContext(), name));
  }
}

} // namespace tw::text
