// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ZIP directories: every entry that is listed as stored lies inside the archive.
#include "IO/Formats/Zip.h"
#include <cstdlib>

using namespace tw;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  auto archive = ZipDirectory::read(std::as_bytes(std::span(data, size)), "fuzz.zip");
  if (!archive)
    return 0;
  for (const auto &[name, entry] : archive->entries())
    if (entry.stored && (entry.offset < 0 || entry.bytes < 0 ||
                         static_cast<uint64_t>(entry.offset) + entry.bytes > size))
      std::abort();
  return 0;
}
