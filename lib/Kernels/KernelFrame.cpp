// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Kernels/KernelFrame.h"
#include "Language/Destinations.h"
#include <numeric>

namespace tw::kernels {
using namespace tw::kernel;

/// A kernel for sizes up to 1 is for those that are 1.
static SymbolRange rangeOf(const Extent &extent) {
  return {.min = extent.most == 1 ? 1 : 0, .max = extent.most.value_or(INT64_MAX)};
}

KernelFrame::KernelFrame(const std::vector<Extent> &dims, const std::vector<BufferSpec> &specs,
                         const std::vector<DimTiling> &given)
    : dims(dims), tilings(given) {
  for (size_t d = 0; d < dims.size(); ++d)
    if (dims[d].size && *dims[d].size <= tilings[d].block)
      tilings[d].block = 0; // one block has it all
  outputsBindSymbols();
  auto declare = [&](const Extent &extent) {
    if (!extent.size && !symbols.contains(extent.symbol))
      symbols.emplace(extent.symbol, Symbol(extent.symbol, rangeOf(extent)));
  };
  std::for_each(dims.begin(), dims.end(), declare);
  for (const BufferSpec &spec : specs)
    std::for_each(spec.shape.begin(), spec.shape.end(), declare);
  for (const BufferSpec &spec : specs) {
    Shape shape;
    for (const Extent &extent : spec.shape)
      shape.push_back(size(extent));
    buffers.push_back(spec.isOutput ? output(spec.name, spec.dtype, shape)
                                    : input(spec.name, spec.dtype, shape));
  }
  std::vector<Size> counts;
  std::vector<int64_t> blocks;
  for (size_t d = 0; d < dims.size(); ++d)
    if (tilings[d].block > 0) {
      counts.push_back(ceilDiv(size(dims[d]), tilings[d].block));
      blocks.push_back(tilings[d].programs);
    }
  if (counts.empty())
    counts.push_back(1), blocks.push_back(1);
  std::vector<Index> grid = gridOf(counts);
  hint("tile.block", blocks);
  for (size_t d = 0, next = 0; d < dims.size(); ++d)
    ids.push_back(tilings[d].block > 0 ? grid[next++] : Index(0));
}

Size KernelFrame::size(const Extent &extent) const {
  return extent.size ? Size(*extent.size) : symbols.at(extent.symbol);
}

Size KernelFrame::extent(int dim) const {
  return tilings[dim].block > 0 ? Size(tilings[dim].block) : size(dims[dim]);
}

void KernelFrame::take(int dim, int64_t block, const Index &number) {
  tilings[dim].block = block;
  ids[dim] = number;
}

KernelFrame::Box KernelFrame::boxOf(const Access &access) const {
  Box box;
  for (const Axis &axis : access.axes) {
    box.strides.push_back(axis.stride);
    Index position = axis.dim >= 0 && tilings[axis.dim].block > 0 ? first(axis.dim) : Index(0);
    if (axis.stride != 1)
      position = position * axis.stride;
    for (auto [dim, factor] : axis.dimTerms)
      position = position + first(dim) * factor;
    if (axis.offset != 0)
      position = position + axis.offset;
    box.positions.push_back(position);
    box.extents.push_back(axis.dim >= 0 ? extent(axis.dim) : Size(1));
  }
  if (std::all_of(box.strides.begin(), box.strides.end(), [](int64_t s) { return s == 1; }))
    box.strides.clear();
  return box;
}

/// Axes of the access in the sequence of `order`, then those that are one element.
static std::vector<int> axesInOrder(const Access &access, const std::vector<int> &order) {
  std::vector<int> axes(access.axes.size());
  std::iota(axes.begin(), axes.end(), 0);
  auto rank = [&](int axis) {
    return std::find(order.begin(), order.end(), access.axes[axis].dim) - order.begin();
  };
  std::sort(axes.begin(), axes.end(),
            [&](int a, int b) { return std::pair(rank(a), a) < std::pair(rank(b), b); });
  return axes;
}

static bool isIdentity(const std::vector<int> &permutation) {
  return std::is_sorted(permutation.begin(), permutation.end());
}

Tile KernelFrame::load(const Access &access, const std::vector<int> &order) const {
  Box box = boxOf(access);
  Tile tile =
      kernel::load(buffer(access.buffer), box.positions, box.extents, {.strides = box.strides});
  std::vector<int> axes = axesInOrder(access, order);
  if (!isIdentity(axes))
    tile = transpose(tile, axes);
  Shape shape;
  for (int dim : order)
    shape.push_back(access.covers(dim) ? extent(dim) : Size(1));
  return reshape(tile, shape);
}

void KernelFrame::store(const Access &access, const std::vector<int> &order,
                        const Tile &tile) const {
  Box box = boxOf(access);
  std::vector<int> axes = axesInOrder(access, order);
  Shape full, kept;
  for (int dim : order)
    full.push_back(access.covers(dim) ? extent(dim) : Size(1));
  for (int axis : axes)
    kept.push_back(box.extents[axis]);
  Tile value = reshape(broadcast(tile, full), kept);
  if (!isIdentity(axes)) {
    std::vector<int> back(axes.size());
    for (size_t i = 0; i < axes.size(); ++i)
      back[axes[i]] = int(i);
    value = transpose(value, back);
  }
  kernel::store(buffer(access.buffer), box.positions, value, {.strides = box.strides});
}

} // namespace tw::kernels
