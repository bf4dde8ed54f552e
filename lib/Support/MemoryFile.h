// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <utility>

namespace tw {

/// A file in memory alone, for what wants a path: a linker, dlopen. Movable.
///
/// dlopen takes two libraries of one path for the same: keep the file as long as the library.
class MemoryFile {
public:
  /// With no bytes; `name` is what debuggers show. When it fails, ok() is false and errno says why.
  explicit MemoryFile(const char *name);
  MemoryFile() = default;
  MemoryFile(MemoryFile &&other) noexcept : fd(std::exchange(other.fd, -1)) {}
  MemoryFile &operator=(MemoryFile &&other) noexcept { return std::swap(fd, other.fd), *this; }
  ~MemoryFile();

  /// Appends all of it; false with errno.
  bool append(std::span<const std::byte> bytes);
  /// From now on nobody can change it; false with errno.
  bool seal();

  bool ok() const { return fd >= 0; }
  int descriptor() const { return fd; }
  /// Leads to it as long as this exists, in this process.
  std::string path() const { return "/proc/self/fd/" + std::to_string(fd); }

private:
  int fd = -1;
};

} // namespace tw
