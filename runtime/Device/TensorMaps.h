// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensor maps of a GPU, which the driver encodes on the host: each once, as launches of the same
// sizes on the same memory have the same.
#pragma once
#include "runtime/Device/CudaDriver.h"
#include "runtime/ProgramABI.h"
#include <array>
#include <map>
#include <mutex>
#include <string>

namespace tw::rt {

struct alignas(64) TensorMap {
  std::array<uint8_t, CU_MAP_BYTES> bytes;
};

class TensorMaps {
public:
  /// What the driver makes of `map`, or its error.
  cu_result encode(const CudaDriver &driver, const tw_tensor_map &map, TensorMap &into);

private:
  static constexpr size_t most = 4096; // then they are forgotten
  std::mutex mutex;
  std::map<std::string, TensorMap, std::less<>> known; // by the bytes of a tw_tensor_map
};

} // namespace tw::rt
