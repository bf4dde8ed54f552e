// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// In the place of Driver/Targets: whatever tests ask for is the simulated target.
#include "Driver/Targets.h"
#include "Program/Machine.h"
#include "SimulatedTarget.h"

tw::NamedTarget tw::hostTarget() {
  return {"cpu", hostFeatures(), "", simulator::createSimulatedTarget(), nullptr};
}

tw::Result<tw::NamedTarget> tw::findTarget(const std::string &, const std::string &) {
  return hostTarget();
}
