// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For tests: a tile.kernel given as text, through the cpu target and through the interpreter.
#pragma once
#include "IO/HostTensor.h"
#include <memory>
#include <string>
#include <vector>

namespace tw::target {

class CompiledKernel {
public:
  /// Parses and compiles for a CPU, as KernelJit.h names them; throws std::runtime_error when that
  /// fails.
  explicit CompiledKernel(const std::string &text, const std::string &cpu = "host");
  ~CompiledKernel();

  /// The results (out and inout arguments) for a tensor for each argument that is not `out`,
  /// scalars without sizes: compiled, and interpreted.
  std::vector<HostTensor> run(const std::vector<HostTensor> &given);
  std::vector<HostTensor> interpret(const std::vector<HostTensor> &given);

  /// Expects both to be the same for input SPECs ("2x3xf32=random:1"): integers equal, floats
  /// within `tolerance` of the largest value.
  void expectSame(const std::vector<std::string> &inputs, double tolerance = 4e-6);

  /// The same for tensors, with what the elements of each result may differ by.
  void expectSame(const std::vector<HostTensor> &given, const std::vector<double> &allowed);

  /// What the interpreter finds; "" if nothing.
  std::string findings(const std::vector<HostTensor> &given);

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace tw::target
