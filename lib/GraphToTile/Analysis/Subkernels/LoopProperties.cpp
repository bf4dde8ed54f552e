// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "GraphToTile/Analysis/Subkernels/LoopProperties.h"
#include <algorithm>

namespace tw::conversion {
using Kind = Statement::Kind;

static bool reduces(const Statement &statement) {
  return statement.kind == Kind::Reduce || statement.kind == Kind::ArgReduce ||
         statement.kind == Kind::Scan || statement.kind == Kind::Sort;
}

/// Whether the body runs for one element of some dimensions after the other.
static bool folds(const Statement &statement) {
  return statement.kind == Kind::Fold || statement.kind == Kind::Scatter ||
         statement.kind == Kind::Recurrence;
}

std::vector<const Access *> storesOf(const LoopProgram &program) {
  std::vector<const Access *> stores;
  for (const Statement &statement : program.statements) {
    if (statement.kind == Kind::Copy)
      stores.push_back(&*statement.target);
    for (const Access &target : statement.targets)
      stores.push_back(&target);
  }
  for (const StoredResult &store : program.stores)
    stores.push_back(&store.access);
  return stores;
}

bool hasUpdates(const LoopProgram &program) {
  return std::any_of(program.statements.begin(), program.statements.end(),
                     [](const Statement &statement) { return statement.kind == Kind::Scatter; });
}

bool isUpdate(const LoopProgram &program, const Access &access) {
  return std::any_of(program.statements.begin(), program.statements.end(),
                     [&](const Statement &statement) {
                       return statement.kind == Kind::Scatter && &*statement.target == &access;
                     });
}

std::vector<bool> foldedDims(const LoopProgram &program) {
  std::vector<bool> folded(program.dims.size());
  for (const Statement &statement : program.statements)
    if (folds(statement))
      for (int dim : statement.dims)
        folded[dim] = true;
  for (const Statement &statement : program.statements)
    if (reduces(statement))
      for (int dim : statement.dims)
        folded[dim] = false;
  for (const Access *store : storesOf(program))
    for (const Axis &axis : store->axes)
      if (axis.dim >= 0)
        folded[axis.dim] = false;
  return folded;
}

bool isCopy(const LoopProgram &program) {
  return std::none_of(program.statements.begin(), program.statements.end(),
                      [](const Statement &statement) {
                        return reduces(statement) || folds(statement) || statement.hasLoop;
                      });
}

std::vector<bool> parallelDims(const LoopProgram &program) {
  std::vector<bool> parallel(program.dims.size(), true);
  for (const Statement &statement : program.statements)
    if (reduces(statement) || folds(statement))
      for (int dim : statement.dims)
        parallel[dim] = false;
  forEachAccess(program, [&](const Access &access, bool isStore) {
    for (size_t dim = 0; isStore && dim < parallel.size(); ++dim)
      if (!access.covers(int(dim)))
        parallel[dim] = false;
  });
  return parallel;
}

std::vector<int> partDims(const LoopProgram &program) {
  std::vector<const Access *> stores = storesOf(program);
  if (!isCopy(program) || hasUpdates(program) || stores.size() < 2)
    return {};
  for (size_t axis = 0; axis < stores[0]->axes.size(); ++axis) {
    std::vector<int> dims;
    std::vector<std::pair<int64_t, int64_t>> parts; // begin and end
    for (const Access *store : stores) {
      const Axis &own = store->axes[axis];
      bool isPartial = store->buffer == stores[0]->buffer && own.dim >= 0 && own.stride == 1 &&
                       own.scalarTerms.empty() && own.dimTerms.empty() &&
                       program.dims[own.dim].size;
      if (!isPartial)
        break;
      dims.push_back(own.dim);
      parts.push_back({own.offset, own.offset + *program.dims[own.dim].size});
    }
    std::sort(parts.begin(), parts.end());
    bool isDisjoint = parts.size() == stores.size();
    for (size_t i = 1; isDisjoint && i < parts.size(); ++i)
      isDisjoint = parts[i - 1].second <= parts[i].first;
    std::sort(dims.begin(), dims.end());
    dims.erase(std::unique(dims.begin(), dims.end()), dims.end());
    if (isDisjoint && dims.size() > 1)
      return dims;
  }
  return {};
}

} // namespace tw::conversion
