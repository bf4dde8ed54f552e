// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The elements of a tile of positions at constant coordinates, where they follow from these and
// from scalars that are known. They are what folding makes of the code that would be emitted.
#pragma once
#include "IR/Tile/Tile.h"
#include "Target/CPU/CpuFeatures.h"
#include "Target/CPU/Plan/Analysis/KnownScalars.h"
#include "mlir/IR/Builders.h"

namespace tw::target::cpu {

class ConstantElements {
public:
  ConstantElements(mlir::Location loc, const KnownScalars &scalars, const CpuFeatures &cpu)
      : loc(loc), scalars(scalars), cpu(cpu) {}

  /// `lanes` of them from `at` on along `lane`; nothing where they are not known.
  std::optional<llvm::SmallVector<int64_t>> numbers(mlir::Value tile, llvm::ArrayRef<int64_t> at,
                                                    int lane, unsigned lanes) const;

  /// The one whose coordinates are 0.
  std::optional<int64_t> first(mlir::Value tile) const;

private:
  mlir::Location loc;
  const KnownScalars &scalars;
  const CpuFeatures &cpu;
};

} // namespace tw::target::cpu
