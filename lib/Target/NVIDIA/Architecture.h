// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What differs between GPUs, as a table: a further architecture is a further entry, and one
// lowering of `dot` where it multiplies otherwise.
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <initializer_list>
#include <string>

namespace tw::target {

/// Buffers of kernels begin at multiples of so many bytes: accesses of 128 bits and tensor maps ask
/// it.
inline constexpr int64_t bufferAlignment = 16;
/// Registers of 32 bits of a multiprocessor, of a thread at most, and shared memory that the system
/// has of each block: those of all GPUs that are considered.
inline constexpr int64_t registersOfMultiprocessor = 65536, registersOfThread = 255,
                         systemSharedBytes = 1024;

/// Instructions that not every GPU has. What needs one that is missing is not chosen, with a
/// remark.
enum class Capability : uint8_t {
  Wgmma,             // warp groups multiply what lies in shared memory
  TensorMaps,        // TMA brings boxes of tensors: cp.async.bulk.tensor
  BulkCopies,        // TMA brings bytes: cp.async.bulk; mbarriers wait for both
  MatrixStores,      // stmatrix
  RegisterMoves,     // setmaxnreg
  DependentLaunches, // griddepcontrol: a launch begins before the one before it ends
};
/// As PTX calls it.
llvm::StringRef nameOf(Capability capability);

class Capabilities {
public:
  constexpr Capabilities(std::initializer_list<Capability> all) {
    for (Capability one : all)
      bits |= bitOf(one);
  }
  constexpr bool has(Capability one) const { return (bits & bitOf(one)) != 0; }

private:
  static constexpr uint32_t bitOf(Capability one) { return uint32_t(1) << unsigned(one); }

  uint32_t bits = 0;
};

/// What cost models calculate with: of a multiprocessor in one cycle, and how many cycles it takes.
/// What a model fits beside, for a lowering, stands with that.
struct GpuRates {
  // In a cycle.
  double products;     // of 16-bit floats on tensor cores, of which tf32 has half
  double exponentials; // and other special functions
  double operations;   // of f32
  double issued;       // instructions of warps
  double loadedBytes;  // from the second-level cache, at most
  double storedBytes;
  double memoryBytes; // of all multiprocessors
  // Cycles.
  double launch;           // of a launch behind another one, beside its programs
  double beginBlock;       // until a block of threads has begun, beside its warps
  double beginWarp;        // for each of these
  double load, barrier;    // until what is read together has come; at a barrier
  double beginTensorCores; // of a launch, before the first product on them
};

struct GpuArchitecture {
  llvm::StringRef name;                    // as LLVM, ptxas and --target=nvidia:NAME call it
  llvm::StringRef features;                // LLVM's: the PTX that it is written in
  int64_t sharedBytes;                     // that one block may have
  int64_t multiprocessors;                 // of the largest GPU: how many blocks keep it busy
  int64_t residentThreads, residentBlocks; // of a multiprocessor at one time, at most
  int64_t cachedBytes;                     // of the second-level cache, for what programs share
  Capabilities capabilities;
  GpuRates rates;

  bool has(Capability one) const { return capabilities.has(one); }
  /// "sm_80 has no wgmma, no stmatrix": those of `needed` that it lacks; empty if it has all.
  std::string whatIsMissing(std::initializer_list<Capability> needed) const;
};

/// Why products and attention cannot have the lowering of Product/ and Attention/, which is the one
/// of `dot` beside the plain one; empty where they can.
std::string whyNoTensorCores(const GpuArchitecture &architecture);
inline bool hasTensorCores(const GpuArchitecture &architecture) {
  return whyNoTensorCores(architecture).empty();
}

/// All that there are, by name.
llvm::ArrayRef<GpuArchitecture> gpuArchitectures();
/// Null for another name.
const GpuArchitecture *gpuArchitecture(llvm::StringRef name);

} // namespace tw::target
