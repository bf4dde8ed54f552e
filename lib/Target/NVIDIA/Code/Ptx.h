// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
#include "Target/NVIDIA/Architecture.h"
#include "mlir/IR/BuiltinOps.h"
#include <string>

namespace tw::target::nvidia {

/// The kernels of `device` (llvm and nvvm dialects), optimised, as PTX or as LLVM's intermediate
/// code. Reports what goes wrong at the module's location.
enum class DeviceText { LLVM, PTX };
mlir::FailureOr<std::string> makeText(mlir::ModuleOp device, const GpuArchitecture &architecture,
                                      DeviceText kind);

} // namespace tw::target::nvidia
