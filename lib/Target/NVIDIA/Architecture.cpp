// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/NVIDIA/Architecture.h"
#include "llvm/ADT/STLExtras.h"

namespace tw::target {

llvm::ArrayRef<GpuArchitecture> gpuArchitectures() {
  // Shared memory: CUDA C++ Programming Guide, "Compute Capabilities".
  static constexpr GpuArchitecture all[] = {{"sm_90a", "+ptx80", 227 << 10, 132}};
  return all;
}

const GpuArchitecture *gpuArchitecture(llvm::StringRef name) {
  const auto *found =
      llvm::find_if(gpuArchitectures(), [&](const auto &one) { return one.name == name; });
  return found == gpuArchitectures().end() ? nullptr : found;
}

} // namespace tw::target
