// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What kernels on the tensor cores wait for memory, whichever block their programs have.
#pragma once
#include "Kernels/Access.h"
#include "Target/NVIDIA/Configuration/PlainCost.h"
#include <algorithm>

namespace tw::target::nvidia {

/// Cycles in which each element of all buffers comes or goes once; sizes that only calls tell are
/// taken as `unknown`.
inline double memoryCycles(const std::vector<kernels::BufferSpec> &buffers, int64_t unknown,
                           const GpuArchitecture &architecture) {
  double bytes = 0;
  for (const kernels::BufferSpec &buffer : buffers) {
    auto all = double(bytesOf(buffer.dtype));
    for (const kernels::Extent &extent : buffer.shape)
      all *= double(extent.size.value_or(extent.most.value_or(unknown)));
    bytes += all;
  }
  return bytes / architecture.rates.memoryBytes;
}

/// The longer of what multiprocessors do and what memory does, and what of the shorter one does not
/// hide behind it.
inline double overlapped(double work, double memory) {
  constexpr double notHidden = 0.1;
  return std::max(work, memory) + notHidden * std::min(work, memory);
}

} // namespace tw::target::nvidia
