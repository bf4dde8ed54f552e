// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For tests: a kernel given as text, compiled as models are (a tile.kernel by Target/CPU, a
// function by Target/Reference), and called as a host entry would call it. `cpu` names one of
// Target/CPU/CpuFeatures.h; "host" is this machine's, or the one that TW_TEST_CPU names.
#pragma once
#include "Target/Target.h"
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tw::target {

class KernelJit {
public:
  /// Compiles `@k` of the module text. Aborts the test program when that fails.
  explicit KernelJit(const std::string &text, const std::string &cpu = "host");
  ~KernelJit();
  KernelJit(KernelJit &&) noexcept;

  /// All iterations, in two calls where there are two or more; returns failure[3].
  std::vector<int64_t> run(std::vector<void *> buffers, std::vector<int64_t> scalars = {});

  const KernelInfo &info() const { return kernelInfo; }
  /// {iterations, workspace bytes} for these scalars.
  std::pair<int64_t, int64_t> needs(std::vector<int64_t> scalars) const;

private:
  struct State;
  std::unique_ptr<State> state;
  KernelInfo kernelInfo;
};

/// The name of the target for a CPU: "host" is replaced by what TW_TEST_CPU names.
std::string testedTarget(const std::string &cpu = "host");

/// The assembly of `@k`, also for a CPU that this machine is not.
std::string assemblyOf(const std::string &text, const std::string &cpu = "host");

/// Numbers in [-1, 1] that differ from place to place.
template <typename T>
std::vector<T> numbers(size_t count, unsigned seed = 1) {
  std::vector<T> values(count);
  uint32_t x = seed * 2654435761u + 1;
  for (T &value : values) {
    x = x * 1664525u + 1013904223u;
    value = T(double(int32_t(x)) / 2147483648.0);
  }
  return values;
}

} // namespace tw::target
