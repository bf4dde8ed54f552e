// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/NVIDIA/Architecture.h"
#include "llvm/ADT/STLExtras.h"

namespace tw::target {

llvm::StringRef nameOf(Capability capability) {
  static constexpr llvm::StringRef names[] = {"wgmma",    "cp.async.bulk.tensor", "cp.async.bulk",
                                              "stmatrix", "setmaxnreg",           "griddepcontrol"};
  return names[unsigned(capability)];
}

std::string GpuArchitecture::whatIsMissing(std::initializer_list<Capability> needed) const {
  std::string all;
  for (Capability one : needed)
    if (!has(one))
      all += (all.empty() ? name.str() + " has no " : std::string(", no ")) + nameOf(one).str();
  return all;
}

std::string whyNoTensorCores(const GpuArchitecture &architecture) {
  using enum Capability;
  return architecture.whatIsMissing(
      {Wgmma, TensorMaps, BulkCopies, MatrixStores, RegisterMoves, DependentLaunches});
}

llvm::ArrayRef<GpuArchitecture> gpuArchitectures() {
  using enum Capability;
  // What fits into a multiprocessor: CUDA C++ Programming Guide, "Compute Capabilities". Rates are
  // those of H100 and H200: cycles, and what memory brings, are measured (docs/nvidia-target.md); a
  // multiprocessor begins a block of 256 threads every 160 ns, and a warp some three times as
  // often.
  static constexpr GpuArchitecture all[] = {
      {.name = "sm_90a",
       .features = "+ptx80",
       .sharedBytes = 227 << 10,
       .multiprocessors = 132,
       .residentThreads = 2048,
       .residentBlocks = 32,
       .cachedBytes = 32 << 20,
       .capabilities = {Wgmma, TensorMaps, BulkCopies, MatrixStores, RegisterMoves,
                        DependentLaunches},
       .rates = {.products = 2048,
                 .exponentials = 16,
                 .operations = 128,
                 .issued = 4,
                 .loadedBytes = 64,
                 .storedBytes = 32,
                 .memoryBytes = 1600,
                 .launch = 1500,
                 .beginBlock = 70,
                 .beginWarp = 26,
                 .load = 600,
                 .barrier = 40,
                 .beginTensorCores = 2500}},
  };
  return all;
}

const GpuArchitecture *gpuArchitecture(llvm::StringRef name) {
  const auto *found =
      llvm::find_if(gpuArchitectures(), [&](const auto &one) { return one.name == name; });
  return found == gpuArchitectures().end() ? nullptr : found;
}

} // namespace tw::target
