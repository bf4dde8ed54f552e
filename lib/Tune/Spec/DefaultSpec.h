// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
#include "Tune/Spec/TuningSpec.h"

namespace tw::tune {

/// The tuning spec that comes with the compiler for kernels of a family of targets, "cpu" or
/// "nvidia": what the tuner found to be faster than what their ConfigurationChooser chooses. It is
/// share/tuning/FAMILY.mlir, embedded.
Result<TuningSpec> readDefaultSpec(mlir::MLIRContext *context, const std::string &family);

} // namespace tw::tune
