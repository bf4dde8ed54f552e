// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
#include "Target/Target.h"

namespace tw::target {

/// Functions (func.func with `tw.kernel`) as plain loops: slow, on one thread, and what other
/// results are compared with.
std::unique_ptr<Target> createReferenceTarget();

} // namespace tw::target
