// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A folder for the artifact that `run MODEL` compiles, gone when the tool ends, however it ends.
#pragma once
#include "Support/Diagnostic.h"
#include <string>

namespace tw::cli {

/// Removes itself with its plain files when destroyed or when the user interrupts the tool.
class TemporaryFolder {
public:
  /// In $TMPDIR or /tmp. Errors: CLI_2. At most one exists at a time.
  static Result<TemporaryFolder> create();

  TemporaryFolder(TemporaryFolder &&other) noexcept : name(std::exchange(other.name, {})) {}
  TemporaryFolder &operator=(TemporaryFolder &&) = delete;
  ~TemporaryFolder();

  const std::string &path() const { return name; }

private:
  explicit TemporaryFolder(std::string name) : name(std::move(name)) {}
  std::string name; // empty: moved from
};

} // namespace tw::cli
