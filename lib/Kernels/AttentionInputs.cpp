// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Kernels/AttentionInputs.h"

namespace tw::kernels {
using namespace tw::kernel;

void dropUnusedDims(AttentionInputs &inputs, std::vector<Access *> accesses) {
  DimRenumbering renumbering(inputs.dims.size());
  accesses.insert(accesses.end(), {&inputs.query, &inputs.key, &inputs.value});
  if (inputs.mask)
    accesses.push_back(&*inputs.mask);
  std::vector<int> roles;
  for (int *role : inputs.roles())
    roles.push_back(*role);
  for (const Access *access : accesses)
    renumbering.use(*access);
  renumbering.use(roles);
  inputs.dims = renumbering.compact(inputs.dims);
  for (Access *access : accesses)
    renumbering.renumber(*access);
  renumbering.renumber(roles);
  for (size_t i = 0; i < roles.size(); ++i)
    *inputs.roles()[i] = roles[i];
}

std::string refuse(const AttentionInputs &inputs) {
  for (const Extent &extent : inputs.dims)
    if (extent.size == 0)
      return "it has no elements";
  return {};
}

/// Scores of a block lie on the stack or in the workspace.
constexpr int64_t mostScores = 1 << 20;

std::vector<Constraint> scoreConstraints(const AttentionInputs &inputs, const char *size) {
  std::vector<Constraint> constraints = {
      {size, std::to_string(mostScores), "a block is no larger"}};
  auto atMost = [&](const char *field, const Extent &extent, const char *reason) {
    if (extent.size)
      constraints.emplace_back(field, std::to_string(*extent.size), reason);
  };
  atMost("queries", inputs.dims[inputs.queries], "there are no more queries");
  atMost("keys", inputs.dims[inputs.keys], "there are no more keys");
  return constraints;
}

kernel::Size ScoreBlock::count(const KernelFrame &at) const {
  kernel::Size count = at.extent(rows.back());
  for (size_t i = 0; i + 1 < rows.size(); ++i)
    count = count * at.extent(rows[i]);
  return count;
}

Shape ScoreBlock::shape(const KernelFrame &at, const kernel::Size &inner) const {
  return isTransposed ? Shape{inner, count(at)} : Shape{count(at), inner};
}

Tile ScoreBlock::matrix(const KernelFrame &at, const Access &access, int inner) const {
  std::vector<int> axes = rows;
  Shape full;
  axes.insert(isTransposed ? axes.begin() : axes.end(), inner);
  for (int dim : axes)
    full.push_back(at.extent(dim));
  Tile tile = at.load(access, axes);
  return rows.size() == 1 ? tile : reshape(broadcast(tile, full), shape(at, at.extent(inner)));
}

Tile ScoreBlock::vector(const KernelFrame &at, const Access &access) const {
  Shape full;
  for (int dim : rows)
    full.push_back(at.extent(dim));
  return reshape(broadcast(at.load(access, rows), full), shape(at, 1));
}

/// Which query each row is.
Tile ScoreBlock::places(const KernelFrame &at) const {
  kernel::Size queries = at.extent(inputs.queries);
  Index first = at.first(inputs.queries);
  if (rows.size() == 1)
    return iota(shape(at, 1), queryAxis(), i32, first);
  Tile each = iota({1, queries}, 1, i32, first);
  return reshape(broadcast(each, {at.extent(rows.front()), queries}), shape(at, 1));
}

Tile ScoreBlock::masked(const KernelFrame &at, Tile scores, Hidden hidden) const {
  if (inputs.mask) {
    Tile mask = matrix(at, *inputs.mask, inputs.keys);
    scores = inputs.buffers[inputs.mask->buffer].dtype == i1 ? select(mask, scores, -inf)
                                                             : scores + cast(mask, inputs.sum);
  }
  kernel::Size keys = at.extent(inputs.keys);
  Tile position =
      iota(isTransposed ? Shape{keys, 1} : Shape{1, keys}, keyAxis(), i32, at.first(inputs.keys));
  if (hidden.beyondEnd)
    scores = select(position < at.size(inputs.dims[inputs.keys]), scores, -inf);
  if (hidden.later)
    scores = select(position <= places(at), scores, -inf);
  return scores;
}

Tile ScoreBlock::finite(const Tile &most, bool mayBeEmpty) const {
  return mayBeEmpty ? select(most == -inf, 0.0, most) : most;
}

} // namespace tw::kernels
