// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Profiles as tables, as JSON and as files for viewers.
#pragma once
#include "Profile.h"
#include <string>
#include <string_view>

namespace tw::cli {

/// Text of files as a terminal can show it: control characters as "\\x1b".
std::string printable(std::string_view text);

/// A table for terminals.
std::string profileText(const Profile &profile, Grouping grouping);

/// One JSON object, which readProfileTimes reads (docs/profile.md).
std::string profileJson(const Profile &profile);

/// What is compared of a profile that was kept as JSON.
struct ProfileTimes {
  std::string path;
  std::map<std::string, std::string> of; // "model", "threads", ...: what the file says of them
  // Medians over calls:
  double callUs = 0;
  std::map<std::string, double> dispatchUs; // of what each dispatch took in a call, by name
};
/// Errors: IO_1, IO_16 and IO_17.
Result<ProfileTimes> readProfileTimes(const std::string &path);
/// What became faster or slower since, the largest difference first; before it, what else differs.
std::string comparisonText(const Profile &profile, const ProfileTimes &before);

/// The latest calls in the Trace Event Format, which https://ui.perfetto.dev and chrome://tracing
/// read: dispatches, what each thread does in them, and memory of temporaries.
std::string traceText(const Profile &profile, const Recording &recording);

/// A page that needs nothing else: table, timeline, roofline and memory.
std::string pageText(const Profile &profile, const Recording &recording);

} // namespace tw::cli
