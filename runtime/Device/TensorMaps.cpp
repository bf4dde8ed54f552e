// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/Device/TensorMaps.h"
#include <algorithm>

namespace tw::rt {

static int32_t swizzleOf(uint64_t bytes) {
  switch (bytes) {
  case 32:
    return CU_MAP_SWIZZLE_32;
  case 64:
    return CU_MAP_SWIZZLE_64;
  case 128:
    return CU_MAP_SWIZZLE_128;
  default:
    return CU_MAP_SWIZZLE_NONE;
  }
}

static cu_result encodeAnew(const CudaDriver &driver, const tw_tensor_map &map, TensorMap &into) {
  constexpr size_t dims = 5;
  constexpr int32_t elements[] = {CU_MAP_F16, CU_MAP_BF16, CU_MAP_TF32, CU_MAP_F32,
                                  CU_MAP_UINT8}; // by TW_MAP_*
  if (map.rank < 1 || map.rank > dims || map.element >= std::size(elements))
    return CU_ERROR_INVALID_VALUE;
  std::array<uint32_t, dims> box = {}, steps = {};
  std::ranges::copy(map.box, box.begin());
  steps.fill(1);
  return driver.encodeMap(into.bytes.data(), elements[map.element], static_cast<uint32_t>(map.rank),
                          reinterpret_cast<void *>(map.address), map.sizes, map.strides + 1,
                          box.data(), steps.data(), 0, swizzleOf(map.swizzle), CU_MAP_PROMOTE_128,
                          0);
}

cu_result TensorMaps::encode(const CudaDriver &driver, const tw_tensor_map &map, TensorMap &into) {
  std::string_view key(reinterpret_cast<const char *>(&map), sizeof(map));
  std::lock_guard lock(mutex);
  if (auto found = known.find(key); found != known.end()) {
    into = found->second;
    return CU_SUCCESS;
  }
  cu_result result = encodeAnew(driver, map, into);
  if (result == CU_SUCCESS) {
    if (known.size() >= most)
      known.clear();
    known.emplace(key, into);
  }
  return result;
}

} // namespace tw::rt
