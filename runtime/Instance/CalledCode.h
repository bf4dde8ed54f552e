// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which of a kernel's code a call runs (docs/configurations.md, variants), by what the artifact
// says of it.
#pragma once
#include "runtime/Artifact/Metadata.h"
#include "tilewright/tilewright.h"

namespace tw::rt {

/// Of one dispatch.
struct CalledCode {
  std::optional<int64_t> variantSize;   // what DispatchInfo::variantSize is
  const VariantInfo *variant = nullptr; // none: the code that is for all other calls
};

/// Of each dispatch in a call with these inputs and so many workers; lives as long as `metadata`.
/// Errors: those of inputs that do not fit.
Result<std::vector<CalledCode>> codeOfCall(const Metadata &metadata,
                                           std::span<const tw_tensor> inputs, int workers);

} // namespace tw::rt
