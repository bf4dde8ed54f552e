// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whole files as bytes, mapped for reading.
#pragma once
#include "Support/Diagnostic.h"
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace tw {

/// A regular file mapped read-only; pages are read when touched, so opening a huge file is cheap.
/// Movable; the bytes live as long as the object.
class MappedFile {
public:
  /// Errors (IO_1) name the path and the reason; folders, pipes and devices are refused.
  static Result<MappedFile> open(const std::string &path);

  MappedFile() = default;
  MappedFile(MappedFile &&other) noexcept { swap(other); }
  MappedFile &operator=(MappedFile &&other) noexcept { return swap(other), *this; }
  ~MappedFile();

  std::span<const std::byte> bytes() const { return {data, size}; }
  std::string_view text() const { return {reinterpret_cast<const char *>(data), size}; }
  const std::string &path() const { return name; }

private:
  void swap(MappedFile &other) noexcept;

  const std::byte *data = nullptr;
  size_t size = 0;
  std::string name;
};

inline std::span<const std::byte> asBytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

} // namespace tw
