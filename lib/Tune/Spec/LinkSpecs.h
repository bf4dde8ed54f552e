// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Several tuning specs as one.
#pragma once
#include "Tune/Spec/TuningSpec.h"

namespace tw::tune {

/// The text of a spec that does what `specs` do one after the other: the matchers of the first come
/// first. All are for one target.
std::string linkSpecs(llvm::ArrayRef<TuningSpec> specs);

} // namespace tw::tune
