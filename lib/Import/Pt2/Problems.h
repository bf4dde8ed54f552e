// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What an import cannot do, collected so that a user sees everything at once.
#pragma once
#include "Support/Diagnostic.h"
#include "llvm/Support/LogicalResult.h"

namespace tw::pt2 {

class Problems {
public:
  /// Records a problem; always returns failure.
  llvm::LogicalResult add(Diagnostic problem);
  bool none() const { return list.empty(); }
  /// The first problem; the others of its kind are listed in its notes.
  Diagnostic combined() const;

private:
  std::vector<Diagnostic> list;
};

} // namespace tw::pt2
