// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Behaviour of single table operations beyond what their schema says: what hasFolder,
// hasCanonicalizer and hasVerifier are for operations from TableGen. Hooks are found by name, once,
// when the dialect registers its operations.
#pragma once
#include "IR/Torch/AtenOp.h"

namespace tw::torch {

struct Hooks {
  using Fold = mlir::LogicalResult (*)(AtenOp op, llvm::ArrayRef<mlir::Attribute> operands,
                                       llvm::SmallVectorImpl<mlir::OpFoldResult> &results);
  using Canonicalize = mlir::LogicalResult (*)(AtenOp op, mlir::PatternRewriter &rewriter);
  Fold fold = nullptr;
  Canonicalize canonicalize = nullptr;
};

struct NamedFold {
  llvm::StringRef name; // "aten.len.t", or "aten.add.*" for the overloads of two Python numbers
  Hooks::Fold fold;
};
struct NamedCanonicalize {
  llvm::StringRef name;
  Hooks::Canonicalize canonicalize;
};

// The tables, one per file of hooks.
llvm::ArrayRef<NamedFold> scalarFolds();               // FoldScalars.cpp
llvm::ArrayRef<NamedFold> containerFolds();            // FoldContainers.cpp
llvm::ArrayRef<NamedCanonicalize> containerPatterns(); // FoldContainers.cpp

/// The hooks of an operation ("torch.aten.add.int"); both null when it has none.
Hooks lookupHooks(llvm::StringRef opName);

} // namespace tw::torch
