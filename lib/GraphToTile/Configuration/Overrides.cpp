// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "GraphToTile/Configuration/Overrides.h"
#include "IR/Graph/Values.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"
#include <fmt/format.h>

using namespace mlir;

namespace tw::conversion {

std::string dispatchSignature(func::FuncOp function) {
  OwningOpRef<func::FuncOp> plain = function.clone(); // with or without numbered values
  plain->walk([](Operation *op) { op->removeAttr(graph::valuesName); });
  std::string text;
  llvm::raw_string_ostream os(text);
  os << function.getFunctionType() << "\n";
  plain->getBody().front().print(os); // values are numbered, so names do not matter
  return fmt::format("{:016x}", llvm::xxh3_64bits(text));
}

std::string kernelName(const std::string &function, size_t count, size_t number) {
  return count == 1 ? function : function + "_" + std::to_string(number);
}

} // namespace tw::conversion
