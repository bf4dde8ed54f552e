// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "BundleKernels.h"
#include "IO/File.h"
#include "tools/tilewright/Failure.h"
#include <algorithm>
#include <filesystem>

namespace tw::cli {
using tune::KernelSearch;
using tune::Measurement;

int BundleKernels::read(const rt::Metadata &start, TunedCall call, const std::string &machine) {
  std::string text;
  SpaceQuery query = SpaceQuery::ofSearch(options.filter.knobs, std::move(call), options.seed);
  if (int status = describeSpaces(options.model, query, folder, text))
    return status;
  auto spaces = readSpaces(text);
  TW_TRY_CLI(spaces);
  all = *std::move(spaces);
  TW_TRY_CLI(options.filter.check(all));
  auto program = describeProgram(start);
  TW_TRY_CLI(program);
  for (size_t number = 0; number < all.size(); ++number)
    if (const TunableKernel &kernel = all[number]; options.filter.takes(kernel) &&
                                                   program->configured.contains(kernel.name) &&
                                                   !kernel.points.empty())
      kernels.push_back(
          {number, keyOf(kernel, *program, machine),
           KernelSearch(kernel.space, kernel.start, kernel.points, options.seed + number)});
  TW_TRY_CLI(machine.empty() ? Status() : readMeasurements());
  if (!options.searchesDecisions)
    return 0;
  return readAlternatives(options.model, all, timesOfOperators(), *program, machine, folder,
                          alternatives);
}

std::map<std::string, double> BundleKernels::timesOfOperators() const {
  std::map<std::string, double> us;
  for (const BundleKernel &kernel : kernels) {
    const TunableKernel &space = all[kernel.number];
    bool isMeasured = kernel.startUs > 0;
    addTime(us, space.ops,
            isMeasured ? kernel.startUs : space.start.cost.value_or(0) * double(space.calls));
  }
  return us;
}

Status BundleKernels::forgetMeasuredAlternatives(const std::string &machine) {
  if (machine.empty())
    return {};
  TW_ASSIGN(tune::Database database, tune::Database::open(pathOf(bundledDatabase)));
  std::vector<BundledAlternative> left;
  for (BundledAlternative &each : alternatives) {
    TW_ASSIGN(std::vector<Measurement> known, database.find(each.kernel.measured));
    if (known.empty())
      left.push_back(std::move(each));
  }
  alternatives = std::move(left);
  return {};
}

Status BundleKernels::readMeasurements() {
  TW_ASSIGN(tune::Database database, tune::Database::open(pathOf(bundledDatabase)));
  for (BundleKernel &kernel : kernels) {
    TW_TRY(database.describe(kernel.measured, descriptionOf(all[kernel.number])));
    TW_ASSIGN(std::vector<Measurement> known, database.find(kernel.measured));
    for (const Measurement &each : known)
      if (each.rejection.empty()) {
        kernel.search.record(each.point, each.ratio);
        kernel.startUs = each.startUs;
      } else {
        kernel.search.reject(each.point);
      }
  }
  return {};
}

Result<std::string> measuringMachine(const std::string &bundle) {
  std::string path = bundle + "/" + bundledMachine;
  if (!std::filesystem::exists(path))
    return std::string();
  TW_ASSIGN(MappedFile file, MappedFile::open(path));
  return std::string(file.text());
}

} // namespace tw::cli
