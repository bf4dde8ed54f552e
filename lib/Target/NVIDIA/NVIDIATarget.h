// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
#include "Support/Diagnostic.h"
#include "Target/NVIDIA/Architecture.h"
#include "Target/Target.h"
#include "mlir/IR/BuiltinOps.h"
#include <functional>

namespace tw::target {

/// Makes what a device's driver loads, or finds it in a cache (or null), and fills in what is found
/// out about each kernel; on any thread. Fails with the error of a cancellation (or null) that is
/// requested meanwhile.
using DeviceJob = std::function<Result<std::string>(
    std::vector<DeviceCode::Entry> &entries, CodeCache *cache, const Cancellation *cancellation)>;

/// Begins with the code of lowered kernels (llvm and nvvm dialects), of which `entries` are called.
using DeviceCompiler = std::function<mlir::FailureOr<DeviceJob>(
    mlir::ModuleOp device, const GpuArchitecture &architecture,
    const std::vector<DeviceCode::Entry> &entries)>;

/// PTX by LLVM and, where ptxas is to be found, a cubin of it; else the PTX, which the driver
/// compiles.
mlir::FailureOr<DeviceJob> compileForDevice(mlir::ModuleOp device,
                                            const GpuArchitecture &architecture,
                                            const std::vector<DeviceCode::Entry> &entries);

/// Tile programs for GPUs. `compile` is exchanged by tests, which have none.
std::unique_ptr<Target> createNVIDIATarget(const GpuArchitecture &architecture,
                                           DeviceCompiler compile = compileForDevice);

} // namespace tw::target
