// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Links an object file to a shared library with lld, in this process.
#pragma once
#include "Support/Diagnostic.h"
#include <span>
#include <string>

namespace tw {

/// Writes to `output` the shared library of `object`, which exports only tilewright_program. What
/// it imports comes from libc and libm, needed only when used. Thread-safe; one link at a time.
Status linkLibrary(std::span<const char> object, const std::string &output);

} // namespace tw
