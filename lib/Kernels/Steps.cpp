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

namespace {

/// Drops the dimensions that a piece does not use.
class Renumber {
public:
  explicit Renumber(size_t count) : used(count) {}
  void use(const Access &access) {
    for (const Axis &axis : access.axes) {
      if (axis.dim >= 0)
        used[axis.dim] = true;
      for (auto &shift : axis.shifts)
        used[shift.first] = true;
    }
  }
  void use(const std::vector<int> &dims) {
    for (int dim : dims)
      used[dim] = true;
  }
  std::vector<Extent> apply(const std::vector<Extent> &dims) {
    std::vector<Extent> kept;
    for (size_t dim = 0; dim < dims.size(); ++dim) {
      number.push_back(int(kept.size()));
      if (used[dim])
        kept.push_back(dims[dim]);
    }
    return kept;
  }
  void rename(Access &access) const {
    for (Axis &axis : access.axes) {
      axis.dim = axis.dim < 0 ? -1 : number[axis.dim];
      for (auto &shift : axis.shifts)
        shift.first = number[shift.first];
    }
  }
  void rename(std::vector<int> &dims) const {
    for (int &dim : dims)
      dim = number[dim];
  }

private:
  std::vector<bool> used;
  std::vector<int> number;
};

} // namespace

void dropUnusedDims(Contraction &product) {
  Renumber renumber(product.dims.size());
  for (const Access *access : {&product.a, &product.b, &product.c})
    renumber.use(*access);
  product.dims = renumber.apply(product.dims);
  for (Access *access : {&product.a, &product.b, &product.c})
    renumber.rename(*access);
}

void dropUnusedDims(LoopProgram &program) {
  Renumber renumber(program.dims.size());
  for (const Step &step : program.steps) {
    renumber.use(step.access);
    renumber.use(step.dims);
    renumber.use(step.along);
  }
  renumber.use(program.singles);
  program.dims = renumber.apply(program.dims);
  if (program.dims.empty())
    program.dims.push_back({1});
  for (Step &step : program.steps) {
    renumber.rename(step.access);
    renumber.rename(step.dims);
    renumber.rename(step.along);
  }
  renumber.rename(program.singles);
}

std::vector<int> putOutputsLast(LoopProgram &program) {
  std::vector<int> order, numbers(program.buffers.size());
  std::vector<BufferSpec> sorted;
  for (bool isOutput : {false, true})
    for (size_t i = 0; i < program.buffers.size(); ++i)
      if (program.buffers[i].isOutput == isOutput) {
        numbers[i] = int(order.size());
        order.push_back(int(i));
        sorted.push_back(program.buffers[i]);
      }
  program.buffers = std::move(sorted);
  for (Step &step : program.steps)
    if (step.access.buffer >= 0)
      step.access.buffer = numbers[step.access.buffer];
  return order;
}

} // namespace tw::kernels
