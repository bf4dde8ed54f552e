// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which measurements of a kernel are comparable.
#pragma once
#include "KernelSpaces.h"
#include "Support/Diagnostic.h"
#include "Tune/Database.h"
#include <set>
#include <string>

namespace tw::cli {

/// What a search has to know of the program that it begins with.
struct ProgramDescription {
  std::string target, compiler; // the latter tells one build of the compiler from another
  /// Kernels whose configurations the code has; others were fused into one of them.
  std::set<std::string> configured;
};

/// Errors: IO_1.
Result<ProgramDescription> describeProgram(const rt::Metadata &metadata);

/// What measurements in a database must have been made with to be worth something here; `machine`
/// as machineText has it.
tune::MeasuredKernel keyOf(const TunableKernel &kernel, const ProgramDescription &program,
                           const std::string &machine);
/// What a database keeps of it beside that.
tune::KernelDescription descriptionOf(const TunableKernel &kernel);

} // namespace tw::cli
