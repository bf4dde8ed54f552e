// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel with few programs and a loop with `combine`, as two kernels that more workers can share.
#pragma once
#include "GraphToTile/Configuration/SplitLimits.h"
#include "IR/Tile/Tile.h"
#include "mlir/IR/OwningOpRef.h"
#include <string>

namespace tw::tile {

/// The first dimension of the grid of `parts` is the part of the loop's range; it stores the states
/// in its outputs, one for each carried value. `rest` reads them, after its other inputs, combines
/// them in order, and does what follows the loop.
struct SplitKernel {
  mlir::OwningOpRef<KernelOp> parts, rest;
  llvm::SmallVector<BufferType> states;
};

/// In how many parts the loop of a kernel is worth running: 1 where it has no `combine`, or
/// programs enough; else as its configuration says (kernels::splitPartsName), or the target's
/// limits. It follows from these and the sizes in the kernel, never from the machine that runs it,
/// so results do not depend on the number of threads. `why`: the reason of a 1, where there is a
/// `combine` that is not asked to be one part.
int64_t chooseParts(KernelOp kernel, const conversion::SplitLimits &limits, std::string &why);

/// The kernels that run a loop that chooseParts allows in `count` parts. Few parts are combined
/// without a loop, as `limits` say, and where rows can be combined one by one, by more programs if
/// there are too few.
SplitKernel splitLoop(KernelOp kernel, int64_t count, const conversion::SplitLimits &limits);

} // namespace tw::tile
