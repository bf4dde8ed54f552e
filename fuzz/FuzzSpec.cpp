// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// SPECs of the command line; those of small tensors that name no file are made, too.
#include "IO/InputSpec.h"
#include <cstdlib>
#include <string_view>

using namespace tw;

static bool namesFile(const InputSpec &spec) {
  return std::holds_alternative<InputSpec::NpyFile>(spec.source) ||
         std::holds_alternative<InputSpec::RawFile>(spec.source);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  auto spec = parseInputSpec({reinterpret_cast<const char *>(data), size});
  if (!spec || namesFile(*spec))
    return 0;
  auto bytes = byteCount(spec->dtype, spec->sizes);
  if (!bytes || *bytes > 1 << 16)
    return 0;
  auto tensor = readInput(*spec);
  if (tensor && tensor->sizes() != spec->sizes)
    std::abort();
  return 0;
}
