// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TorchToGraph/Core/Unsupported.h"
#include "IR/Coded.h"
#include "IR/ModelLocation.h"
#include "TorchToGraph/Core/Registry.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace tw::lower {

static bool isCustom(Operation *op) {
  StringRef name = operatorName(op);
  return isa<torch::OperatorOp>(op) && !name.starts_with("torch.aten.") &&
         !name.starts_with("torch.prim") && !name.starts_with("onnx.");
}

bool usesComplex(Operation *op) {
  auto isComplex = [](Type type) {
    auto tensor = dyn_cast<torch::ValueTensorType>(type);
    return tensor && isa_and_nonnull<ComplexType>(tensor.getDtype());
  };
  return llvm::any_of(op->getOperandTypes(), isComplex) ||
         llvm::any_of(op->getResultTypes(), isComplex);
}

bool isUnsupported(Operation *op, const KernelNames &kernels) {
  if (!isa_and_nonnull<torch::TorchDialect>(op->getDialect()) ||
      op->hasTrait<OpTrait::IsTerminator>())
    return false;
  if (isa<torch::IfOp, torch::LoopOp, torch::RuntimeAssertOp, torch::SymbolicIntOp,
          torch::BindSymbolicShapeOp>(op))
    return false;
  StringRef name = operatorName(op);
  if (isCustom(op) && kernelFor(name.drop_front(strlen("torch.")).str(), kernels))
    return false;
  return (!findLowering(name) || usesComplex(op)) && !isOpTriviallyDead(op);
}

static std::string describeType(Type type) {
  auto tensor = dyn_cast<torch::ValueTensorType>(type);
  auto dtype = tensor ? dtypeOf(tensor.getDtype()) : std::nullopt;
  std::string text;
  llvm::raw_string_ostream out(text);
  if (!dtype || !tensor.getHasSizes()) {
    out << type;
    StringRef shown = text;
    shown.consume_front("!torch.");
    return shown.str();
  }
  out << info(*dtype).name << "[";
  llvm::interleave(
      tensor.getSizes(), out,
      [&](int64_t size) {
        if (size == torch::ValueTensorType::kUnknownSize)
          out << "?";
        else
          out << size;
      },
      ",");
  out << "]";
  return text;
}

static UnsupportedOperator describe(Operation *op) {
  StringRef name = operatorName(op);
  std::string reason =
      isCustom(op) ? "no kernel is given for this custom operator" : findRefusal(name).str();
  if (reason.empty() && usesComplex(op))
    reason = "tensors of complex numbers are not supported";
  UnsupportedOperator result{"", describePlace(op->getLoc()), reason, "",
                             modelPlace(op->getLoc()).value_or(ModelPlace())};
  name.consume_front("torch.");
  result.op = name.str();
  for (Type type : op->getOperandTypes())
    if (!isa<torch::NoneType>(type))
      result.inputs += (result.inputs.empty() ? "" : ", ") + describeType(type);
  return result;
}

LogicalResult reportUnsupported(ModuleOp module, const KernelNames &kernels) {
  SmallVector<Operation *> ops;
  module.walk([&](Operation *op) {
    if (isUnsupported(op, kernels))
      ops.push_back(op);
  });
  for (Operation *op : ops) {
    UnsupportedOperator found = describe(op);
    InFlightDiagnostic error = emitCoded(op->getLoc(), Code::LOWER_1);
    error << "operator " << found.op << " is not supported" << (found.reason.empty() ? "" : ": ")
          << found.reason;
    if (!found.inputs.empty())
      error.attachNote() << "inputs " << found.inputs;
    if (op == ops.back() && llvm::any_of(ops, isCustom)) {
      mlir::Diagnostic &note = error.attachNote();
      note << "kernels of custom operators are given with --kernels=FILE, in Python with "
              "kernels=[...]; that of mylib.rope is called mylib_rope or rope";
      if (!kernels.empty())
        note << "; given are " << llvm::join(kernels, ", ");
    }
    if (op == ops.back())
      error.attachNote() << "help: " << ops.size()
                         << (ops.size() == 1 ? " operator is" : " operators are") << " unsupported"
                         << (ops.size() == 1 ? "" : ", all listed above")
                         << "; docs/operators.md lists those that are supported";
  }
  return failure(!ops.empty());
}

} // namespace tw::lower

std::vector<tw::UnsupportedOperator> tw::findUnsupported(ModuleOp module,
                                                         const KernelNames &kernels) {
  std::vector<UnsupportedOperator> result;
  module.walk([&](Operation *op) {
    if (lower::isUnsupported(op, kernels))
      result.push_back(lower::describe(op));
  });
  return result;
}
