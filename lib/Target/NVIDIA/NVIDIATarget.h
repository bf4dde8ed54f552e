// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
#include "Target/NVIDIA/Architecture.h"
#include "Target/Target.h"
#include "mlir/IR/BuiltinOps.h"
#include <functional>

namespace tw::target {

/// Makes what a device's driver loads of lowered kernels (llvm and nvvm dialects), and fills in
/// what is found out about each.
using DeviceCompiler = std::function<mlir::FailureOr<std::string>(
    mlir::ModuleOp device, const GpuArchitecture &architecture, int64_t arguments,
    std::vector<DeviceCode::Entry> &entries)>;

/// PTX by LLVM and, where ptxas is to be found, a cubin of it.
mlir::FailureOr<std::string> compileForDevice(mlir::ModuleOp device,
                                              const GpuArchitecture &architecture,
                                              int64_t arguments,
                                              std::vector<DeviceCode::Entry> &entries);

/// Tile programs for GPUs. `compile` is exchanged by tests, which have none.
std::unique_ptr<Target> createNVIDIATarget(const GpuArchitecture &architecture,
                                           DeviceCompiler compile = compileForDevice);

} // namespace tw::target
