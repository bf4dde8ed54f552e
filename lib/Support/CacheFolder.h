// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The folder in which what was compiled is kept: $TILEWRIGHT_CACHE, or "tilewright" in
// $XDG_CACHE_HOME or ~/.cache. It holds code that is run, so nobody else may write to it, nor put
// another folder in its place.
#pragma once
#include "Support/Diagnostic.h"
#include <string>

namespace tw {

/// Its path as it is named; it may be missing. Errors: IO_2 where there is no place for one.
Result<std::string> cachePath();

/// Its path without symbolic links; makes it where it is missing. Errors: IO_2 where it cannot be
/// made, or others may write to it or to a folder above it.
Result<std::string> cacheFolder();

} // namespace tw
