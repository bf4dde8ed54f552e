// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
#include "Support/Diagnostic.h"
#include <string>
#include <utility>

namespace tw {

/// A new folder for temporary files, which goes with all that is in it when this does. As long as
/// its process lives it is locked; the first folder that a process makes removes those of processes
/// that were killed.
class TemporaryFolder {
public:
  /// In $TMPDIR, or /tmp. Errors: IO_2, SYSTEM_3, SYSTEM_4.
  static Result<TemporaryFolder> create();

  TemporaryFolder(TemporaryFolder &&other) noexcept
      : name(std::exchange(other.name, {})), lock(std::exchange(other.lock, -1)) {}
  TemporaryFolder &operator=(TemporaryFolder &&) = delete;
  ~TemporaryFolder();

  const std::string &path() const { return name; }

private:
  TemporaryFolder(std::string name, int lock) : name(std::move(name)), lock(lock) {}
  std::string name; // empty: moved from
  int lock = -1;    // descriptor of the folder
};

} // namespace tw
