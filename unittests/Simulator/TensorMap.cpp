// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TensorMap.h"
#include <cstring>
#include <iterator>

namespace tw::simulator {

const char *encode(const tw_tensor_map &map, TensorMap &into) {
  into = {};
  if (map.rank < 1 || map.rank > 5)
    return "a tensor map has 1 to 5 dimensions";
  if (map.address % 16 != 0 || map.address == 0)
    return "a tensor map's address is a multiple of 16";
  if (map.swizzle != 0 && map.swizzle != 32 && map.swizzle != 64 && map.swizzle != 128)
    return "a tensor map has no such swizzle";
  into.address = map.address;
  into.rank = uint8_t(map.rank);
  into.swizzle = uint8_t(map.swizzle);
  constexpr uint8_t bytesOf[] = {2, 2, 4, 4, 1}; // by TW_MAP_*
  if (map.element >= std::size(bytesOf))
    return "a tensor map has no such elements";
  into.roundsToTF32 = map.element == TW_MAP_TF32;
  into.elementBytes = bytesOf[map.element];
  for (uint64_t d = 0; d < map.rank; ++d) {
    if (map.sizes[d] < 1 || map.sizes[d] > uint64_t(1) << 32)
      return "a tensor map's dimension has no or too many elements";
    if (map.box[d] < 1 || map.box[d] > 256)
      return "a tensor map's box has 1 to 256 elements along a dimension";
    if (d > 0 && (map.strides[d] % 16 != 0 || map.strides[d] >= uint64_t(1) << 40))
      return "a tensor map's rows are a multiple of 16 bytes apart";
    into.sizes[d] = map.sizes[d];
    into.strides[d] = d == 0 ? into.elementBytes : map.strides[d];
    into.box[d] = uint32_t(map.box[d]);
  }
  uint64_t row = map.box[0] * into.elementBytes;
  if (row % 16 != 0 || (map.swizzle != 0 && row > map.swizzle))
    return "a row of a tensor map's box is a multiple of 16 bytes, and no longer than its swizzle";
  return nullptr;
}

int64_t bytesOfBox(const TensorMap &map) {
  int64_t bytes = map.elementBytes;
  for (int d = 0; d < map.rank; ++d)
    bytes *= map.box[d];
  return bytes;
}

uint32_t roundedToTF32(uint32_t bits) {
  constexpr uint32_t dropped = 13, mask = (1U << dropped) - 1, exponent = 0x7f800000;
  if ((bits & exponent) != exponent) // infinities and NaN stay
    bits += mask / 2 + (bits >> dropped & 1);
  return bits & ~mask;
}

void copyBox(const TensorMap &map, const int64_t coordinates[5], uint8_t *shared, int64_t at,
             bool toShared) {
  int64_t count = bytesOfBox(map) / map.elementBytes;
  for (int64_t number = 0; number < count; ++number) {
    int64_t rest = number, offset = 0;
    bool isInside = true;
    for (int d = 0; d < map.rank; ++d) {
      int64_t where = coordinates[d] + rest % map.box[d];
      rest /= map.box[d];
      isInside = isInside && where >= 0 && where < int64_t(map.sizes[d]);
      offset += where * int64_t(map.strides[d]);
    }
    uint8_t *own = shared + swizzled(at + number * map.elementBytes, map.swizzle);
    auto *far = reinterpret_cast<uint8_t *>(map.address + uint64_t(offset));
    if (toShared && !isInside)
      std::memset(own, 0, map.elementBytes);
    else if (isInside)
      std::memcpy(toShared ? own : far, toShared ? far : own, map.elementBytes);
    if (toShared && map.roundsToTF32) {
      uint32_t bits;
      std::memcpy(&bits, own, sizeof bits);
      bits = roundedToTF32(bits);
      std::memcpy(own, &bits, sizeof bits);
    }
  }
}

} // namespace tw::simulator
