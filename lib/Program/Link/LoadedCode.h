// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Object files as code of this process.
#pragma once
#include "Program/ObjectCode/ObjectCode.h"
#include "Support/Diagnostic.h"
#include "Support/MemoryFile.h"
#include <string>
#include <vector>

namespace tw {

/// A shared library that is in memory alone. Movable; its functions live as long as it does.
class LoadedCode {
public:
  /// Links objects for this CPU and loads them; all of `functions` are there then. Errors: those of
  /// linkLibrary, PROGRAM_7, and SYSTEM_1 to SYSTEM_4 for a limit that was reached.
  static Result<LoadedCode> load(const std::vector<ObjectFile> &objects,
                                 const std::vector<std::string> &functions);
  LoadedCode() = default;
  LoadedCode(LoadedCode &&other) noexcept { *this = std::move(other); }
  LoadedCode &operator=(LoadedCode &&other) noexcept {
    std::swap(file, other.file);
    std::swap(library, other.library);
    return *this;
  }
  ~LoadedCode();

  /// One of the functions that were asked for; null for others.
  template <typename Function>
  Function *function(const std::string &name) const {
    return reinterpret_cast<Function *>(find(name));
  }

private:
  void *find(const std::string &name) const;

  MemoryFile file; // that the library is loaded from
  void *library = nullptr;
};

} // namespace tw
