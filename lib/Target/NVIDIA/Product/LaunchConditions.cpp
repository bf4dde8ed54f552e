// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/NVIDIA/Product/LaunchConditions.h"
#include "Target/NVIDIA/Emission/Emitter.h"

using namespace mlir;

namespace tw::target::nvidia {

void LaunchConditions::addAlignedRows(Value buffer) {
  if (!llvm::is_contained(alignedRows, buffer))
    alignedRows.push_back(buffer);
}

void LaunchConditions::addFilled(Value buffer) {
  bool isKnown = llvm::all_of(tile::sizesOf(cast<tile::BufferType>(buffer.getType())),
                              [](const Size &size) { return size.constant().has_value(); });
  if (!isKnown && !llvm::is_contained(filled, buffer))
    filled.push_back(buffer);
}

std::string LaunchConditions::text() const {
  std::string all;
  auto add = [&](bool isAsked, const char *what) {
    if (isAsked)
      all += (all.empty() ? "if " : " and ") + std::string(what);
  };
  add(!alignedRows.empty(), "rows are multiples of 16 bytes");
  add(!loops.empty(), "its loop runs");
  add(!filled.empty(), "its operands have elements");
  return all;
}

bool isKnownAtLaunch(Value scalar) {
  Operation *op = scalar.getDefiningOp();
  if (!op)
    return isa<tile::KernelOp>(scalar.getParentBlock()->getParentOp());
  return Emitter::isScalar(op) && !isa<tile::ProgramIdOp>(op) &&
         llvm::all_of(op->getOperands(), isKnownAtLaunch);
}

} // namespace tw::target::nvidia
