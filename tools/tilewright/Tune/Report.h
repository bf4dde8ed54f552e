// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a search came to, for people and as JSON.
#pragma once
#include "Tuner.h"
#include <string>

namespace tw::cli {

/// A table with the kernels that were searched, the longest first.
std::string reportText(const Tuner &tuner);
/// {"start_us", "ratio": {"median", "low", "high"}, "trials", "interrupted", "notes": [...],
///  "kernels": [{"kernel", "ops", "source", "start_us", "share", "measured", "rejected",
///               "ratio"?: {...}, "changes": {"rows": [8, 6]}}]}
std::string reportJson(const Tuner &tuner);

} // namespace tw::cli
