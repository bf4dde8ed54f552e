// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decisions about operators in bundles: a program for each alternative to what the compiler
// decides, of which the whole call is compared with that of the start.
#pragma once
#include "Bundle.h"
#include "tools/tilewright/Tune/Decisions.h"
#include "tools/tilewright/Tune/FoundKernel.h"
#include "tools/tilewright/Tune/KernelKeys.h"
#include "tools/tilewright/Tune/Trial.h"

namespace tw::cli {

/// An alternative, as a bundle and its database speak of it: a kernel without a name.
struct BundledAlternative {
  Alternative decisions;
  BundledKernel kernel;
};

/// The alternatives of a model, those of operators that take the longest first. `usOf` has the time
/// of operators, or what they cost by the target's model. Returns an exit status; errors have been
/// printed.
int readAlternatives(const ModelOptions &model, const std::vector<TunableKernel> &kernels,
                     const std::map<std::string, double> &usOf, const ProgramDescription &program,
                     const std::string &machine, const TemporaryFolder &folder,
                     std::vector<BundledAlternative> &alternatives);

/// Candidate first: of a kernel's dispatches, or of the call.
std::pair<std::vector<double>, std::vector<double>> timesOf(const TrialResult &result,
                                                            const BundledKernel &kernel);

/// Which one is worth a change; null if none is. Several may be, but not beside each other.
const BundledAlternative *bestAlternative(const std::vector<BundledAlternative> &alternatives,
                                          const tune::Database &database, tune::TimeRatio &ratio,
                                          Status &status);

/// What is decided with `found` and an alternative otherwise than by the compiler itself. Returns
/// an exit status; errors have been printed.
int readFoundDecisions(const ModelOptions &model, const std::vector<FoundKernel> &found,
                       const Alternative &alternative, const TemporaryFolder &folder,
                       std::vector<Decision> &decisions);

} // namespace tw::cli
