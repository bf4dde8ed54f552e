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

  /// Of the result: `rows` x `columns` from (row, column) on. All rows pass by as many columns
  /// before they pass by others.
  struct Part {
    Ix row, column;
    int64_t rows, columns;
  };

  /// What is due while a part takes steps [k, k + steps) along K. Requests come at an even rate
  /// over all parts: those that come in bursts wait for each other, and the loads of this product
  /// for them. Where that is less than a line, one is requested again.
  void request(const Part &part, const Ix &k, int64_t steps) const;

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
  int64_t width = 1;     // its columns
  bool streams;
};

} // namespace tw::target::cpu
