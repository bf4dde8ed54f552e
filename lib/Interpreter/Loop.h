// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A tile.for that runs: whole, and in pieces to try its combine.
#pragma once
#include "Interpreter/Compiler.h"

namespace tw::interpreter {

/// The values that a loop carries.
using State = std::vector<Datum>;

struct Loop {
  int begin, end, step;                                    // slots
  int index;                                               // slot of the induction variable
  llvm::SmallVector<int> inits, carried, yielded, results; // slots
  llvm::SmallVector<DType> rounded; // to round sums to at the end; f64: nothing
  llvm::SmallVector<DType> dtypes;  // of what is carried
  llvm::SmallVector<Shape> shapes;
  Steps body;
  mlir::Location place;

  /// Of a loop that can be split.
  Steps combine;
  llvm::SmallVector<int> left, right, combined; // slots
  bool isCommutative = false;

  /// max(0, ceildiv(end - begin, step)); none when the step is 0.
  uint64_t trips(const Machine &m) const;
  /// Runs the trips [from, to) beginning with `state`.
  bool run(Machine &m, uint64_t from, uint64_t to, State &state) const;
  bool runCombine(Machine &m, const State &a, const State &b, State &result) const;
  State initial(const Machine &m) const;
};

/// What trying the combine of one loop has come to.
struct CombineTrial {
  uint64_t mostTrips = 0;
  int shortLoops = 0, longLoops = 0; // tried
};

/// Cuts the loop's range in three everywhere (a long one at a few places), combines the pieces both
/// ways, in another order, too, where it is commutative, and reports states that differ from the
/// loop's. In f64. False when the machine has failed.
bool tryCombine(Machine &m, const Loop &loop, CombineTrial &trial);

} // namespace tw::interpreter
