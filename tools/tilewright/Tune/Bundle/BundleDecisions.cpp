// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "BundleDecisions.h"
#include "IO/File.h"
#include "IO/OutputFile.h"
#include "tools/tilewright/Failure.h"
#include "tools/tilewright/Tune/ConfigurationText.h"
#include <fmt/format.h>
#include <functional>

namespace tw::cli {

/// What times of whole calls are in terms of: all that the start has.
static std::string startText(const std::vector<TunableKernel> &kernels,
                             const std::vector<Decision> &made) {
  std::string text;
  for (const TunableKernel &kernel : kernels)
    text += kernel.signature + " " + tune::pointText(kernel.start.point) + "\n";
  for (const Decision &decision : made)
    text += decision.text() + "\n";
  return fmt::format("{:016x}", std::hash<std::string>()(text));
}

int readAlternatives(const ModelOptions &model, const std::vector<TunableKernel> &kernels,
                     const std::map<std::string, double> &usOf, const ProgramDescription &program,
                     const std::string &machine, const TemporaryFolder &folder,
                     std::vector<BundledAlternative> &alternatives) {
  std::vector<Decision> made;
  if (int status = describeDecisions(model, folder, made))
    return status;
  std::string start = startText(kernels, made);
  for (Alternative &decisions : alternativesOf(made, usOf)) {
    BundledKernel kernel{
        "",
        {textOf(decisions), 0, start, program.target + " decisions", machine, program.compiler},
        {}};
    alternatives.push_back({std::move(decisions), std::move(kernel)});
  }
  return 0;
}

std::pair<std::vector<double>, std::vector<double>> timesOf(const TrialResult &result,
                                                            const BundledKernel &kernel) {
  return kernel.name.empty() ? std::pair(result.candidate.call, result.start.call)
                             : timesOf(result, kernel.name);
}

const BundledAlternative *bestAlternative(const std::vector<BundledAlternative> &alternatives,
                                          const tune::Database &database, tune::TimeRatio &ratio,
                                          Status &status) {
  const BundledAlternative *best = nullptr;
  for (const BundledAlternative &each : alternatives) {
    auto measured = database.find(each.kernel.measured);
    if (!measured) {
      status = measured.error();
      return nullptr;
    }
    if (measured->empty() || !measured->back().rejection.empty() ||
        !isWorthAChange(measured->back().ratio))
      continue;
    if (!best || measured->back().ratio.median < ratio.median)
      best = &each, ratio = measured->back().ratio;
  }
  return best;
}

int readFoundDecisions(const ModelOptions &model, const std::vector<FoundKernel> &found,
                       const Alternative &alternative, const TemporaryFolder &folder,
                       std::vector<Decision> &decisions) {
  ModelOptions after = model, own = model;
  after.configurations = folder.path() + "/found.json";
  own.tuningSpecs.clear();
  // What was found of kernels was so with the decisions of the start.
  std::string text =
      alternative.empty() ? configurationText(found, {}) : configurationText({}, {}, alternative);
  std::span<const std::byte> bytes = asBytes(text);
  TW_TRY_CLI(writeFile(after.configurations, std::span(&bytes, 1)));
  std::vector<Decision> made, compilers;
  if (int status = describeDecisions(after, folder, made))
    return status;
  if (int status = describeDecisions(own, folder, compilers))
    return status;
  decisions = differences(made, compilers);
  return 0;
}

} // namespace tw::cli
