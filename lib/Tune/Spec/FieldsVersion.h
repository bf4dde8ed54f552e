// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
#include <cstdint>

namespace tw::tune {

/// Of the names of a configuration's fields, and whose they are: `tuning.version` of a tuning spec,
/// "version" of a configuration file.
inline constexpr int64_t fieldsVersion = 4;

} // namespace tw::tune
