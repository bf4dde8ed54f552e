// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the machine and the limits of a process (ulimit) do not give, as errors of the environment:
// what ran out, how much there may be, and what to change.
#pragma once
#include "Support/ChildProcess.h"
#include "Support/Diagnostic.h"
#include <cstdint>
#include <functional>
#include <optional>

namespace tw {

/// SYSTEM_1 to SYSTEM_5 for an errno that means a limit; empty for any other. `doing`: "compiling
/// model.pt2".
std::optional<Diagnostic> limitReached(int error, const std::string &doing);

/// Why a child of guardChild ended without an answer, as far as that is the environment's doing:
/// memory, stack, files, time, a signal from outside. Empty: the child's own mistake.
std::optional<Diagnostic> environmentsFault(const ChildEnd &end, const std::string &doing);

/// In a child process, before its work: memory that runs out, in whatever thread, and a stack that
/// overflows end it in a way that environmentsFault knows; a file that becomes too large is an
/// error of its write. Threads get a stack of 8 MiB even where `ulimit -s` says less.
void guardChild();

/// Runs `action` on a thread with a stack for deeply nested programs: 1 GiB, or what there may be.
/// Exceptions are passed on. std::system_error when there is no such thread. `meanwhile`, which may
/// throw nothing, is called about every 50 ms on the caller's thread.
void runOnLargeStack(const std::function<void()> &action,
                     const std::function<void()> &meanwhile = nullptr);

} // namespace tw
