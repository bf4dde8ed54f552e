// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
#include "Language/Trace.h"

namespace tw {

/// What the tile dialect says to a text: "" if it parses and verifies, and is printed as a text
/// that gives the same when it is read again; else what is wrong.
std::string parseErrors(const std::string &text);

/// The text of a traced kernel without locations, one operation a line and no indentation. A trace
/// that fails, or text that the dialect refuses, fails the test and gives the reason.
std::string traced(const std::function<void()> &kernel,
                   const std::vector<kernel::Binding> &bindings = {});

} // namespace tw
