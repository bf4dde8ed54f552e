// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The values of a configuration's fields, and what each of them is called in constraints.
#pragma once
#include "Kernels/Constraint.h"
#include <utility>

namespace tw::kernels {

/// An element of a list.
struct ListElement {
  std::string list;
  size_t index = 0;

  /// The symbol that constraints, knobs and solvers have for it, "block_1". Nobody takes one apart.
  std::string symbol() const { return list + "_" + std::to_string(index); }
  /// For people: "block[1]".
  std::string text() const { return list + "[" + std::to_string(index) + "]"; }
};

/// Values by the names of fields.
struct Fields {
  Fields(Numbers numbers = {}) : numbers(std::move(numbers)) {}
  bool operator==(const Fields &) const = default;

  /// All values by their symbols.
  Numbers symbols() const;
  /// What symbols are called for people that are not called by their names.
  SymbolTexts texts() const;
  /// Takes the values of those symbols that are of its own.
  void update(const Numbers &symbols);

  Numbers numbers; // and flags, as 0 or 1
  std::map<std::string, std::vector<int64_t>, std::less<>> lists;
};

} // namespace tw::kernels
