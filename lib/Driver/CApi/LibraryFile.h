// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
#include <string>

namespace tw {

/// The path of the file that this library was loaded from; "" where that is not known.
std::string libraryFile();

/// Its size and time as text: a new build of the compiler is another one.
std::string libraryBuild();

} // namespace tw
