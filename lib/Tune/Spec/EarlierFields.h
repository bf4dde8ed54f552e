// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fields of configurations that files of earlier versions have under another name, or in another
// place: they are read as they were meant.
#pragma once
#include "Kernels/Configuration.h"
#include "mlir/IR/BuiltinAttributes.h"

namespace tw::tune {

/// The fields of a configuration in a tuning spec of `version` for `target` ("cpu" or "nvidia") as
/// they are called and placed now; so are those of its variants and of
/// the target's part. One that had no effect there is
/// left out.
mlir::DictionaryAttr withPresentFields(mlir::DictionaryAttr dictionary, int64_t version,
                                       llvm::StringRef target);

/// The same for what a configuration file gives, which says no version: a field that is one now is
/// none of these.
void usePresentFields(kernels::Configuration &given);

} // namespace tw::tune
