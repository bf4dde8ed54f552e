// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How much a dispatch computes and moves, as expressions that the runtime evaluates for a call.
#pragma once
#include "IR/Graph/Graph.h"
#include "Tile/Work.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include <string>
#include <vector>

namespace tw {

/// The work of a kernel with what its symbols are found by; outlives the kernel.
struct KernelCost {
  tile::KernelWork work;
  std::vector<tile::Access> accesses;   // of each argument
  std::vector<std::vector<Size>> sizes; // and of buffers the sizes
  std::string arithmetic, configuration;
  /// The symbol of the size that variants are told apart by, if there may be some, and variants.
  std::string variantSymbol = {};
  struct Variant {
    int64_t least, most; // of that size
    int64_t workers;     // at least
    std::string configuration;
  };
  std::vector<Variant> variants = {};
};
/// `code`: where its functions are, and those of the variants that it can call.
KernelCost costOf(tile::KernelOp kernel, mlir::ModuleOp code);

/// Over the program's symbols: a number, or an expression (runtime/Artifact/SizeExpression.h); ""
/// where it is not known before the call runs.
struct WorkText {
  std::string flops;
  std::string weightBytes, readBytes, writtenBytes; // of constants, of other tensors, of results
  std::string variantSize;                          // KernelCost::variantSymbol
};

/// Of a call of the kernel in `main`, at the dispatch level.
WorkText workText(mlir::func::FuncOp main, graph::DispatchOp call, const KernelCost &cost);

} // namespace tw
