// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel that was opened through the C API, and what came of its last run.
#pragma once
#include "Driver/CApi/Session.h"
#include "Driver/KernelTool/CompiledKernel.h"
#include "Driver/Register.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "tilewright/Compiler.h"
#include <optional>

struct tilewright_kernel {
  tilewright_kernel() {
    mlir::DialectRegistry registry;
    tw::registerConfigurations(registry); // which the text of a dumped kernel has
    context.appendDialectRegistry(registry);
  }

  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  mlir::OwningOpRef<mlir::ModuleOp> module;
  tw::tile::KernelOp kernel;
  std::vector<std::string> types;
  tw::KernelSignature signature; // holds the names
  std::vector<tilewright_kernel_argument> arguments;

  std::optional<tw::CompiledKernel> compiled; // once it was needed
  std::string compiledFor;                    // the target
  std::vector<tw::HostTensor> outputs;
  std::vector<tw_tensor> outputViews;
  std::vector<double> times; // us
};

namespace tw {

/// What a function of the C API answers when it is not called as its header says.
void misuse(Session &session, const char *function);

} // namespace tw
