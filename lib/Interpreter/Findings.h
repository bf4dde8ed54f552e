// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Findings as they come up: the first few of a kind in full, the rest counted.
#pragma once
#include "Interpreter/Interpreter.h"
#include "mlir/IR/Location.h"
#include <map>

namespace tw::interpreter {

/// "[3, 0]".
std::string coordinatesText(llvm::ArrayRef<int64_t> coordinates);

class Findings {
public:
  explicit Findings(int mostOfAKind) : mostOfAKind(mostOfAKind) {}

  /// Whether one of this kind is still to be described; if not, it has been counted.
  bool wants(Code code, mlir::Location place, llvm::StringRef buffer);
  /// Describes the one that was asked for last.
  void add(Finding finding);
  /// Counts more of the last one's kind.
  void count(int64_t others) { last->second.others += others; }

  bool empty() const { return list.empty(); }
  /// The findings, each kind's rest noted at its last one.
  std::vector<Finding> take();

private:
  struct Kind {
    int listed = 0;
    size_t lastIndex = 0;
    int64_t others = 0;
  };
  using Key = std::tuple<Code, const void *, std::string>;
  static constexpr size_t mostAtAll = 100;

  int mostOfAKind;
  std::vector<Finding> list;
  std::map<Key, Kind> kinds;
  std::map<Key, Kind>::iterator last;
};

} // namespace tw::interpreter
