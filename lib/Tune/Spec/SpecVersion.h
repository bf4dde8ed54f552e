// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
#include <cstdint>

namespace tw::tune {

/// Of the names of knobs and whose they are, in `tuning.version`.
inline constexpr int64_t specVersion = 3;

} // namespace tw::tune
