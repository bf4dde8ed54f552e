// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
#include "Support/Diagnostic.h"
#include <string>
#include <utility>

namespace tw {

/// A new folder for temporary files, which goes with all that is in it when this does.
class ScratchFolder {
public:
  /// In $TMPDIR, or /tmp. Errors: IO_2.
  static Result<ScratchFolder> create();

  ScratchFolder(ScratchFolder &&other) noexcept : name(std::exchange(other.name, {})) {}
  ScratchFolder &operator=(ScratchFolder &&) = delete;
  ~ScratchFolder();

  const std::string &path() const { return name; }

private:
  explicit ScratchFolder(std::string name) : name(std::move(name)) {}
  std::string name; // empty: moved from
};

} // namespace tw
