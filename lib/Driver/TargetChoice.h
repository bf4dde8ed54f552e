// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What --target= says: which target, and for which CPU.
#pragma once
#include "Support/Diagnostic.h"
#include <string>
#include <vector>

namespace tw {

struct TargetChoice {
  /// "cpu" or "reference".
  std::string target;
  /// LLVM's names of the features that code may use, and that a machine must have to run it.
  std::vector<std::string> features;
};

/// Reads "cpu", "cpu:host", "cpu:NAME" for a NAME of Target/CpuFeatures.h, or "reference". Errors:
/// DRIVER_2 with what there is.
Result<TargetChoice> chooseTarget(const std::string &text);

} // namespace tw
