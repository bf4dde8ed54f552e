// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What programs are linked with: the C library and its functions on numbers.
#pragma once
#include "Program/ObjectCode/ObjectCode.h"
#include "Support/Diagnostic.h"
#include "Support/InstructionSet.h"
#include <string>
#include <vector>

namespace tw {

/// Of this machine: the paths of those that this process has loaded.
std::vector<std::string> loadedSystemLibraries();

/// A library of another architecture, of which a machine has no copy: an object file with nothing
/// but the functions that programs may import, empty, and the name that they then need it by.
struct SystemLibrary {
  std::string name; // "libm.so.6"
  ObjectFile functions;
};

/// Those of `architecture`. Errors: PROGRAM_7 when LLVM cannot make code for it.
Result<std::vector<SystemLibrary>> systemLibrariesOf(Architecture architecture);

} // namespace tw
