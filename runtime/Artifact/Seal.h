// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The hashes that notice a damaged artifact (docs/artifact.md): one seal over code and metadata,
// and one hash for each block of the weights. They notice accidents; whoever can write the file can
// write the hashes, too. The compiler writes with the same functions that the runtime checks with.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tw::rt {

/// XXH3-64.
uint64_t hashOf(std::span<const uint8_t> bytes);

//===----------------------------------------------------------------------===//
// Code and metadata
//===----------------------------------------------------------------------===//

/// The start of the section TW_METADATA_SECTION; the JSON follows.
struct MetadataPrefix {
  char magic[8];
  uint64_t jsonBytes;
  uint64_t sealedBytes; // of the file, from its start: all before the weights, or all
  uint64_t seal;        // hash of those, with 0 in this place
};
inline constexpr std::string_view metadataMagic = "TWPROG02"; // its number is that of the format

/// The seal of a file that starts with `sealed`, whose MetadataPrefix is at `prefix`, inside.
uint64_t sealOf(std::span<const uint8_t> sealed, size_t prefix);

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

inline constexpr int64_t weightBlockBytes = int64_t(1) << 20;

inline constexpr int64_t blockCount(int64_t bytes) {
  return bytes / weightBlockBytes + (bytes % weightBlockBytes != 0);
}

/// The hash of each block, on all cores.
std::vector<uint64_t> hashBlocks(std::span<const uint8_t> weights);

/// The hash of the hashes: what weights are known by.
uint64_t contentHash(std::span<const uint64_t> blocks);

/// 16 hexadecimal digits for each, and the inverse; empty when the text is something else.
std::string hashText(std::span<const uint64_t> hashes);
std::optional<std::vector<uint64_t>> parseHashes(std::string_view text);

/// The first page of the file OUT.so.weights; the payload follows.
struct WeightsHeader {
  char magic[8];
  uint64_t payloadBytes;
  uint64_t payload;  // its contentHash
  uint64_t artifact; // the seal of the artifact it belongs to
  uint64_t hash;     // of this page, with 0 in this place
};
inline constexpr std::string_view weightsMagic = "TWWEIGH1";
inline constexpr int64_t weightsHeaderBytes = 4096;

/// The whole page.
std::vector<uint8_t> weightsHeader(uint64_t payloadBytes, uint64_t payload, uint64_t artifact);
/// The header of a page, if it is whole and undamaged.
std::optional<WeightsHeader> parseWeightsHeader(std::span<const uint8_t> page);

} // namespace tw::rt
