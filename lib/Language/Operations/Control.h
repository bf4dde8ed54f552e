// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops and branches in two halves, begin and end, for front ends whose bodies are no functions.
#ifndef TILEWRIGHT_LANGUAGE_CONTROL_H
#define TILEWRIGHT_LANGUAGE_CONTROL_H

#include "Language/Tracer.h"

namespace tw::kernel::detail {

/// A loop whose body is being traced.
class OpenLoop {
public:
  struct Range {
    Ref begin, end, step;
  };
  /// Begins the body. `splits`: finish() is given a way to merge parts.
  OpenLoop(Tracer &tracer, const Range &range, const Refs &inits, bool splits, Here here);
  /// The loop variable, then what is carried.
  const Refs &arguments() const { return given; }
  /// Ends the body, which leaves these values, and adds the loop. Its results.
  Refs finish(const Refs &yields, const Merge &merge);

private:
  Tracer &tracer;
  Here here;
  Values operands;
  std::vector<Type> carried;
  Refs given;
};

/// A branch of which one side is being traced.
class OpenBranch {
public:
  /// Begins the first side.
  OpenBranch(Tracer &tracer, const Ref &condition, Here here);
  /// Ends the first side, which gives these values, and begins the second.
  void otherwise(const Refs &yields);
  /// Ends the second side and adds the branch. Its results.
  Refs finish(const Refs &yields);

private:
  Tracer &tracer;
  Here here;
  ValuePtr test;
  std::vector<Region> regions;
};

} // namespace tw::kernel::detail

#endif // TILEWRIGHT_LANGUAGE_CONTROL_H
