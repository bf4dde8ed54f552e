// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensor maps as the simulator has them, in the 128 bytes of a CUtensorMap.
#pragma once
#include "runtime/ProgramABI.h"

namespace tw::simulator {

struct TensorMap {
  uint64_t address;
  uint64_t sizes[5], strides[5];
  uint32_t box[5];
  uint8_t rank, swizzle; // bytes of a row; 0: none
  uint8_t elementBytes;
  bool roundsToTF32; // on the way to shared memory
};
static_assert(sizeof(TensorMap) <= 128);

/// Null, or why the driver would refuse it: CUDA Driver API, cuTensorMapEncodeTiled.
const char *encode(const tw_tensor_map &map, TensorMap &into);

/// Copies a box between a tensor and shared memory, where its elements lie row-major from offset
/// `at` on, swizzled. To shared memory, what is outside is 0; from there, it is left out.
void copyBox(const TensorMap &map, const int64_t coordinates[5], uint8_t *shared, int64_t at,
             bool toShared);
int64_t bytesOfBox(const TensorMap &map);

/// Bits of a float rounded to a mantissa of 10 bits, to the nearest, ties to even.
uint32_t roundedToTF32(uint32_t bits);

/// Pieces of 16 bytes change places within 8 rows of `rowBytes`: PTX ISA, "Swizzling Modes".
inline int64_t swizzled(int64_t offset, int64_t rowBytes) {
  int64_t mask = rowBytes == 128 ? 0x70 : rowBytes == 64 ? 0x30 : rowBytes == 32 ? 0x10 : 0;
  return offset ^ ((offset >> 3) & mask);
}

} // namespace tw::simulator
