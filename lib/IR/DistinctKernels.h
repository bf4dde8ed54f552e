// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which kernels are the same but for their names and where they come from.
#pragma once
#include "mlir/IR/Operation.h"
#include <unordered_map>

namespace tw {

/// Kernels no two of which are the same: symbols of any kind that nothing from outside is used in.
/// Two are the same if their attributes but for the name are, and their bodies, operation by
/// operation. While a kernel is in here only its name may change.
class DistinctKernels {
public:
  /// The kernel in here that `kernel` is the same as; itself, which is in here from now on, if
  /// there is none.
  mlir::Operation *insert(mlir::Operation *kernel);
  size_t size() const { return kernels.size(); }

private:
  struct Kernel {
    mlir::DictionaryAttr attributes; // without the name
    mlir::Operation *op;
  };
  std::unordered_multimap<size_t, Kernel> kernels; // by hashes
};

} // namespace tw
