// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which symbols follow from sizes that are given, and how. Everything that binds sizes solves them
// in this order: kernels when they are traced, verified, interpreted and compiled, models when they
// are imported, and the runtime. docs/tile-programs.md, "Binding".
#pragma once
#include "Support/Size.h"
#include <span>

namespace tw {

/// A symbol that the equation `sizes[equation] = factor * symbol + offset` gives, in symbols that
/// were known before it.
struct SolvedSymbol {
  size_t equation;
  std::string symbol;
  Size factor, offset;
};

/// Solves equations that are linear in their only unknown symbol, the first such one each time,
/// until none is left. `known`: symbols with a value of their own; those that follow are added to
/// it. The values may still contradict: a factor is 0, a rest is no multiple of it, or an equation
/// that was not needed does not hold.
std::vector<SolvedSymbol> solveSymbols(std::span<const Size> sizes, std::set<std::string> &known);

} // namespace tw
