// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
#include <cstdint>

namespace tw::tune {

/// Of the names of knobs, in `tuning.version`.
inline constexpr int64_t specVersion = 2;

} // namespace tw::tune
