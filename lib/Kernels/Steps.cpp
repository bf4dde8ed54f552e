// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Kernels/Steps.h"
#include <set>

namespace tw::kernels {

std::vector<std::vector<int>> extentsOf(const std::vector<Step> &steps) {
  std::vector<std::vector<int>> all;
  for (const Step &step : steps) {
    std::set<int> dims;
    bool isWhole = step.kind == Step::Kind::Load || step.kind == Step::Kind::Coordinate;
    if (isWhole)
      dims.insert(step.dims.begin(), step.dims.end());
    for (const Axis &axis : step.access.axes)
      if (axis.dim >= 0)
        dims.insert(axis.dim);
    bool isOfFold = step.kind == Step::Kind::State || step.kind == Step::Kind::Result;
    for (int operand : step.operands)
      if (isOfFold && step.argument >= 0)
        dims.insert(steps[operand].along.begin(), steps[operand].along.end());
      else if (!isOfFold)
        dims.insert(all[operand].begin(), all[operand].end());
    if (step.kind == Step::Kind::Reduce)
      for (int dim : step.dims)
        dims.erase(dim);
    all.emplace_back(dims.begin(), dims.end());
  }
  return all;
}

} // namespace tw::kernels
