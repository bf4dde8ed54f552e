// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// safetensors headers: every tensor that parses lies inside the file. And their index.
#include "IO/Formats/SafeTensors.h"
#include <cstdlib>
#include <string_view>

using namespace tw;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  auto file = parseSafeTensors(std::as_bytes(std::span(data, size)), "fuzz");
  if (file)
    for (const SafeTensor &tensor : file->tensors)
      if (tensor.offset < 8 || tensor.bytes < 0 ||
          static_cast<uint64_t>(tensor.offset) + static_cast<uint64_t>(tensor.bytes) > size)
        std::abort();
  auto index =
      parseSafeTensorsIndex({reinterpret_cast<const char *>(data), size}, "fuzz", "/folder");
  if (index)
    for (const auto &[name, path] : *index)
      if (path.find('/', 8) != path.npos)
        std::abort();
  return 0;
}
