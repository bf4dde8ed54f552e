// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "IR/Tile/Elementwise.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;

namespace tw::tile {

static constexpr StringRef operations[] = {
    // clang-format off
    "arith.addf", "arith.addi", "arith.andi", "arith.cmpf", "arith.cmpi", "arith.divf",
    "arith.divsi", "arith.divui", "arith.extf", "arith.extsi", "arith.extui", "arith.fptosi",
    "arith.fptoui", "arith.index_cast", "arith.index_castui", "arith.maximumf", "arith.maxnumf",
    "arith.maxsi", "arith.maxui", "arith.minimumf", "arith.minnumf", "arith.minsi", "arith.minui",
    "arith.mulf", "arith.muli", "arith.negf", "arith.ori", "arith.remf", "arith.remsi",
    "arith.remui", "arith.select", "arith.shli", "arith.shrsi", "arith.shrui", "arith.sitofp",
    "arith.subf", "arith.subi", "arith.truncf", "arith.trunci", "arith.uitofp", "arith.xori",
    "math.absf", "math.absi", "math.acos", "math.acosh", "math.asin", "math.asinh", "math.atan",
    "math.atan2", "math.atanh", "math.ceil", "math.copysign", "math.cos", "math.cosh", "math.erf",
    "math.erfc", "math.exp", "math.exp2", "math.expm1", "math.floor", "math.fma", "math.log",
    "math.log10", "math.log1p", "math.log2", "math.powf", "math.round", "math.roundeven", "math.rsqrt", "math.sin",
    "math.sinh", "math.sqrt", "math.tan", "math.tanh", "math.trunc", "tile.keep",
    // clang-format on
};

ArrayRef<StringRef> elementwiseOperations() { return operations; }

bool isElementwise(Operation *op) {
  static const llvm::DenseSet<StringRef> known(std::begin(operations), std::end(operations));
  return known.contains(op->getName().getStringRef());
}

} // namespace tw::tile
