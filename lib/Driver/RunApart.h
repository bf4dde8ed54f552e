// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
#include "Support/Diagnostic.h"
#include <functional>
#include <string>
#include <vector>

namespace tw {

using Fields = std::vector<std::string>;

/// Runs code that is not ours in a process of its own and returns what it returns (no text may have
/// a zero in it); it may write to the standard streams. KERNEL_8 when that process crashes or
/// exits, which it may for want of memory (it has 4 GiB), or takes longer than `seconds`: `what`
/// says what it was doing ("tracing k.cpp"). IO_3 when there is no such process to be had.
Result<Fields> runApart(const std::string &what, int seconds,
                        const std::function<Fields()> &action);

} // namespace tw
