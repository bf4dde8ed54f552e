// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Code that other programs, such as ptxas, have made of the same before. Targets ask for it; who
// compiles says where it is kept, and whether at all.
#pragma once
#include <optional>
#include <span>
#include <string>

namespace tw::target {

class CodeCache {
public:
  virtual ~CodeCache() = default;
  /// What was kept under these parts, in this order: all that decides what the code is. On any
  /// thread, as `keep`.
  virtual std::optional<std::string> find(std::span<const std::string> parts) = 0;
  /// Keeps it if that is possible.
  virtual void keep(std::span<const std::string> parts, const std::string &code) = 0;
};

} // namespace tw::target
