// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whole artifacts, and (what does not start like ELF) their metadata alone, which mutations of a
// whole artifact would rarely reach behind its lengths.
#include "runtime/Artifact/Artifact.h"
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size > 0 && data[0] == 0x7F)
    (void)tw::rt::parseArtifact({data, size}, size).ok();
  else
    (void)tw::rt::parseMetadata({reinterpret_cast<const char *>(data), size}).ok();
  return 0;
}
