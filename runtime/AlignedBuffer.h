// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory for tensors: aligned, growing, never throwing.
#pragma once
#include "runtime/ProgramABI.h"
#include <cstdint>
#include <cstdlib>
#include <sys/mman.h>
#include <utility>

namespace tw::rt {

/// What is allocated for `bytes`: never nothing.
inline int64_t allocatedBytes(int64_t bytes) {
  return (bytes + TW_ALIGNMENT) / TW_ALIGNMENT * TW_ALIGNMENT;
}

/// TW_ALIGNMENT-aligned memory of allocatedBytes(bytes), to be freed by std::free; null where there
/// is not enough. Large blocks are asked for in pages of 2 MiB, which Linux gives where
/// transparent_hugepage is "madvise" or "always": with pages of 4 KiB each row of an activation is
/// on a page of its own, and a core knows the addresses of some dozens.
inline void *allocateAligned(int64_t bytes) {
  constexpr int64_t hugePage = 2 << 20;
  int64_t rounded = allocatedBytes(bytes), huge = rounded / hugePage * hugePage;
  void *memory = nullptr;
  if (posix_memalign(&memory, size_t(huge > 0 ? hugePage : TW_ALIGNMENT), size_t(rounded)) != 0)
    return nullptr;
  if (huge > 0)
    (void)madvise(memory, size_t(huge), MADV_HUGEPAGE); // a wish: pages of 4 KiB are as right
  return memory;
}

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
    void *fresh = allocateAligned(bytes);
    if (!fresh)
      return false;
    std::free(memory);
    memory = static_cast<uint8_t *>(fresh);
    size = allocatedBytes(bytes);
    return true;
  }

  uint8_t *data() const { return memory; }
  int64_t capacity() const { return size; }

private:
  uint8_t *memory = nullptr;
  int64_t size = 0;
};

} // namespace tw::rt
