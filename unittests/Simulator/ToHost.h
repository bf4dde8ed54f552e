// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lowered kernels as host code, which the simulator runs: what is left of the GPU in them is
// replaced by what a simulator::Thread has.
#pragma once
#include "Target/NVIDIA/NVIDIATarget.h"

namespace tw::simulator {

/// An ELF library that exports, for each kernel, `void NAME(const uint64_t *arguments, Thread *)`
/// and `const uint32_t NAME_arguments`, `NAME_maps` and `NAME_simulated`. In the place of
/// target::compileForDevice.
mlir::FailureOr<target::DeviceJob>
compileForHost(mlir::ModuleOp device, const target::GpuArchitecture &architecture,
               const std::vector<target::DeviceCode::Entry> &entries);

/// The kernels alone: `void NAME(const uint64_t *arguments, Thread *)` in `device` itself, and the
/// names of what is to be exported.
std::vector<std::string> rewriteForHost(mlir::ModuleOp device,
                                        const std::vector<target::DeviceCode::Entry> &entries);

} // namespace tw::simulator
