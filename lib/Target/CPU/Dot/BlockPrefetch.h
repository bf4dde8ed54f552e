// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prefetches of what comes next of b (Plan/Prefetches.cpp), beside products: of the next block, to
// the second-level cache, while the result is in memory; of a stream, to the first level, while it
// is in registers.
#pragma once
#include "Target/CPU/Emission/Emitter.h"

namespace tw::target::cpu {

class BlockPrefetch {
public:
  /// Computes where the next block begins; `op` is the product that prefetches it.
  BlockPrefetch(Emitter &e, tile::DotOp op, const NextBlock &next);

  /// What is due while `rows` rows of the result, from `row` on, take steps [k, k + steps) along K.
  /// Requests come at an even rate over all rows: those that come in bursts wait for each other,
  /// and the loads of this product for them. Where that is less than a line, one is requested
  /// again.
  void request(const Ix &row, int64_t rows, const Ix &k, int64_t steps) const;

private:
  Ix distanceTo(const NextBlock &next, const Buffer &buffer) const;

  Emitter &e;
  tile::DotOp op;
  mlir::Value base;
  mlir::Type element;
  Ix row;                // distance of rows, in elements
  int64_t rowBytes;      // of one, in whole lines
  int64_t first, bytes;  // of this product's part
  int64_t height, depth; // rows of the result that share them, and steps along K
  bool streams;
};

} // namespace tw::target::cpu
