// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The CPUs that code of a test is compiled for and runs on.
#pragma once
#include "runtime/CpuFeatures.h"
#include <string>
#include <vector>

namespace tw::target {

/// This machine, and a lesser one where code for it goes other ways: small elements are not masked
/// by one instruction there.
inline std::vector<std::string> cpusFor(const std::string &dtype) {
  bool isSmall = dtype == "i8" || dtype == "i16" || dtype == "f16" || dtype == "bf16";
  if (isSmall && rt::hasCpuFeature("avx2"))
    return {"host", "x86-64-v3"};
  return {"host"};
}

} // namespace tw::target
