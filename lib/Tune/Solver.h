// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Z3 on configuration spaces, by their SMT-LIB text: which points are legal, all of them or some
// that differ as much as they can.
#pragma once
#include "Tune/Space.h"
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tw::tune {

class Solver {
public:
  explicit Solver(Space space);
  Solver(Solver &&) noexcept;
  ~Solver();

  struct Points {
    std::vector<Point> points;
    bool areAll = false; // there are no others
  };
  /// Legal points, `most` at most, in no particular order.
  Points enumerate(size_t most);

  /// As countLegalPoints, however many values have to be tried.
  static LegalCount count(const Space &space, size_t most);

  /// Legal points, `most` at most, each of which takes random values for knobs in random order as
  /// far as the constraints let it: drawn as by drawPoints as long as that finds new ones, and then
  /// solved for. The same for the same `seed`.
  std::vector<Point> sample(size_t most, uint64_t seed);

  /// What is wrong with `point`, in the words of the constraint: which value a knob cannot have, or
  /// which constraint does not hold; empty for a legal one. Another solver for the same question
  /// than Space::contains, which it must agree with.
  std::string whyIllegal(const Point &point);

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace tw::tune
