// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tilewright tune --replay=DATABASE.
#pragma once
#include <cstdint>
#include <string>

namespace tw::cli {

/// Searches the spaces that a database has as a whole, by what it says of their times: a table of
/// how many candidates are taken, in which order, until one reaches 98 % of the best; with `json`
/// as
/// {"spaces": [{"signature", "number", "target", "machine", "dtypes", "sizes", "points",
/// "share_of_best", "candidates": {"random": 40, ...}, "within": {"random": 0.1, ...}}]}, where
/// "within" is the share of searches that got there with 5 % of the points. Returns an exit status;
/// errors have been printed: TUNE_1; CLI_1 for a database that has no space as a whole.
int replayDatabase(const std::string &path, uint64_t seed, bool json);

} // namespace tw::cli
