// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What was compiled earlier: libraries of kernels, artifacts of models and code of kernels for
// devices, by the hash of all that they are made of (docs/cache.md). Those not used for longest go
// when all take more than 4 GiB.
#pragma once
#include "Support/Diagnostic.h"
#include <optional>
#include <span>
#include <string>

namespace tw {

class CompileCache {
public:
  /// In cacheFolder(), with its errors.
  static Result<CompileCache> open();

  /// The path of what is kept under `key`, if it is there as it was kept.
  std::optional<std::string> find(const std::string &key) const;

  /// Keeps the file at `path` under `key`, and makes room for it; its path there. It becomes
  /// another name of the same file where it can, so that it takes no room and no time; a file that
  /// is changed later is no longer what was kept. Errors: IO_1, IO_2, SYSTEM_3, also for what takes
  /// more than a quarter of the cache.
  Result<std::string> keep(const std::string &key, const std::string &path) const;

  /// Keeps a file with this text likewise.
  Result<std::string> keepText(const std::string &key, std::string_view text) const;

  /// Writes a copy of what was found to `path`. Errors: IO_1, and those of OutputFile.
  static Status copy(const std::string &found, const std::string &path);

private:
  explicit CompileCache(std::string folder) : folder(std::move(folder)) {}
  std::string pathOf(const std::string &key) const { return folder + "/" + key + ".so"; }
  std::string factsOf(const std::string &key) const { return folder + "/" + key + ".json"; }
  Result<std::string> noteFacts(const std::string &key) const;
  void evict() const;

  std::string folder;
};

/// The key of what is made of `parts`, in this order.
std::string cacheKey(std::span<const std::string> parts);

} // namespace tw
