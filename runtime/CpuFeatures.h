// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which instruction sets this machine has, by the names LLVM uses ("avx2", "amx-bf16", "sve").
#pragma once
#include "Support/Diagnostic.h"
#include "Support/InstructionSet.h"
#include <string_view>

namespace tw::rt {

/// Whether the CPU has the feature and the operating system lets it be used. False for names that
/// are unknown here.
bool hasCpuFeature(std::string_view name);

/// Checks that this machine runs code for `set`, and asks the operating system for what must be
/// asked for (AMX tile registers). The error (RUNTIME_5) names both architectures, or all features
/// that are missing.
Status requireInstructionSet(const InstructionSet &set);

} // namespace tw::rt
