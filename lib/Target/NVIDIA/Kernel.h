// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
#include "IR/Tile/Tile.h"
#include "Target/NVIDIA/Architecture.h"
#include "Target/Target.h"
#include "mlir/IR/BuiltinOps.h"

namespace tw::target::nvidia {

/// What a kernel becomes before it is compiled for the device.
struct LoweredForDevice {
  KernelInfo info;
  std::vector<DeviceCode::Entry> entries;
  int64_t arguments = 0;
  bool usesTensorCores = false, hasPlain = false;
  bool claims = false; // programs, by a counter that k_fill sets to 0

  /// What a call launches, one after the other.
  std::vector<std::string> launches() const;
};

/// Adds to `device` the kernels that run on the GPU (nvvm.kernel, scalar loops), and to `host` what
/// stands beside them there (Target.h, DeviceCode): k_info, k_launch and k_fill_launch.
///
///   k(buffers..., failure record?, scalars..., workspace, tensor maps...)
///
/// runs programs blockIdx.x, blockIdx.x + gridDim.x, ... of the grid, row-major, one after the
/// other, each on all threads of the block. Fails with a coded diagnostic, and without one where it
/// is cancelled.
mlir::FailureOr<LoweredForDevice> lowerKernel(tile::KernelOp kernel, mlir::ModuleOp device,
                                              mlir::ModuleOp host,
                                              const GpuArchitecture &architecture,
                                              const Cancellation *cancellation = nullptr);

/// The same for a kernel that uses tensor cores, but with the plain lowering: what stands on the
/// host is the same. Fails where it would need more.
mlir::FailureOr<LoweredForDevice> lowerWithoutTensorCores(tile::KernelOp kernel,
                                                          mlir::ModuleOp device,
                                                          mlir::ModuleOp host,
                                                          const GpuArchitecture &architecture);

} // namespace tw::target::nvidia
