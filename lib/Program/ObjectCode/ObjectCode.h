// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From the LLVM dialect to object files. Kernels do not call each other, so a large program is
// split into as many parts as the machine has threads, and LLVM works on all of them at once.
#pragma once
#include "Support/Cancellation.h"
#include "Support/InstructionSet.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SmallVector.h"
#include <string>
#include <vector>

namespace tw {

using ObjectFile = llvm::SmallVector<char, 0>;

/// Object files of `module` (LLVM dialect), optimised for a CPU with `set`, as bytes in
/// memory: the same for the same module and number of threads. Takes what `module` defines out of
/// it. Reports what goes wrong at the
/// module's location. `metadata` becomes the section TW_METADATA_SECTION of the first, and
/// `deviceCode`, unless it is empty, its TW_DEVICE_SECTION. What `favorsCompileTime` is not worth
/// much of LLVM's time. A cancellation fails without a report.
mlir::FailureOr<std::vector<ObjectFile>>
makeObjects(mlir::ModuleOp module, const InstructionSet &set, llvm::StringRef metadata,
            bool favorsCompileTime = false, const Cancellation *cancellation = nullptr,
            llvm::StringRef deviceCode = {});

/// What makeObjects makes, as text: LLVM's optimised intermediate code, or assembly.
enum class CodeText { LLVM, Assembly };
mlir::FailureOr<std::string> makeText(mlir::ModuleOp module, const InstructionSet &set,
                                      CodeText kind, const Cancellation *cancellation = nullptr);

} // namespace tw
