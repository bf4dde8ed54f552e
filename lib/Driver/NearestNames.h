// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a user who misspelt a name may have meant.
#pragma once
#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace tw {

/// "the nearest of 12 are: linear, linear_1, linear_2": those of `names`, of which there must be
/// some, that need the fewest edits to become `wanted`.
std::string nearestNames(llvm::StringRef wanted, std::vector<std::string> names);

} // namespace tw
