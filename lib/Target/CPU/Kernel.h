// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
#include "IR/Tile/Tile.h"
#include "Target/CPU/CpuFeatures.h"
#include "Target/Target.h"
#include "mlir/IR/BuiltinOps.h"

namespace tw::target::cpu {

/// Adds the functions of `kernel` to `into` as loops (scf, arith, math, llvm): docs/contracts.md,
/// "Target level"; an iteration is a block of programs. As Target::emit where it is cancelled.
mlir::FailureOr<KernelInfo> lowerKernel(tile::KernelOp kernel, mlir::ModuleOp into,
                                        const CpuFeatures &cpu,
                                        const Cancellation *cancellation = nullptr);

} // namespace tw::target::cpu
