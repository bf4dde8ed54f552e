// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tile-allow-tf32 (Passes.td).
#include "IR/Tile/Tile.h"
#include "Tile/Passes.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace tw::tile {
#define GEN_PASS_DEF_ALLOWTF32
#include "Tile/Passes.h.inc"

namespace {

bool isF32(Value tile) { return cast<RankedTensorType>(tile.getType()).getElementType().isF32(); }

struct AllowTF32 : impl::AllowTF32Base<AllowTF32> {
  void runOnOperation() override {
    getOperation()->walk([](DotOp dot) {
      if (isF32(dot.getA()) && isF32(dot.getB()))
        dot.setTf32(true);
    });
  }
};

} // namespace
} // namespace tw::tile
