// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/Common/KernelShell.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tw::target {

static constexpr const char *loopsSuffix = "_loops";

KernelShell::KernelShell(OpBuilder &b, Location loc, ModuleOp into, std::string name,
                         unsigned tensors, bool mayFail)
    : b(b), loc(loc), into(into), name(std::move(name)), tensors(tensors),
      buffers(tensors + (mayFail ? 1 : 0)), pointer(LLVM::LLVMPointerType::get(b.getContext())),
      i64(b.getI64Type()) {}

LLVM::LLVMFuncOp KernelShell::function(StringRef suffix, ArrayRef<Type> arguments,
                                       LLVM::Linkage linkage) {
  b.setInsertionPointToEnd(into.getBody());
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()), arguments);
  auto made = LLVM::LLVMFuncOp::create(b, loc, name + suffix.str(), type, linkage);
  b.setInsertionPointToEnd(made.addEntryBlock(b));
  b.setInsertionPoint(LLVM::ReturnOp::create(b, loc, ValueRange{}));
  return made;
}

KernelShell::Loops KernelShell::loops() {
  SmallVector<Type> types(buffers + 2, pointer);
  types.append({i64, i64});
  auto made = function(loopsSuffix, types, LLVM::Linkage::Internal);
  // LLVM would simplify its code as a function and once more in its caller.
  made.setAlwaysInline(true);
  ValueRange arguments = made.getArguments();
  Value one = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(1));
  auto iterations = scf::ForOp::create(b, loc, arguments[buffers + 2], arguments[buffers + 3], one);
  b.setInsertionPoint(iterations);
  return {made,
          arguments.take_front(tensors),
          buffers > tensors ? arguments[tensors] : Value(),
          arguments[buffers],
          arguments[buffers + 1],
          iterations};
}

void KernelShell::entry() {
  auto made = function("", {pointer, pointer, pointer, i64, i64}, LLVM::Linkage::External);
  SmallVector<Value> operands;
  for (unsigned i = 0; i < buffers; ++i)
    operands.push_back(bufferAt(made.getArgument(0), i));
  llvm::append_range(operands, made.getArguments().drop_front());
  LLVM::CallOp::create(b, loc, TypeRange{}, name + loopsSuffix, operands);
}

ValueRange KernelShell::info() {
  return function("_info", {pointer, pointer}, LLVM::Linkage::External).getArguments();
}

ValueRange KernelShell::fill() {
  return function("_fill", {pointer, pointer}, LLVM::Linkage::External).getArguments();
}

Value KernelShell::bufferAt(Value buffers, unsigned i) {
  Value slot =
      LLVM::GEPOp::create(b, loc, pointer, pointer, buffers, ArrayRef<LLVM::GEPArg>{int32_t(i)});
  return LLVM::LoadOp::create(b, loc, pointer, slot);
}

} // namespace tw::target
