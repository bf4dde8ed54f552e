// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A dense tensor in host memory, as files are read into it and results are compared in it.
#pragma once
#include "Support/DType.h"
#include "Support/Diagnostic.h"
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tw {

/// Contiguous row-major elements, 64-byte aligned. A scalar has no sizes and one element.
class HostTensor {
public:
  /// Zero-filled. Errors (IO_3): a negative size, more bytes than 63 bits count, not enough memory.
  /// Callers that read a file must check its size against `byteCount` first.
  static Result<HostTensor> create(DType dtype, std::vector<int64_t> sizes);

  HostTensor() = default;

  DType dtype() const { return type; }
  const std::vector<int64_t> &sizes() const { return shape; }
  int64_t count() const { return elements; }
  std::span<std::byte> bytes() { return {data.get(), byteSize()}; }
  std::span<const std::byte> bytes() const { return {data.get(), byteSize()}; }
  size_t byteSize() const { return static_cast<size_t>(elements) * info(type).bytes; }

  /// "2x3xf32"; a scalar is "f32".
  std::string typeText() const;

private:
  struct Free {
    void operator()(std::byte *p) const { std::free(p); }
  };
  DType type = DType::F32;
  std::vector<int64_t> shape = {0};
  int64_t elements = 0;
  std::unique_ptr<std::byte[], Free> data;
};

/// Bytes of a contiguous tensor; empty when a size is negative or the product overflows.
std::optional<int64_t> byteCount(DType dtype, std::span<const int64_t> sizes);
/// "2x3xf32"; "f32" for a scalar.
std::string typeText(DType dtype, std::span<const int64_t> sizes);

} // namespace tw
