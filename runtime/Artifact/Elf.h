// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The little of ELF that reading an artifact takes. Every offset and size is checked against the
// file.
#pragma once
#include "Support/Diagnostic.h"
#include "Support/InstructionSet.h"
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace tw::rt {

struct ElfSegment {
  uint64_t offset, address, fileBytes;
  bool writable;
};

struct ElfImage {
  Architecture architecture = hostArchitecture;
  uint64_t end = 0;         // where headers, sections and segments end in the file
  uint64_t headerBytes = 0; // where the program headers end
  std::optional<std::span<const uint8_t>> metadata; // contents of TW_METADATA_SECTION
  std::span<const uint8_t> deviceCode;              // of TW_DEVICE_SECTION, if there is one
  std::vector<ElfSegment> loaded;                   // what the dynamic linker maps
};

/// Parses a shared library for one of the architectures that code is made for. Errors: RUNTIME_2
/// when the bytes are something else, RUNTIME_3 when they are damaged.
Result<ElfImage> parseElf(std::span<const uint8_t> bytes);

} // namespace tw::rt
