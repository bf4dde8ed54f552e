// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Driver/TargetChoice.h"
#include "Program/Machine.h"
#include "Target/CpuFeatures.h"
#include <fmt/format.h>

namespace tw {

Result<TargetChoice> chooseTarget(const std::string &text) {
  if (text == "reference" || text == "cpu" || text == "cpu:host")
    return TargetChoice{text.substr(0, text.find(':')), hostFeatures()};
  if (text.starts_with("cpu:"))
    if (auto features = target::featuresOfCpu(text.substr(4)))
      return TargetChoice{"cpu", *std::move(features)};
  std::string names;
  for (std::string_view name : target::cpuNames())
    names += fmt::format(", cpu:{}", name);
  return Diagnostic{Code::DRIVER_2,
                    fmt::format("there is no target \"{}\"", text),
                    {},
                    {},
                    "the targets are cpu (this machine's)" + names + ", and reference"};
}

} // namespace tw
