// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
#include "Support/Diagnostic.h"
#include "Target/Target.h"
#include <optional>

namespace tw::target::nvidia {

/// Where NVIDIA's assembler is: TILEWRIGHT_PTXAS, or the first in PATH; nothing where there is
/// none, or TILEWRIGHT_PTXAS is empty. Looked for once.
const std::optional<std::string> &ptxasPath();

/// The cubin of PTX for an architecture; `entries` get what ptxas says of them: registers, static
/// shared memory, spills. Errors: SYSTEM_3 for temporary files, TARGET_3 with what ptxas says.
Result<std::string> assemble(llvm::StringRef ptx, llvm::StringRef architecture,
                             std::vector<DeviceCode::Entry> &entries);

} // namespace tw::target::nvidia
