// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Code that kernels have in common is a function that they call, so that LLVM compiles it once: the
// products of a loop's interior and boundary versions, and those of several kernels, differ only in
// the values that they start from.
#pragma once
#include "Target/CPU/Emission/Emitter.h"

namespace tw::target::cpu {

class SharedFunction {
public:
  /// What is emitted from here on belongs to the function.
  explicit SharedFunction(Emitter &e);
  /// What has been emitted becomes a call. The function is named after its content, and made where
  /// there is none of that name yet. Nothing changes where a call would have to pass or return
  /// vectors, or many arguments.
  void finish(llvm::StringRef purpose);

private:
  using Operations = llvm::SmallVector<mlir::Operation *>;

  Operations emitted() const;
  /// Scalars that do not change in the function are computed before the call: what leads to them
  /// may differ.
  void hoist();
  bool placesTiles(llvm::ArrayRef<mlir::Operation *> operations) const;

  Emitter &e;
  mlir::Block *block;
  mlir::Operation *before; // null at the start of the block
};

} // namespace tw::target::cpu
