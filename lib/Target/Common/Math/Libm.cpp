// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/Common/Math/Libm.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace tw::target {

StringRef libmName(Operation *op) {
  static const llvm::StringMap<StringRef> names = {
      {"math.acos", "acos"},   {"math.acosh", "acosh"}, {"math.asin", "asin"},
      {"math.asinh", "asinh"}, {"math.atan", "atan"},   {"math.atan2", "atan2"},
      {"math.atanh", "atanh"}, {"math.cbrt", "cbrt"},   {"math.cos", "cos"},
      {"math.cosh", "cosh"},   {"math.erf", "erf"},     {"math.erfc", "erfc"},
      {"math.exp", "exp"},     {"math.exp2", "exp2"},   {"math.expm1", "expm1"},
      {"math.log", "log"},     {"math.log10", "log10"}, {"math.log1p", "log1p"},
      {"math.log2", "log2"},   {"math.powf", "pow"},    {"math.sin", "sin"},
      {"math.sinh", "sinh"},   {"math.tan", "tan"},     {"math.tanh", "tanh"},
      {"arith.remf", "fmod"}};
  return names.lookup(op->getName().getStringRef());
}

StringRef intrinsicImport(Operation *op) {
  static const llvm::StringMap<StringRef> names = {
      {"math.ceil", "ceil"},   {"math.floor", "floor"},         {"math.fma", "fma"},
      {"math.round", "round"}, {"math.roundeven", "roundeven"}, {"math.trunc", "trunc"}};
  return names.lookup(op->getName().getStringRef());
}

Value callPure(OpBuilder &b, Location loc, StringRef symbol, ValueRange operands) {
  auto call = LLVM::CallOp::create(b, loc, TypeRange{operands[0].getType()}, symbol, operands);
  call.setMemoryEffectsAttr(LLVM::MemoryEffectsAttr::get(
      b.getContext(),
      {LLVM::ModRefInfo::NoModRef, LLVM::ModRefInfo::NoModRef, LLVM::ModRefInfo::NoModRef,
       LLVM::ModRefInfo::NoModRef, LLVM::ModRefInfo::NoModRef, LLVM::ModRefInfo::NoModRef}));
  call.setNoUnwind(true);
  call.setWillReturn(true);
  return call.getResult();
}

Value callLibm(OpBuilder &b, Location loc, StringRef name, ValueRange operands,
               std::set<std::string> &imports) {
  std::string symbol = (name + (operands[0].getType().isF32() ? "f" : "")).str();
  imports.insert(symbol);
  return callPure(b, loc, symbol, operands);
}

void declareCalled(ModuleOp module) {
  SymbolTable symbols(module);
  OpBuilder b(module.getContext());
  module.walk([&](LLVM::CallOp call) {
    auto callee = call.getCallee();
    if (!callee || symbols.lookup(*callee) || call.getNumResults() != 1)
      return;
    b.setInsertionPointToStart(module.getBody());
    auto type = LLVM::LLVMFunctionType::get(call.getResultTypes()[0],
                                            llvm::to_vector(call.getOperandTypes()));
    symbols.insert(LLVM::LLVMFuncOp::create(b, call.getLoc(), *callee, type));
  });
}

void moveFunctions(ModuleOp from, ModuleOp into) {
  SymbolTable symbols(into);
  for (Operation &op : llvm::make_early_inc_range(*from.getBody())) {
    auto function = dyn_cast<LLVM::LLVMFuncOp>(op);
    bool isShared =
        function && (function.isExternal() || function.getLinkage() == LLVM::Linkage::WeakODR);
    if (isShared && symbols.lookup(function.getName()))
      continue;
    op.remove();
    symbols.insert(&op, into.getBody()->end());
  }
}

} // namespace tw::target
