// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fields of configurations that files of earlier versions (FieldsVersion.h) have under another
// name, or in another place: they are read as they were meant. One that had no effect is left out.
#pragma once
#include "Kernels/Configuration.h"
#include "mlir/IR/BuiltinAttributes.h"

namespace tw::tune {

/// The fields of a configuration in a file of `version` for `target` ("cpu" or "nvidia") as they
/// are called and placed now.
void usePresentFields(kernels::Configuration &given, int64_t version, const std::string &target);

/// The same for a dictionary of a tuning spec, and those of its variants.
mlir::DictionaryAttr withPresentFields(mlir::DictionaryAttr dictionary, int64_t version,
                                       llvm::StringRef target);

} // namespace tw::tune
