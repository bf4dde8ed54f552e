// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/NVIDIA/Product/LaunchConditions.h"
#include "Target/NVIDIA/Emission/Emitter.h"

using namespace mlir;

namespace tw::target::nvidia {

void LaunchConditions::addAlignedRows(Value buffer) {
  if (!llvm::is_contained(alignedRows, buffer))
    alignedRows.push_back(buffer);
}

std::string LaunchConditions::text() const {
  std::string all;
  if (!alignedRows.empty())
    all = "if rows are multiples of 16 bytes";
  if (!loops.empty())
    all += (all.empty() ? "if " : " and ") + std::string("its loop runs");
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
