// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What differs between GPUs, as a table: a further architecture is a further entry, and one
// lowering of `dot` where it multiplies otherwise.
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>

namespace tw::target {

/// Buffers of kernels begin at multiples of so many bytes: accesses of 128 bits and tensor maps ask
/// it.
inline constexpr int64_t bufferAlignment = 16;

struct GpuArchitecture {
  llvm::StringRef name;     // as LLVM, ptxas and --target=nvidia:NAME call it
  llvm::StringRef features; // LLVM's: the PTX that it is written in
  int64_t sharedBytes;      // that one block may have
  int64_t multiprocessors;  // of the largest GPU: how many blocks keep it busy
};

/// All that there are, by name.
llvm::ArrayRef<GpuArchitecture> gpuArchitectures();
/// Null for another name.
const GpuArchitecture *gpuArchitecture(llvm::StringRef name);

} // namespace tw::target
