// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Text with !torch.tensor becomes text with !torch.vtensor. Before:
//
//     func.func @main(%x: !torch.tensor<[2],f32>) {
//       %0 = torch.copy.to_vtensor %x : !torch.vtensor<[2],f32>
//       %1 = torch.aten.relu %0 : !torch.vtensor<[2],f32> -> !torch.vtensor<[2],f32>
//       torch.overwrite.tensor.contents %1 overwrites %x : ...
//       return
//
// After: %x is a !torch.vtensor, the copy is gone and %1 is a result with tw.role =
// "input_mutation". Where nothing is written to, a tensor and its value are the same thing; writes
// other than the one above are refused.
#include "IR/ModelLocation.h"
#include "IR/Torch/Torch.h"
#include "Import/Text/Stages.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/Builders.h"
#include <fmt/format.h>

using namespace mlir;
namespace tw::text {

static constexpr const char *kHelp =
    "export the program with torch.export, which gives functional text, or write the new value "
    "with torch.overwrite.tensor.contents to an argument";

namespace {
/// The value an argument has after the calls, to be returned.
struct NewContents {
  unsigned argument;
  Value value;
};
} // namespace

/// Follows the writes to one argument through the entry block: reads see the last write.
static Result<std::optional<NewContents>> takeWrites(BlockArgument argument) {
  auto isOverwrite = [&](Operation *user) {
    auto overwrite = dyn_cast<torch::OverwriteTensorContentsOp>(user);
    return overwrite && overwrite.getOverwritten() == argument;
  };
  if (llvm::none_of(argument.getUsers(), isOverwrite))
    return std::optional<NewContents>();
  for (Operation *user : argument.getUsers())
    if (user->getBlock() != argument.getOwner() ||
        !(isOverwrite(user) || isa<torch::CopyToValueTensorOp>(user)))
      return errorAt(user, Code::IMPORT_105,
                     fmt::format("'{}' uses argument {}, which is written to elsewhere",
                                 user->getName().getStringRef().str(), argument.getArgNumber()),
                     kHelp);
  Value contents;
  for (Operation &op : llvm::make_early_inc_range(*argument.getOwner())) {
    if (isOverwrite(&op)) {
      contents = cast<torch::OverwriteTensorContentsOp>(op).getValue();
      op.erase();
    } else if (auto copy = dyn_cast<torch::CopyToValueTensorOp>(op);
               copy && contents && copy.getOperand() == argument) {
      copy.replaceAllUsesWith(contents);
      copy.erase();
    }
  }
  return std::optional(NewContents{argument.getArgNumber(), contents});
}

/// Refuses all that still writes.
static Status refuseWrites(func::FuncOp entry) {
  std::optional<Diagnostic> problem;
  entry.walk([&](Operation *op) {
    bool writes = isa<torch::OverwriteTensorContentsOp>(op);
    for (OpOperand &operand : op->getOpOperands())
      writes |= isa<torch::AtenOp>(op) && torch::isTensor(operand.get().getType()) &&
                torch::mayWrite(operand);
    if (!writes)
      return;
    std::string name = op->getName().getStringRef().str();
    if (!problem)
      problem = errorAt(
          op, Code::IMPORT_105,
          fmt::format("'{}' writes to a tensor, which this text form cannot express", name), kHelp);
    else
      problem->notes.push_back(fmt::format("also at {}: '{}'", describePlace(op->getLoc()), name));
  });
  return problem ? Status(*problem) : Status();
}

/// Literals, copies and types without value semantics become those with it.
static void replaceTensors(func::FuncOp entry) {
  entry.walk([](Operation *op) {
    OpBuilder builder(op);
    if (auto literal = dyn_cast<torch::NonValueTensorLiteralOp>(op)) {
      Value value = torch::ValueTensorLiteralOp::create(builder, op->getLoc(), literal.getValue());
      auto wanted = literal.getType();
      auto type = torch::ValueTensorType::get(op->getContext(), wanted.getHasSizes(),
                                              wanted.getSizes(), wanted.getDtype(), Attribute());
      if (value.getType() != type)
        value = torch::TensorStaticInfoCastOp::create(builder, op->getLoc(), type, value);
      literal.replaceAllUsesWith(value);
      op->erase();
    } else if (isa<torch::CopyToValueTensorOp, torch::CopyToNonValueTensorOp>(op)) {
      op->replaceAllUsesWith(op->getOperands());
      op->erase();
    }
  });
  AttrTypeReplacer replacer;
  replacer.addReplacement([](torch::NonValueTensorType type) -> Type {
    return torch::ValueTensorType::get(type.getContext(), type.getHasSizes(), type.getSizes(),
                                       type.getDtype(), type.getSparsity());
  });
  replacer.recursivelyReplaceElementsIn(entry, /*replaceAttrs=*/true, /*replaceLocs=*/false,
                                        /*replaceTypes=*/true);
}

Status makeValueSemantic(func::FuncOp entry) {
  SmallVector<NewContents> written;
  for (BlockArgument argument : entry.getArguments())
    if (isa<torch::NonValueTensorType>(argument.getType())) {
      TW_ASSIGN(std::optional<NewContents> contents, takeWrites(argument));
      if (contents)
        written.push_back(*contents);
    }
  TW_TRY(refuseWrites(entry));
  SmallVector<Value> returned(entry.front().getTerminator()->getOperands());
  for (NewContents contents : written)
    returned.push_back(contents.value);
  unsigned plain = returned.size() - written.size();
  setReturned(entry, returned);
  for (auto [index, contents] : llvm::enumerate(written))
    entry.setResultAttr(plain + index, "tw.input",
                        Builder(entry.getContext()).getI64IntegerAttr(contents.argument));
  replaceTensors(entry);
  return {};
}

} // namespace tw::text
