// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Tile/Binding/Signature.h"
#include "IR/ElementDType.h"

using namespace mlir;

namespace tw::tile {

static KernelArgument describe(Type type, ArgumentAttr argument) {
  static constexpr KernelAccess accesses[] = {KernelAccess::In, KernelAccess::Out,
                                              KernelAccess::InOut, KernelAccess::Scalar};
  KernelArgument result;
  result.name = argument.getName().str();
  result.access = accesses[uint32_t(argument.getAccess())];
  if (auto buffer = dyn_cast<BufferType>(type)) {
    result.dtype = dtypeOf(buffer.getElementType()).value_or(DType::I64);
    result.sizes = sizesOf(buffer);
  } else {
    result.dtype = dtypeOf(type).value_or(DType::I64);
  }
  if (argument.getSymbol())
    result.symbol = argument.getSymbol().str();
  return result;
}

KernelSignature signatureOf(KernelOp kernel) {
  KernelSignature signature;
  signature.name = kernel.getSymName().str();
  for (auto [value, argument] :
       llvm::zip(kernel.getBody().getArguments(), kernel.getArguments().getAsRange<ArgumentAttr>()))
    signature.arguments.push_back(describe(value.getType(), argument));
  for (auto symbol : kernel.getSymbols().getAsRange<SymbolAttr>())
    signature.symbols.push_back(
        {symbol.getName().str(), symbol.getMin(), symbol.getMax(), symbol.getMultiple()});
  for (auto size : kernel.getGrid().getAsRange<SizeAttr>())
    signature.grid.push_back(size.getSize());
  return signature;
}

} // namespace tw::tile
