// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LLVM's code generators.
#pragma once
#include "Support/Cancellation.h"
#include "llvm/Support/CodeGen.h"

namespace llvm {
class Module;
class raw_pwrite_stream;
class TargetMachine;
} // namespace llvm

namespace tw::target {

/// Instructions of a block of which more are compiled as several blocks.
constexpr unsigned mostOfBlock = 2048;

/// Writes the code of an optimised module for its machine. False where LLVM cannot, and where it is
/// cancelled: then the stream has nothing that is of use.
bool writeCode(llvm::Module &module, llvm::TargetMachine &machine, llvm::raw_pwrite_stream &stream,
               llvm::CodeGenFileType kind, const Cancellation *cancellation = nullptr);

} // namespace tw::target
