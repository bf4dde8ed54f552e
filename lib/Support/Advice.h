// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What to do about errors: the table Advice.def.
#pragma once
#include "Support/Diagnostic.h"
#include <string_view>

namespace tw {

/// What to do about every error of the code that says nothing better itself. Never empty.
std::string_view adviceFor(Code code);

/// What to do about an error: its help, or what its code's row says.
std::string_view adviceOf(const Diagnostic &error);

/// As Diagnostic::render, but behind other errors of the code, one of which has had the row's
/// advice: with its own help alone.
std::string renderRepeated(const Diagnostic &error);

} // namespace tw
