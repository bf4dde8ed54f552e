// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs of others that are started, and where they are. `doctor` says of them what the compiler
// does, for both ask here.
#pragma once
#include <string>

namespace tw {

/// Whether it is a file, no folder, that this process may execute.
bool canBeRun(const std::string &path);

/// The first program of that name that can be run in a folder of PATH; empty: there is none.
std::string findInPath(const std::string &name);

/// NVIDIA's assembler.
struct PtxasChoice {
  std::string path;     // empty: there is none
  bool isGiven = false; // by TILEWRIGHT_PTXAS, which may be empty: none is wanted
};

/// What TILEWRIGHT_PTXAS names, whether or not that can be run, or else the first in PATH.
PtxasChoice choosePtxas();

} // namespace tw
