// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiled kernels of earlier runs, in $XDG_CACHE_HOME/tilewright or ~/.cache/tilewright. An entry
// ends with the hash of its bytes: a damaged one is none. Those not used for longest go when there
// are more than 256 MiB.
#pragma once
#include "Support/Diagnostic.h"
#include <optional>
#include <string>

namespace tw {

class KernelCache {
public:
  /// Makes the folder where it is missing. Errors: IO_2.
  static Result<KernelCache> open();

  /// The path of the library kept under `key`, if it is there and whole.
  std::optional<std::string> find(const std::string &key) const;
  /// Keeps the library at `path` under `key`, and makes room for it; its path. Errors: IO_1, IO_2,
  /// SYSTEM_3.
  Result<std::string> keep(const std::string &key, const std::string &path) const;

private:
  explicit KernelCache(std::string folder) : folder(std::move(folder)) {}
  std::string pathOf(const std::string &key) const { return folder + "/" + key + ".so"; }
  void evict() const;

  std::string folder;
};

} // namespace tw
