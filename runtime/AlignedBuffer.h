// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory for tensors: aligned, growing, never throwing.
#pragma once
#include "runtime/ProgramABI.h"
#include <cstdint>
#include <cstdlib>
#include <utility>

namespace tw::rt {

class AlignedBuffer {
public:
  AlignedBuffer() = default;
  AlignedBuffer(AlignedBuffer &&other) noexcept
      : memory(std::exchange(other.memory, nullptr)), size(std::exchange(other.size, 0)) {}
  AlignedBuffer &operator=(AlignedBuffer &&other) noexcept {
    std::swap(memory, other.memory);
    std::swap(size, other.size);
    return *this;
  }
  ~AlignedBuffer() { std::free(memory); }

  /// Makes room for `bytes`; the contents are lost when it has to grow. False when there is not
  /// enough memory; the buffer is then as before. Never leaves data() null on success.
  bool reserve(int64_t bytes) {
    if (memory && bytes <= size)
      return true;
    int64_t rounded = (bytes + TW_ALIGNMENT) / TW_ALIGNMENT * TW_ALIGNMENT;
    void *fresh = std::aligned_alloc(TW_ALIGNMENT, rounded);
    if (!fresh)
      return false;
    std::free(memory);
    memory = static_cast<uint8_t *>(fresh);
    size = rounded;
    return true;
  }

  uint8_t *data() const { return memory; }
  int64_t capacity() const { return size; }

private:
  uint8_t *memory = nullptr;
  int64_t size = 0;
};

} // namespace tw::rt
