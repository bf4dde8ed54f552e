// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Code of single kernels for devices in the cache on disk (docs/cache.md).
#pragma once
#include "Driver/Cache/CompileCache.h"
#include "Target/CodeCache.h"

namespace tw {

class DeviceCodeCache : public target::CodeCache {
public:
  explicit DeviceCodeCache(CompileCache cache) : cache(std::move(cache)) {}
  std::optional<std::string> find(std::span<const std::string> parts) override;
  void keep(std::span<const std::string> parts, const std::string &code) override;

private:
  CompileCache cache;
};

} // namespace tw
