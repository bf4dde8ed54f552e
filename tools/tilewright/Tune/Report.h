// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a search came to, for people and as JSON.
#pragma once
#include "Tuner.h"
#include <string>

namespace tw::cli {

/// A table with the kernels that were searched, the longest first.
std::string reportText(const Tuner &tuner);
/// {"model", "start_us", "start_bytes", "ratio": {"median", "low", "high"}, "time_ratio"?: {...},
///  "ratio_of_compilers"?: {...}, "trials", "interrupted", "share_of_best"?: 0.97, "decisions":
///  {"tried", "refused", "kept": [{"decisions": [...], "ratio"}]}, "notes": [...], "kernels":
///  [{"kernel", "variant"?: {"at_most": 4}, "ops", "source", "start_us", "share", "measured",
///  "rejected",
///               "ratio"?: {...}, "exhaustive"?: {"legal", "within", "untried", "share_of_best"},
///               "search": [{"ratio", "point"}], "changes": {"rows": [8, 6]}}]}
std::string reportJson(const Tuner &tuner);
/// A page with the same and plots of the search, which needs nothing else.
std::string reportPage(const Tuner &tuner);

} // namespace tw::cli
