// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The model with other configurations, compiled.
#pragma once
#include "IO/TemporaryFolder.h"
#include "KernelSpaces.h"
#include "Support/Diagnostic.h"
#include "tools/tilewright/Compiler/ModelOptions.h"
#include <optional>

namespace tw::cli {

/// A program with candidates for some kernels.
struct CandidateProgram {
  Choice choice;
  std::string artifact;
  std::string refusal; // why there is none: what the compiler said, or how it ended
};

/// Compiles the model with `configuration`, the text of a configuration file; `name` is for files
/// in `folder`. Nothing is printed. What it takes beyond `seconds`, or beyond the memory that is
/// free, is the candidate's refusal, and so is whatever the compiler says. Errors: what says
/// nothing of the candidate, such as a full disk (IO_2, SYSTEM_3 to SYSTEM_5). A signal to this
/// process is none: ask for it, for then the refusal is none either.
Result<CandidateProgram> compileCandidate(ModelOptions model, const std::string &configuration,
                                          const TemporaryFolder &folder, const std::string &name,
                                          std::optional<int> seconds);

} // namespace tw::cli
