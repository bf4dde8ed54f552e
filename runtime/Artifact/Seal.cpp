// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/Artifact/Seal.h"
#include <algorithm>
#include <atomic>
#include <cstring>
#include <system_error>
#include <thread>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace tw::rt {

uint64_t hashOf(std::span<const uint8_t> bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

/// The hash of bytes that have 0 in the eight at `zeros`, inside.
static uint64_t hashWithout(std::span<const uint8_t> bytes, size_t zeros) {
  constexpr uint64_t none = 0;
  XXH3_state_t state;
  XXH3_64bits_reset(&state);
  XXH3_64bits_update(&state, bytes.data(), zeros);
  XXH3_64bits_update(&state, &none, sizeof none);
  std::span<const uint8_t> rest = bytes.subspan(zeros + sizeof none);
  XXH3_64bits_update(&state, rest.data(), rest.size());
  return XXH3_64bits_digest(&state);
}

uint64_t sealOf(std::span<const uint8_t> sealed, size_t prefix) {
  return hashWithout(sealed, prefix + offsetof(MetadataPrefix, seal));
}

std::vector<uint64_t> hashBlocks(std::span<const uint8_t> weights) {
  std::vector<uint64_t> hashes(blockCount(int64_t(weights.size())));
  std::atomic<size_t> next = 0;
  auto work = [&] {
    for (size_t i; (i = next++) < hashes.size();) {
      size_t begin = i * weightBlockBytes;
      hashes[i] = hashOf(
          weights.subspan(begin, std::min<size_t>(weightBlockBytes, weights.size() - begin)));
    }
  };
  // Blocks are read from memory: more threads than these only wait for each other.
  constexpr size_t most = 8, fewestBlocks = 16;
  size_t threads =
      std::min({most, size_t(std::thread::hardware_concurrency()), hashes.size() / fewestBlocks});
  std::vector<std::thread> others;
  try {
    for (size_t i = 1; i < threads; ++i)
      others.emplace_back(work);
  } catch (const std::system_error &) {
    // Fewer threads do it, too.
  }
  work();
  for (std::thread &other : others)
    other.join();
  return hashes;
}

uint64_t contentHash(std::span<const uint64_t> blocks) {
  return XXH3_64bits(blocks.data(), blocks.size_bytes());
}

static constexpr size_t digits = 16;

std::string hashText(std::span<const uint64_t> hashes) {
  std::string text;
  for (uint64_t hash : hashes)
    for (int shift = 60; shift >= 0; shift -= 4)
      text += "0123456789abcdef"[hash >> shift & 15];
  return text;
}

static int digitOf(char c) {
  if (c >= '0' && c <= '9')
    return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

std::optional<std::vector<uint64_t>> parseHashes(std::string_view text) {
  if (text.size() % digits)
    return std::nullopt;
  std::vector<uint64_t> hashes(text.size() / digits);
  for (size_t i = 0; i < text.size(); ++i) {
    int digit = digitOf(text[i]);
    if (digit < 0)
      return std::nullopt;
    hashes[i / digits] = hashes[i / digits] << 4 | uint64_t(digit);
  }
  return hashes;
}

std::vector<uint8_t> weightsHeader(uint64_t payloadBytes, uint64_t payload, uint64_t artifact) {
  WeightsHeader header = {{}, payloadBytes, payload, artifact, 0};
  std::memcpy(header.magic, weightsMagic.data(), sizeof header.magic);
  std::vector<uint8_t> page(weightsHeaderBytes);
  std::memcpy(page.data(), &header, sizeof header);
  header.hash = hashOf(page);
  std::memcpy(page.data(), &header, sizeof header);
  return page;
}

std::optional<WeightsHeader> parseWeightsHeader(std::span<const uint8_t> page) {
  if (page.size() != size_t(weightsHeaderBytes))
    return std::nullopt;
  WeightsHeader header;
  std::memcpy(&header, page.data(), sizeof header);
  if (std::memcmp(header.magic, weightsMagic.data(), sizeof header.magic) != 0 ||
      hashWithout(page, offsetof(WeightsHeader, hash)) != header.hash)
    return std::nullopt;
  return header;
}

} // namespace tw::rt
