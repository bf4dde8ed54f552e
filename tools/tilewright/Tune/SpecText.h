// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a search has found, as a tuning spec (docs/tuning.md).
#pragma once
#include "Tuner.h"
#include <string>

namespace tw::cli {

/// A matcher for each kernel that got another configuration. It names no model: dtypes and sizes
/// for what a template computes, the operations, too, for other loops; and the dispatch where the
/// model has another kernel of which the same could be said.
std::string specText(const Tuner &tuner);

} // namespace tw::cli
