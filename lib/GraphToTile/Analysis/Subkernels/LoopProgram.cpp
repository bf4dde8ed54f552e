// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "GraphToTile/Analysis/Subkernels/LoopProgram.h"

namespace tw::conversion {

void forEachAccess(LoopProgram &program,
                   llvm::function_ref<void(Access &access, bool isStore)> visit) {
  for (Statement &statement : program.statements) {
    for (Source &source : statement.sources)
      if (source.access)
        visit(*source.access, false);
    for (auto &[op, lookUp] : statement.lookUps)
      visit(lookUp.access, false);
    if (statement.target)
      visit(*statement.target, true);
    for (Access &target : statement.targets)
      visit(target, true);
  }
  for (StoredResult &store : program.stores)
    visit(store.access, true);
}

void forEachAccess(const LoopProgram &program,
                   llvm::function_ref<void(const Access &access, bool isStore)> visit) {
  forEachAccess(const_cast<LoopProgram &>(program),
                [&](Access &access, bool isStore) { visit(access, isStore); });
}

/// All lists of dimensions but those of accesses.
static void forEachDims(LoopProgram &program, llvm::function_ref<void(std::vector<int> &)> visit) {
  for (Statement &statement : program.statements) {
    visit(statement.dims);
    visit(statement.carriedDims);
    for (std::vector<int> &loop : statement.loops)
      visit(loop);
    for (std::vector<int> &result : statement.results)
      visit(result);
    for (auto &[op, dims] : statement.sizes)
      visit(dims);
  }
  visit(program.unitDims);
}

void dropUnusedDims(LoopProgram &program) {
  DimRenumbering dims(program.dims.size());
  forEachAccess(program, [&](Access &access, bool) { dims.use(access); });
  forEachDims(program, [&](std::vector<int> &list) { dims.use(list); });
  program.dims = dims.compact(program.dims);
  if (program.dims.empty())
    program.dims.push_back({1});
  std::erase_if(program.sizes, [&](auto &size) {
    return std::none_of(program.dims.begin(), program.dims.end(), [&](const Extent &extent) {
      return !extent.size && extent.symbol == size.second;
    });
  });
  forEachAccess(program, [&](Access &access, bool) { dims.renumber(access); });
  forEachDims(program, [&](std::vector<int> &list) { dims.renumber(list); });
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
  forEachAccess(program, [&](Access &access, bool) { access.buffer = numbers[access.buffer]; });
  if (program.begin)
    program.begin = {numbers[program.begin->input], numbers[program.begin->output]};
  return order;
}

} // namespace tw::conversion
