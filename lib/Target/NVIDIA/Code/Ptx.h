// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
#include "Support/Cancellation.h"
#include "Target/NVIDIA/Architecture.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"
#include <memory>
#include <string>

namespace llvm {
class LLVMContext;
class Module;
} // namespace llvm

namespace tw::target::nvidia {

/// Kernels as LLVM's intermediate code, in a context of their own: they can be compiled on another
/// thread.
struct DeviceModule {
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> code;
};

/// What is needed to translate kernels.
void registerTranslations(mlir::DialectRegistry &registry);

/// Translates kernels (llvm and nvvm dialects). Reports what goes wrong at the module's location.
mlir::FailureOr<DeviceModule> translateForDevice(mlir::ModuleOp device,
                                                 const GpuArchitecture &architecture);

/// Optimises the kernels and writes them as PTX, or as text of LLVM's; empty where LLVM cannot, and
/// where it is cancelled.
enum class DeviceText { LLVM, PTX };
std::string makeText(DeviceModule &module, const GpuArchitecture &architecture, DeviceText kind,
                     const Cancellation *cancellation = nullptr);

} // namespace tw::target::nvidia
