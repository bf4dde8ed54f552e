// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which neighbouring dimensions of a dispatch become one: those that stand beside each other in
// everything that is read or written, [1, 128, 768] elementwise being one row of 98304 elements.
#pragma once
#include "GraphToTile/Analysis/Loops/LoopNests.h"
#include "GraphToTile/Analysis/Subkernels/LoopProgram.h"
#include <map>

namespace tw::conversion {

class JoinedDims {
public:
  /// `keepsAxes`: the axes of results stay what they are.
  JoinedDims(LoopNests &nests, bool keepsAxes);

  /// In an order that suits the widest values: a dimension stands before those that are inside it.
  std::vector<Extent> dims;
  /// The dimensions of a sequence of atoms; each must be there with all of its atoms.
  std::vector<int> of(const std::vector<int> &atoms) const;
  /// The atoms of a dimension, outermost first.
  const std::vector<int> &atoms(int dim) const { return members[dim]; }

private:
  /// Atoms in the order in which something walks over them; -1 where it cannot be joined.
  using Sequence = std::vector<int>;
  void collect(LoopNests &nests, bool keepsAxes);
  void addMap(llvm::ArrayRef<AxisMap> axes);
  void join();
  void sort();

  std::vector<Sequence> sequences;
  std::vector<std::vector<int>> kinds; // sets of atoms that all have to do the same to be joined
  std::vector<std::vector<int>> members;
  std::map<int, int> dimOf; // atoms
  LoopNests &nests;
};

} // namespace tw::conversion
