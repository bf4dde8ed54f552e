// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which instruction sets this machine has, by the names LLVM uses ("avx2", "avx512f", "amx-bf16").
#pragma once
#include "Support/Diagnostic.h"
#include <span>
#include <string>
#include <string_view>

namespace tw::rt {

/// Whether the CPU has the feature and the operating system lets it be used. False for names that
/// are unknown here.
bool hasCpuFeature(std::string_view name);

/// Checks that all features are there and asks the operating system for what must be asked for
/// (AMX tile registers). The error (RUNTIME_5) names all that are missing.
Status requireCpuFeatures(std::span<const std::string> names);

} // namespace tw::rt
