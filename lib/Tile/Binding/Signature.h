// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
#include "IR/Tile/Tile.h"
#include "Tile/Binding/Binding.h"

namespace tw::tile {

/// What a call of the kernel needs to give.
KernelSignature signatureOf(KernelOp kernel);

} // namespace tw::tile
