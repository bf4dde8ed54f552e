// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Interpreter/Compiler.h"

using namespace mlir;

namespace tw::interpreter {

static KernelArgument describe(Type type, tile::ArgumentAttr argument) {
  static constexpr KernelAccess accesses[] = {KernelAccess::In, KernelAccess::Out,
                                              KernelAccess::InOut, KernelAccess::Scalar};
  KernelArgument result;
  result.name = argument.getName().str();
  result.access = accesses[uint32_t(argument.getAccess())];
  if (auto buffer = dyn_cast<tile::BufferType>(type)) {
    result.dtype = dtypeOf(buffer.getElementType());
    result.sizes = tile::sizesOf(buffer);
  } else {
    result.dtype = dtypeOf(type);
  }
  if (argument.getSymbol())
    result.symbol = argument.getSymbol().str();
  return result;
}

KernelSignature signatureOf(tile::KernelOp kernel) {
  KernelSignature signature;
  signature.name = kernel.getSymName().str();
  for (auto [value, argument] : llvm::zip(kernel.getBody().getArguments(),
                                          kernel.getArguments().getAsRange<tile::ArgumentAttr>()))
    signature.arguments.push_back(describe(value.getType(), argument));
  for (auto symbol : kernel.getSymbols().getAsRange<tile::SymbolAttr>())
    signature.symbols.push_back(
        {symbol.getName().str(), symbol.getMin(), symbol.getMax(), symbol.getMultiple()});
  for (auto size : kernel.getGrid().getAsRange<tile::SizeAttr>())
    signature.grid.push_back(size.getSize());
  return signature;
}

} // namespace tw::interpreter
