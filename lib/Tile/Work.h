// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How much a kernel computes and moves in one call, for profiles and rooflines.
#pragma once
#include "IR/Tile/Tile.h"

namespace tw::tile {

/// What is read from, or written to, one buffer: each element once, however many programs want it.
struct Traffic {
  unsigned argument; // of the kernel
  bool isWritten;
  /// Bytes that are accessed, and bytes of the whole buffer: the lesser ones count. Where the first
  /// are not known, all are meant, unless places depend on data.
  std::optional<Size> accessed;
  Size whole;
  bool dependsOnData;
};

struct KernelWork {
  /// Floating-point operations: two for each term of a product, one for each element of any other
  /// operation, be it an addition or an exponential. Nothing where it depends on data.
  std::optional<Size> flops;
  std::vector<Traffic> traffic;
  /// Of the operands of most products, else of most other operations: "f32", "bf16"; none: there
  /// are none.
  mlir::Type arithmetic;
};

/// Of all programs together, over the kernel's symbols. What lies beyond the ends of buffers is not
/// counted where positions are multiples of a block. Loops whose trips differ between programs are
/// taken as in the middle one, or in the mean where there are few kinds of them.
KernelWork workOf(KernelOp kernel);

} // namespace tw::tile
