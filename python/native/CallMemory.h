// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
#include <cstddef>
#include <memory_resource>

namespace tw::python {

/// Memory for the lists of one call, which is on the stack as long as they are short. From the heap
/// a list of one pointer takes up to 0.2 us between the interpreter's and torch's allocations, in
/// calls that take 2 in all.
class CallMemory : public std::pmr::monotonic_buffer_resource {
public:
  CallMemory() : monotonic_buffer_resource(bytes, sizeof bytes) {}

private:
  alignas(std::max_align_t) std::byte bytes[2048];
};

/// What lists are from that outlive a call, or are not many.
inline std::pmr::memory_resource *heap() { return std::pmr::get_default_resource(); }

} // namespace tw::python
