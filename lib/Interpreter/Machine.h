// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What runs: steps, one for each operation, over the values of a program and the buffers of the
// call. A step works on whole tiles, so its cost as such does not matter.
#pragma once
#include "Interpreter/Buffer.h"
#include <functional>
#include <memory>

namespace tw::interpreter {

/// A scalar, or the elements of a tile in row-major order (its shape is known to the steps). Never
/// changed once made, so copies share.
struct Datum {
  std::shared_ptr<Cell[]> tile;
  Cell scalar = {};

  const Cell *cells() const { return tile ? tile.get() : &scalar; }
};

class Machine;
/// Runs one operation; false when the machine has failed.
using Step = std::function<bool(Machine &)>;
using Steps = std::vector<Step>;

class Machine {
  int64_t freeElements, freeOperations; // before the values, whose end gives elements back

public:
  explicit Machine(const Options &options)
      : freeElements(options.mostElements), freeOperations(options.mostOperations),
        options(options), exact(options.f64), findings(options.mostOfAKind) {}

  const Options &options;
  bool exact;           // nothing is rounded
  bool isTrial = false; // what runs is tried out: nothing is found in it
  std::vector<Buffer> buffers;
  std::vector<Datum> slots;
  std::vector<int64_t> grid, program;
  uint32_t programNumber = 0;
  Findings findings;
  std::optional<Diagnostic> failure;

  /// Whether findings are looked for now.
  bool isChecking() const { return options.check && !isTrial; }
  Actor actor(mlir::Location place) { return {programNumber, grid, place, findings}; }
  /// The dtype to round results of `dtype` to.
  DType precision(DType dtype) const { return exact ? DType::F64 : dtype; }

  bool run(const Steps &steps);
  bool fail(Diagnostic problem);
  /// Counts `operations`; fails when there are too many, or the call is cancelled.
  bool spend(int64_t operations);
  /// Memory for a tile of `count` elements as the value of `slot`; null after failing.
  Cell *allocate(int slot, int64_t count);
  /// Takes elements from what there is; fails when there are too few.
  bool reserve(int64_t count);
};

} // namespace tw::interpreter
