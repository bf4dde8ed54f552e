// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a bundle's programs can differ in, and what is known of it from earlier rounds.
#pragma once
#include "BundleDecisions.h"
#include "tools/tilewright/Tune/Tuner.h"

namespace tw::cli {

/// A kernel that is searched, and what is known of it.
struct BundleKernel {
  size_t number; // among the model's
  tune::MeasuredKernel measured;
  tune::KernelSearch search;
  double startUs = 0; // 0: it was not measured
};

/// The kernels of a model whose first program lies in a bundle's folder, and the alternatives to
/// what the compiler decides about its operators.
class BundleKernels {
public:
  BundleKernels(const TuneOptions &options, std::string bundle, const TemporaryFolder &folder)
      : options(options), bundle(std::move(bundle)), folder(folder) {}

  /// With what `machine` has measured; an empty one has nothing. An exit status.
  int read(const rt::Metadata &start, TunedCall call, const std::string &machine);
  /// Leaves alternatives that `machine` has not measured.
  Status forgetMeasuredAlternatives(const std::string &machine);
  std::string pathOf(const std::string &file) const { return bundle + "/" + file; }

  std::vector<TunableKernel> all;
  std::vector<BundleKernel> kernels;
  std::vector<BundledAlternative> alternatives;

private:
  /// As they were measured, or else as they cost by the target's model.
  std::map<std::string, double> timesOfOperators() const;
  Status readMeasurements();

  const TuneOptions &options;
  std::string bundle;
  const TemporaryFolder &folder;
};

/// Which machine has measured; empty if none has.
Result<std::string> measuringMachine(const std::string &bundle);

} // namespace tw::cli
