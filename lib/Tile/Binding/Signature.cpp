// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Tile/Binding/Signature.h"
#include "IR/ElementDType.h"
#include "IR/ModelLocation.h"
#include "IR/Tile/LoopBounds.h"
#include <set>

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

/// Adds the sizes of operations that some calls may not have, each once.
static void addSizes(KernelOp kernel, std::vector<KernelSize> &sizes) {
  constexpr unsigned mostBits = 63;
  std::set<std::pair<std::string, bool>> known;
  auto add = [&](const Size &size, bool isExtent, Operation *op) {
    bool mayFail =
        size.mayDivideByZero() || (isExtent && !size.isNonNegative()) || bitsOf(size) > mostBits;
    if (mayFail && known.insert({size.str(), isExtent}).second)
      sizes.push_back({size, isExtent, describePlace(op->getLoc())});
  };
  kernel.getBody().walk([&](Operation *op) {
    if (auto value = dyn_cast<SizeOp>(op))
      add(value.getSize().getSize(), /*isExtent=*/false, op);
    for (Type type : op->getResultTypes())
      if (auto tile = dyn_cast<RankedTensorType>(type))
        for (const Size &size : extentsOf(tile))
          add(size, /*isExtent=*/true, op);
  });
}

/// Adds the tiles with extents that depend on symbols, once for each number of elements.
static void addTiles(KernelOp kernel, std::vector<KernelTile> &tiles) {
  std::set<std::multiset<std::string>> known;
  kernel.getBody().walk([&](Operation *op) {
    for (Type type : op->getResultTypes()) {
      auto tile = dyn_cast<RankedTensorType>(type);
      if (!tile || tile.hasStaticShape())
        continue;
      std::vector<Size> extents = extentsOf(tile);
      std::multiset<std::string> texts;
      for (const Size &size : extents)
        if (size != Size(1))
          texts.insert(size.str());
      if (known.insert(std::move(texts)).second)
        tiles.push_back({std::move(extents), describePlace(op->getLoc())});
    }
  });
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
  addSizes(kernel, signature.sizes);
  addTiles(kernel, signature.tiles);
  return signature;
}

} // namespace tw::tile
