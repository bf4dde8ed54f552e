// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For tests: a tile.kernel given as text, through the cpu target and through the interpreter.
#pragma once
#include "IO/HostTensor.h"
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace tw::target {

/// Chooses one of the ways in which the tested target runs what it has compiled.
using Way = std::function<void()>;
/// Those that there are now: one, unless the target says otherwise
/// (Simulator/SimulatedTargets.cpp).
std::function<std::vector<Way>()> &waysToRun();

class CompiledKernel {
public:
  /// Parses and compiles for a CPU, as KernelJit.h names them; throws std::runtime_error when that
  /// fails.
  explicit CompiledKernel(const std::string &text, const std::string &cpu = "host");
  ~CompiledKernel();

  /// The results (out and inout arguments) for a tensor for each argument that is not `out`,
  /// scalars without sizes: compiled, and interpreted, where all that the interpreter finds fails
  /// the test.
  std::vector<HostTensor> run(const std::vector<HostTensor> &given);
  std::vector<HostTensor> interpret(const std::vector<HostTensor> &given);
  /// The results of each of the `waysToRun`.
  std::vector<std::vector<HostTensor>> runInAllWays(const std::vector<HostTensor> &given);

  /// Expects the results of all ways to be the interpreter's for input SPECs ("2x3xf32=random:1"):
  /// integers equal, floats within `tolerance` of the largest value. What the interpreter finds is
  /// allowed: kernels may read outside of their buffers, and both read the same.
  void expectSame(const std::vector<std::string> &inputs, double tolerance = 4e-6);

  /// The same for tensors, with what the elements of each result may differ by.
  void expectSame(const std::vector<HostTensor> &given, const std::vector<double> &allowed);

private:
  void expectAll(const std::vector<HostTensor> &want, const std::vector<HostTensor> &given,
                 const std::vector<double> &allowed, const std::string &what);

  struct State;
  std::unique_ptr<State> state;
};

} // namespace tw::target
