// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kinds of reductions that steps have, and what a loop over parts of rows carries of them.
#pragma once
#include "Kernels/Steps.h"
#include <functional>

namespace tw::kernels {

/// What to do for a reduction's name.
struct Reduction {
  const char *name;
  kernel::Tile (*reduce)(const kernel::Tile &, kernel::Axis, kernel::KeepDim, kernel::Here);
  double neutral; // what the result of no elements is
  kernel::Tile (*combine)(const kernel::Tile &, const kernel::Tile &);
  // Of two extremes, whether the second is taken: it is farther, or the first NaN.
  kernel::Tile (*isFarther)(const kernel::Tile &, const kernel::Tile &) = nullptr;
};

/// The one that a step of kind Reduce names.
const Reduction &reductionOf(const Step &step);

/// The tiles that a loop over parts of rows carries of some reductions: of an extreme's place the
/// extreme too, of a sum of floats what rounding lost, so that it is as exact as the sums of parts
/// (Knuth, TAOCP 2, 4.2.2). To be used while a kernel is traced.
class CarriedReductions {
public:
  using States = std::vector<kernel::Tile>;

  /// `steps` are numbers of reductions in `program`.
  CarriedReductions(const LoopProgram &program, std::vector<size_t> steps)
      : program(program), steps(std::move(steps)) {}

  /// Of no elements. `extent` says how many elements of a dimension tiles have.
  States neutral(const std::function<kernel::Size(int)> &extent) const;

  /// Of a part of the rows, which begins at place `first`; `reduce` is what a step gives for it.
  States ofPart(const std::function<kernel::Tile(const Step &)> &reduce,
                const kernel::Index &first) const;

  /// Of two parts, one behind the other.
  States combined(const States &first, const States &second) const;

  /// The result of each step.
  std::vector<kernel::Tile> results(const States &all) const;

private:
  enum class Carried { Value, ValueAndPlace, ValueAndError };
  Carried carriedOf(const Step &step) const;
  const Step &step(size_t number) const { return program.steps[number]; }

  const LoopProgram &program;
  std::vector<size_t> steps;
};

} // namespace tw::kernels
