// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
#include "Block.h"
#include "Target/NVIDIA/Architecture.h"
#include "Target/Target.h"
#include <functional>
#include <mutex>

namespace tw::simulator {

/// The nvidia target's kernels behind the interface of the cpu target's (docs/contracts.md, "Target
/// level"), for this process: an iteration is a block, which is simulated. So what tests compiled
/// kernels tests these, too. Aborts the process where the simulator finds a fault.
std::unique_ptr<target::Target> createSimulatedTarget();

/// In which order the threads of a block run from now on.
void setOrder(Order order);
/// All orders; while an experiment lives, its own.
std::vector<Order> ordersToTry();

/// While one lives, kernels are compiled with a change, and what the simulator finds is kept here
/// instead of aborting the process. There is at most one at a time.
class Experiment {
public:
  /// `change` gets the kernels of each module (llvm and nvvm dialects), which are for a GPU of so
  /// few multiprocessors that a block runs many programs.
  explicit Experiment(std::function<void(mlir::ModuleOp)> change, int64_t multiprocessors = 1);
  ~Experiment();
  Experiment(const Experiment &) = delete;

  void find(const char *fault);
  /// The first fault; "" without. Taken, there is none any more.
  std::string fault();
  std::string takeFault();

  const std::function<void(mlir::ModuleOp)> change;
  const target::GpuArchitecture architecture;
  bool avoidsTensorCores = false; // where ptxas would have refused
  Order order = Order::Forwards;  // instead of what setOrder says

private:
  std::mutex mutex;
  std::string first;
};

} // namespace tw::simulator
