// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The model with other configurations, compiled.
#pragma once
#include "IO/TemporaryFolder.h"
#include "KernelSpaces.h"
#include "Support/Diagnostic.h"
#include "tools/tilewright/Compiler/ModelOptions.h"

namespace tw::cli {

/// A program with candidates for some kernels.
struct CandidateProgram {
  Choice choice;
  std::string artifact;
  std::string refusal; // why there is none: what the compiler said, or how it ended
};

/// Compiles the model with `configuration`, the text of a configuration file; `name` is for files
/// in `folder`. Nothing is printed. Errors: files that cannot be written.
Result<CandidateProgram> compileCandidate(ModelOptions model, const std::string &configuration,
                                          const TemporaryFolder &folder, const std::string &name);

} // namespace tw::cli
