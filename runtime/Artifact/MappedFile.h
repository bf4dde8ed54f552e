// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A file that is open for reading, and parts of it in memory.
#pragma once
#include "Support/Diagnostic.h"
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace tw::rt {

/// Bytes of a file, mapped read-only: they stay when the file is renamed or removed, but not when
/// it is written to or cut off in place.
class MappedFile {
public:
  MappedFile() = default;
  MappedFile(MappedFile &&other) noexcept : contents(std::exchange(other.contents, {})) {}
  MappedFile &operator=(MappedFile &&other) noexcept {
    std::swap(contents, other.contents);
    return *this;
  }
  ~MappedFile();

  /// `bytes` of the open file from its start. Empty, with errno, when it cannot be mapped.
  static std::optional<MappedFile> map(int fd, uint64_t bytes);

  std::span<const uint8_t> bytes() const { return contents; }

private:
  std::span<const uint8_t> contents;
};

/// A regular file.
class OpenFile {
public:
  /// An error carries `code` and names `what` it should be, e.g. "artifact".
  static Result<OpenFile> open(const std::string &path, Code code, const char *what);
  OpenFile(OpenFile &&other) noexcept
      : fd(std::exchange(other.fd, -1)), size(other.size), refusal(std::move(other.refusal)) {}
  ~OpenFile();

  uint64_t bytes() const { return size; }
  /// Reads all of `to` from position `at` on. The errors of open(), and that the file has become
  /// shorter.
  Status read(uint64_t at, std::span<uint8_t> to) const;
  Result<MappedFile> map() const;

private:
  OpenFile(int fd, uint64_t size, Diagnostic refusal)
      : fd(fd), size(size), refusal(std::move(refusal)) {}
  Diagnostic refuse(int error) const;

  int fd;
  uint64_t size;
  Diagnostic refusal; // without a reason
};

} // namespace tw::rt
