// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The calls that every candidate's results are compared on: what the user gave, and inputs at the
// edges of what its type holds.
#pragma once
#include "tilewright/tilewright.h"
#include "tools/tilewright/Tune/Trial.h"
#include <span>
#include <string>
#include <vector>

namespace tw::cli {

/// `inputs` as given, drawn anew, all zeros, and large; integers and bools stay as given, for they
/// may be indices. Expected is what the artifact `reference`, for a CPU, makes of them. Calls for
/// which the results of the artifact `start` differ from that are left out, and `notes` says so:
/// nothing can be compared there. Errors: TUNE_3 where that is so of the inputs as given; those of
/// loading and running either, and TUNE_3 where `start` ends its process.
Result<std::vector<KnownCall>> knownCalls(const std::string &reference, const std::string &start,
                                          std::span<const HostTensor> inputs,
                                          const TrialOptions &options,
                                          std::vector<std::string> &notes);

} // namespace tw::cli
