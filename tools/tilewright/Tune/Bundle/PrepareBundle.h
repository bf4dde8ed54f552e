// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tilewright tune MODEL --prepare=BUNDLE, and --finish=BUNDLE.
#pragma once
#include "IO/InputSpec.h"
#include "tools/tilewright/Tune/FoundKernel.h"
#include "tools/tilewright/Tune/Tuner.h"
#include <span>
#include <string>

namespace tw::cli {

/// What a model is called with: as it was given, and as it was read; in the same order.
struct BundleInputs {
  std::span<const InputSpec> specs;
  std::span<HostTensor> tensors;
};

/// Makes a bundle of `programs` programs, each with another candidate for every kernel; what was
/// measured in the folder before is taken into account and not asked for again. Nothing is run, so
/// the target may be another machine's. Returns an exit status; errors have been printed.
int prepareBundle(const TuneOptions &options, const std::string &bundle, int64_t programs,
                  const BundleInputs &inputs, const TemporaryFolder &folder,
                  const std::function<bool()> &goesOn);

/// What the measurements of a bundle say: of each kernel the fastest that is faster than what it
/// had; of other decisions the one that is fastest; `decisions` has all that differ from the
/// compiler's. `report`: a table for people. Errors: TUNE_6 for one that has not been measured.
int finishBundle(const TuneOptions &options, const std::string &bundle,
                 const TemporaryFolder &folder, std::vector<FoundKernel> &found,
                 std::vector<Decision> &decisions, std::string &report);

} // namespace tw::cli
