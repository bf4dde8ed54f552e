// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The compiler's time report (Compiler.h) as a table.
#pragma once
#include <string>

namespace tw::cli {

/// One line per stage, nested ones indented: milliseconds and share of the total. Text that is not
/// such a report comes back as it is.
std::string timeReportText(const std::string &json);

} // namespace tw::cli
