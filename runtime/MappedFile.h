// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A file mapped read-only into memory.
#pragma once
#include "Support/Diagnostic.h"
#include <cstdint>
#include <span>
#include <string>
#include <utility>

namespace tw::rt {

class MappedFile {
public:
  MappedFile() = default;
  MappedFile(MappedFile &&other) noexcept : contents(std::exchange(other.contents, {})) {}
  MappedFile &operator=(MappedFile &&other) noexcept {
    std::swap(contents, other.contents);
    return *this;
  }
  ~MappedFile();

  /// Maps the regular file at `path`. An error carries `code` and names `what` it should be, e.g.
  /// "artifact".
  static Result<MappedFile> open(const std::string &path, Code code, const char *what);

  std::span<const uint8_t> bytes() const { return contents; }

private:
  std::span<const uint8_t> contents;
};

} // namespace tw::rt
