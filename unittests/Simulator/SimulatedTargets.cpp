// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// In the place of Driver/Targets: whatever tests ask for is the simulated target. What tests
// compile runs with the threads of a block in all orders: where a barrier is missing, results
// differ.
#include "CompiledKernel.h"
#include "Driver/Targets.h"
#include "Program/ObjectCode/Machine.h"
#include "SimulatedTarget.h"
#include "Target/CPU/Configuration/Chooser.h"
#include "Target/CPU/CpuFeatures.h"

tw::NamedTarget tw::hostTarget() {
  return {"cpu",
          "cpu",
          hostInstructionSet(),
          "",
          simulator::createSimulatedTarget(),
          target::createCPUChooser(target::CpuFeatures::of(hostInstructionSet()))};
}

tw::Result<tw::NamedTarget> tw::findTarget(const std::string &, const std::string &) {
  return hostTarget();
}

static const bool runsInAllOrders = [] {
  tw::target::waysToRun() = [] {
    std::vector<tw::target::Way> ways;
    for (tw::simulator::Order order : tw::simulator::ordersToTry())
      ways.emplace_back([order] { tw::simulator::setOrder(order); });
    return ways;
  };
  return true;
}();
