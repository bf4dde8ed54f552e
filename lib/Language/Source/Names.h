// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names of variables in printed kernels: legal in C++, telling, and none twice where it is seen.
#pragma once
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/StringSet.h"
#include <string>
#include <vector>

namespace tw::source {

/// `name` as an identifier of C++ and of the kernel language: "encoder.0.weight" is
/// encoder_0_weight. Empty if it has no letter or digit.
std::string identifier(llvm::StringRef name);

/// The names that are taken, by scope: what a lambda declares is free again behind it.
class Names {
public:
  Names() : scopes(1) {}
  /// `wanted` made an identifier, or with _2, _3, ... behind it: no word of C++ or of the kernel
  /// language, and of no variable that is seen here. It is taken from then on.
  std::string take(llvm::StringRef wanted);
  void enter() { scopes.emplace_back(); }
  void leave() { scopes.pop_back(); }

private:
  bool isTaken(llvm::StringRef name) const;
  std::vector<llvm::StringSet<>> scopes;
  llvm::StringMap<int> numbers; // the last one behind a name
};

} // namespace tw::source
