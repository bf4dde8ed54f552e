// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "IR/Graph/HostLevel.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

bool tw::graph::isHostLevel(Operation *op) {
  Operation *parent = op->getParentOp();
  while (isa<scf::IfOp, scf::ForOp>(parent)) // which bodies of kernels have, too
    parent = parent->getParentOp();
  return isa<func::FuncOp>(parent);
}
