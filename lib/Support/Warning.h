// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a user should know though nothing has failed.
#pragma once
#include "Support/Diagnostic.h"

namespace tw {

/// As Diagnostic::render, but "warning[TW-CONFIG-0004]: message", and with its own help alone:
/// nothing needs to be done.
std::string renderWarning(const Diagnostic &warning);

} // namespace tw
