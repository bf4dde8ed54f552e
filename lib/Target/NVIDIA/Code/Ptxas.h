// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
#include "Support/Diagnostic.h"
#include "Target/NVIDIA/Architecture.h"
#include "Target/Target.h"
#include <optional>

namespace tw::target::nvidia {

/// Where NVIDIA's assembler is: TILEWRIGHT_PTXAS, or the first in PATH; nothing where there is
/// none, or TILEWRIGHT_PTXAS is empty. Looked for once.
const std::optional<std::string> &ptxasPath();

/// Text that differs where ptxas does: its path, size and time. Empty where there is none.
std::string ptxasFacts();

/// The cubin of PTX for an architecture; `entries` get what ptxas says of them: registers, static
/// shared memory, spills. Where it spills registers only to fit more blocks of threads on a
/// multiprocessor, fewer are asked for, as long as enough are left. The same ptxas runs once for
/// the same PTX if there is a `cache`. Errors: SYSTEM_3 for temporary files, PROGRAM_9 where it is
/// no ptxas, TARGET_3 with what ptxas says, SYSTEM_7 where it is cancelled, which ends ptxas.
Result<std::string> assemble(llvm::StringRef ptx, const GpuArchitecture &architecture,
                             std::vector<DeviceCode::Entry> &entries, CodeCache *cache = nullptr,
                             const Cancellation *cancellation = nullptr);

} // namespace tw::target::nvidia
