// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is stored of a block of sums once it is complete, beside the products of the next block
// (Plan/Epilogues.h): vector instructions run while the tile multiplier works, and the sums are
// still in the first-level cache.
#pragma once
#include "Target/CPU/Emission/Emitter.h"

namespace tw::target::cpu {

class BlockEpilogue {
public:
  /// `op` has an epilogue in its plan; `sums`: where its result lies.
  BlockEpilogue(Emitter &e, tile::DotOp op, const DotStep &plan, const Memory &sums);

  /// A part of the result.
  struct Part {
    Ix row, column;
    int64_t rows, columns;
  };

  /// Stores a part, if this is the last trip of the loops around and `condition` (null: true)
  /// holds.
  mlir::LogicalResult store(const Part &part, mlir::Value condition = {});

private:
  mlir::LogicalResult storeRow(const Ix &row, const Ix &column, int64_t columns);

  Emitter &e;
  const DotStep &plan;
  const Step &step; // of the store
  Memory sums;
  mlir::Value isLastTrip; // null: it is
};

} // namespace tw::target::cpu
