// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One callable for a kernel with variants (IR/Tile/Variants.h):
//
//   void k(void **buffers, int64_t *scalars, uint8_t *workspace, int64_t begin, int64_t end) {
//     if (scalars[0] == 1) return k_max1(...);
//     if (scalars[0] <= 6) return k_max6(...);
//     return k$any(...);
//   }
//
// and likewise k_info and k_fill, so that whoever calls k knows of one kernel. On a device, all of
// them are launched, of which all but the one for these sizes have no blocks:
//
//   void k_max6_launch(void **buffers, int64_t *scalars, void *workspace, tw_launch *launch) {
//     if (scalars[0] != 1 && scalars[0] <= 6) return k_max6_launch$always(...);
//     launch->grid[0] = 0;
//   }
#pragma once
#include "IR/Tile/Tile.h"
#include "Target/Target.h"
#include "mlir/IR/BuiltinOps.h"

namespace tw::target {

/// A kernel, and what its code, which is there already, is like.
struct LoweredKernel {
  tile::KernelOp kernel;
  KernelInfo info;
};

/// What the function of the kernel itself is called, where it has variants.
std::string nameOfAny(tile::KernelOp kernel);

/// Whether calls cannot tell a variant from the kernel; else `why`.
bool isInterchangeable(const LoweredKernel &variant, const LoweredKernel &kernel, std::string &why);

/// Adds k, k_info and k_fill to `into`, in the llvm dialect; of kernels for a device, k_info, and
/// looks at sizes in what launches them. `kernel` has the code of `nameOfAny`; each of `variants`
/// is interchangeable with it.
KernelInfo emitVariantSwitch(const LoweredKernel &kernel, mlir::ArrayRef<LoweredKernel> variants,
                             mlir::ModuleOp into);

} // namespace tw::target
