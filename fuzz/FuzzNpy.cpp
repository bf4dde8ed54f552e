// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// .npy files: what parses must be as large as its bytes say, whatever the header claims.
#include "IO/Formats/Npy.h"
#include <cstdlib>

using namespace tw;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  auto bytes = std::as_bytes(std::span(data, size));
  for (auto wanted : {DType::F32, DType::BF16})
    if (auto tensor = parseNpy(bytes, "fuzz.npy", wanted); tensor && tensor->byteSize() > size)
      std::abort();
  return 0;
}
