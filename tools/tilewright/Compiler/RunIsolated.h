// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The compiler runs in a process of its own: LLVM's memory then never counts as the model's, and
// should the compiler die, the tool still ends with an error that says so.
#pragma once
#include "IO/TemporaryFolder.h"
#include "Support/ChildProcess.h"
#include "Support/Diagnostic.h"
#include <functional>
#include <string>

namespace tw::cli {

/// Runs `action` in a child process and returns what it returned, which is from 0 to 255. It may
/// print; it must not rely on threads. Temporary files of the child and of what it starts go to
/// `folder`, or to one that exists as long as this call, so that nothing of them stays however it
/// ends. Errors: SYSTEM_1 to SYSTEM_7 when the environment or `limits` end the child, CLI_8 when it
/// ends for another reason without returning; `doing` says what it did ("compiling m.pt2").
Result<int> runIsolated(const std::string &doing, const std::function<int()> &action,
                        const TemporaryFolder *folder = nullptr, const ChildLimits &limits = {});

} // namespace tw::cli
