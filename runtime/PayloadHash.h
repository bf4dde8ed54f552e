// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The hash that ties a payload to its artifact: XXH3-64 over the payload's first MiB and its last,
// cheap enough for every load and enough to notice a file of another model. The artifact writer
// computes it with the same function.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace tw::rt {

/// 16 lower-case hexadecimal digits.
inline std::string payloadHash(std::span<const uint8_t> payload) {
  constexpr size_t part = size_t(1) << 20;
  XXH3_state_t state;
  XXH3_64bits_reset(&state);
  size_t first = std::min(payload.size(), part);
  size_t last = std::min(payload.size() - first, part);
  XXH3_64bits_update(&state, payload.data(), first);
  XXH3_64bits_update(&state, payload.data() + payload.size() - last, last);
  uint64_t hash = XXH3_64bits_digest(&state);
  std::string text(16, '0');
  for (int i = 15; i >= 0; --i, hash >>= 4)
    text[i] = "0123456789abcdef"[hash & 15];
  return text;
}

} // namespace tw::rt
