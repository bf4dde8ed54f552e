// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/Instance/CalledCode.h"
#include "runtime/Instance/InputCheck.h"

namespace tw::rt {

static bool takes(const VariantInfo &variant, std::optional<int64_t> size, int workers) {
  return variant.workersAtLeast > 0
             ? workers >= variant.workersAtLeast
             : size && variant.sizeAtLeast <= *size && *size <= variant.sizeAtMost;
}

Result<std::vector<CalledCode>> codeOfCall(const Metadata &metadata,
                                           std::span<const tw_tensor> inputs, int workers) {
  SymbolValues symbols;
  TW_TRY(checkInputs(metadata, inputs, symbols, InputUse::Sizes));
  std::vector<CalledCode> code;
  for (const DispatchInfo &dispatch : metadata.dispatches) {
    CalledCode &called = code.emplace_back();
    called.variantSize = dispatch.variantSize.in(symbols);
    for (const VariantInfo &variant : dispatch.variants)
      if (!called.variant && takes(variant, called.variantSize, workers))
        called.variant = &variant;
  }
  return code;
}

} // namespace tw::rt
