// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MLIR text as a model: parsing, checks and the steps of import.
#include "Import/Text/Text.h"
#include "mlir/IR/MLIRContext.h"
#include <optional>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  // Making a context costs far more than an import; types and attributes of old inputs pile up, so
  // a fresh one comes now and then.
  static std::optional<mlir::MLIRContext> context;
  static unsigned imports = 0;
  if (imports++ % 1000 == 0)
    context.emplace(mlir::MLIRContext::Threading::DISABLED);
  (void)tw::importTextString(&*context, {reinterpret_cast<const char *>(data), size}, "fuzz.mlir")
      .ok();
  return 0;
}
