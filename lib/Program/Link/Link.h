// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Links object files to a shared library with lld, in this process.
#pragma once
#include "Program/ObjectCode/ObjectCode.h"
#include "Support/Diagnostic.h"
#include "runtime/ProgramABI.h"
#include <string>
#include <vector>

namespace tw {

/// The shared library of `objects`, which are for `architecture`, as bytes, which exports only the
/// given names. What it imports comes from libc and libm, needed only when used. Thread-safe; one
/// link at a time. Errors: PROGRAM_7, SYSTEM_1 to SYSTEM_4.
Result<ObjectFile> linkLibrary(const std::vector<ObjectFile> &objects,
                               const std::vector<std::string> &exports = {TW_PROGRAM_SYMBOL},
                               Architecture architecture = hostArchitecture);

} // namespace tw
