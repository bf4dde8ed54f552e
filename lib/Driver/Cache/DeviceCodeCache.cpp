// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Driver/Cache/DeviceCodeCache.h"
#include "IO/File.h"
#include <tuple>

namespace tw {

std::optional<std::string> DeviceCodeCache::find(std::span<const std::string> parts) {
  std::optional<std::string> path = cache.find(cacheKey(parts));
  if (!path)
    return std::nullopt;
  auto file = MappedFile::open(*path);
  return file ? std::optional(std::string(file->text())) : std::nullopt;
}

void DeviceCodeCache::keep(std::span<const std::string> parts, const std::string &code) {
  std::ignore = cache.keepText(cacheKey(parts), code); // a full disk is no reason to fail
}

} // namespace tw
