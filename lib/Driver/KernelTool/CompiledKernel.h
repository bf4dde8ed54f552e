// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A hand-written kernel compiled for this machine, loaded into this process and called as the host
// entry of a program calls it.
#pragma once
#include "IO/HostTensor.h"
#include "IR/Tile/Tile.h"
#include "Support/Cancellation.h"
#include "Tile/Binding/Binding.h"
#include <memory>
#include <span>
#include <vector>

namespace tw {

struct NamedTarget;

class CompiledKernel {
public:
  /// The target that `name` names (Targets.h), if it takes a kernel by itself. Errors: DRIVER_2
  /// where there is none; DRIVER_3 for the reference target.
  static Result<NamedTarget> codeTargetNamed(const std::string &name);
  /// The same, if what it makes of a kernel can be called here. Errors: those, and DRIVER_3 for a
  /// GPU.
  static Result<NamedTarget> targetNamed(const std::string &name);

  /// Compiles a verified kernel, which stays as it is, with the cpu target for the CPU that
  /// `target` names. Errors: those of targetNamed, what the target says (TARGET_2 for what it does
  /// not take), RUNTIME_5 for a CPU that has more than this one, IO_2, PROGRAM_6,
  /// PROGRAM_7 and PROGRAM_9; SYSTEM_7 where it is cancelled.
  static Result<CompiledKernel> compile(tile::KernelOp kernel, const std::string &target = "cpu",
                                        const Cancellation *cancellation = nullptr);
  CompiledKernel(CompiledKernel &&) noexcept;
  ~CompiledKernel();

  /// Calls it with a tensor for each argument that is not `out`, in order; a scalar has no sizes.
  /// Returns what is in the out and inout arguments then. `threads`: 0 for all that this process
  /// may use. Errors: those of bindKernel, IO_3, and INTERPRETER_6 for a check that failed.
  Result<std::vector<HostTensor>> run(std::span<const HostTensor> given, int threads = 1) const;

  /// How long each of `calls` calls takes, in us; one that is not measured goes before.
  Result<std::vector<double>> time(std::span<const HostTensor> given, int64_t calls,
                                   int threads) const;

  /// What becomes of the kernel on the way: its "loops" (scf, arith, math, llvm), what "llvm" makes
  /// of them, or the "assembly"; before that, the "plan", which is empty for a target that makes
  /// none. Errors: those of compile, and DRIVER_1 for another level.
  static Result<std::string> print(tile::KernelOp kernel, const std::string &level,
                                   const std::string &target = "cpu",
                                   const Cancellation *cancellation = nullptr);

private:
  struct State;
  class Call;
  explicit CompiledKernel(std::unique_ptr<State> state);
  std::unique_ptr<State> state;
};

} // namespace tw
