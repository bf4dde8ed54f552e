// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
#include <cstddef>

namespace tw {

/// The operations of a kernel, at most, that fusion makes: the time that LLVM takes for one grows
/// faster than its length.
constexpr size_t longestKernel = 300;

} // namespace tw
