// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Points, sizes and spaces as the text that a database keeps.
#pragma once
#include "Tune/Database.h"

namespace tw::tune {

/// "rows 5 5", least and most, one a line.
std::string sizesText(const std::map<std::string, std::pair<int64_t, int64_t>> &sizes);
/// "rows 1 2 3 4", a knob with its values, one a line.
std::string knobsText(const Space &space);
/// "rows * columns <= 32", one a line.
std::string constraintsText(const Space &space);

/// The inverses; nothing for a text that is none, as of a file that somebody has changed.
std::optional<std::map<std::string, std::pair<int64_t, int64_t>>>
parseSizes(const std::string &text);
std::optional<Space> parseSpace(const std::string &knobs, const std::string &constraints);

} // namespace tw::tune
