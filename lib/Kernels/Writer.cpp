// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Kernels/Writer.h"
#include "Language/ByName.h"
#include <algorithm>
#include <numeric>

namespace tw::kernels {
using namespace tw::kernel;

Writer::Writer(const std::vector<Extent> &dims, const std::vector<BufferSpec> &specs,
               const std::vector<DType> &types, const std::vector<Walk> &walks)
    : dims(dims), walks(walks) {
  for (size_t d = 0; d < dims.size(); ++d)
    if (dims[d].size && *dims[d].size <= walks[d].block)
      this->walks[d].block = 0; // one block has it all
  outputsBindSymbols();
  auto declare = [&](const Extent &extent) {
    if (!extent.size && !symbols.contains(extent.symbol))
      symbols.emplace(extent.symbol, Symbol(extent.symbol));
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
  for (size_t i = 0; i < types.size(); ++i)
    scalars.push_back(kernel::scalar("n" + std::to_string(i), types[i]));
  std::vector<Size> counts;
  std::vector<int64_t> blocks;
  for (size_t d = 0; d < dims.size(); ++d)
    if (this->walks[d].block > 0 && this->walks[d].with < 0) {
      counts.push_back(ceilDiv(size(dims[d]), this->walks[d].block));
      blocks.push_back(this->walks[d].programs);
    }
  if (counts.empty())
    counts.push_back(1), blocks.push_back(1);
  std::vector<Index> grid = gridOf(counts);
  hint("tile.block", blocks);
  for (size_t d = 0, next = 0; d < dims.size(); ++d)
    ids.push_back(this->walks[d].block > 0 && this->walks[d].with < 0 ? grid[next++] : Index(0));
  for (size_t d = 0; d < dims.size(); ++d)
    if (this->walks[d].block > 0 && this->walks[d].with >= 0)
      ids[d] = ids[size_t(this->walks[d].with)];
}

Size Writer::size(const Extent &extent) const {
  return extent.size ? Size(*extent.size) : symbols.at(extent.symbol);
}

Size Writer::extent(int dim) const {
  if (auto part = parts.find(dim); part != parts.end())
    return part->second.count;
  return walks[dim].block > 0 ? Size(walks[dim].block) : size(dims[dim]);
}

void Writer::fix(int dim, const Index &position) {
  walks[dim].block = 1;
  ids[dim] = position;
}

void Writer::take(int dim, int64_t block, const Index &number) {
  walks[dim].block = block;
  ids[dim] = number;
}

void Writer::takeInside(int dim, const Size &count, const Index &begin) {
  parts.insert_or_assign(dim, Part{begin, count});
}

Index Writer::first(int dim) const {
  auto part = parts.find(dim);
  return part != parts.end() ? part->second.begin : ids[dim] * walks[dim].block;
}

bool Writer::hasEdge(int dim) const {
  return !parts.contains(dim) && walks[dim].block > 1 &&
         !(dims[dim].size && *dims[dim].size % walks[dim].block == 0);
}

Writer::Box Writer::boxOf(const Access &access) const {
  Box box;
  for (const Axis &axis : access.axes) {
    box.strides.push_back(axis.stride);
    Index position = axis.dim >= 0 && (parts.contains(axis.dim) || walks[axis.dim].block > 0)
                         ? first(axis.dim)
                         : Index(0);
    if (axis.stride != 1)
      position = position * axis.stride;
    if (axis.offset != 0)
      position = position + axis.offset;
    for (auto [place, factor] : axis.places)
      position = position + Index(scalars[place]) * factor;
    for (auto [dim, factor] : axis.shifts)
      position = position + ids[dim] * factor;
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
  auto place = [&](int axis) {
    return std::find(order.begin(), order.end(), access.axes[axis].dim) - order.begin();
  };
  std::sort(axes.begin(), axes.end(),
            [&](int a, int b) { return std::pair(place(a), a) < std::pair(place(b), b); });
  return axes;
}

static bool isIdentity(const std::vector<int> &permutation) {
  return std::is_sorted(permutation.begin(), permutation.end());
}

Tile Writer::load(const Access &access, const std::vector<int> &order, const Scalar &pad) const {
  Box box = boxOf(access);
  Tile tile = kernel::load(buffer(access.buffer), box.positions, box.extents,
                           {.strides = box.strides, .pad = pad});
  std::vector<int> axes = axesInOrder(access, order);
  if (!isIdentity(axes))
    tile = transpose(tile, axes);
  Shape shape;
  for (int dim : order)
    shape.push_back(access.covers(dim) ? extent(dim) : Size(1));
  return reshape(tile, shape);
}

Tile Writer::coordinate(int dim, const std::vector<int> &order) const {
  Shape shape;
  for (int other : order)
    shape.push_back(other == dim ? extent(dim) : Size(1));
  int axis = int(std::find(order.begin(), order.end(), dim) - order.begin());
  return iota(shape, axis, i64, first(dim));
}

/// A tile with an axis for each of `order` as the box of an access has it.
Tile Writer::inBox(const Access &access, const std::vector<int> &order, const Box &box,
                   Tile tile) const {
  std::vector<int> axes = axesInOrder(access, order);
  Shape full, kept;
  for (int dim : order)
    full.push_back(access.covers(dim) ? extent(dim) : Size(1));
  for (int axis : axes)
    kept.push_back(box.extents[axis]);
  tile = reshape(broadcast(tile, full), kept);
  if (isIdentity(axes))
    return tile;
  std::vector<int> back(axes.size());
  for (size_t i = 0; i < axes.size(); ++i)
    back[axes[i]] = int(i);
  return transpose(tile, back);
}

/// Where a block ends beyond its dimension, but not beyond the buffer; empty if it does not.
Tile Writer::insideParts(const Access &access, const std::vector<int> &order) const {
  Tile mask;
  for (const Axis &axis : access.axes)
    if (axis.dim >= 0 && axis.isPart && hasEdge(axis.dim)) {
      Tile own = coordinate(axis.dim, order) < size(dims[axis.dim]);
      mask = mask.ref().index() == 0 ? own : mask && own;
    }
  return mask;
}

void Writer::update(const Access &access, const std::vector<int> &order, const Tile &tile,
                    const std::vector<Index> &positions, const Combine &combine) const {
  Box box = boxOf(access);
  for (size_t axis = 0, next = 0; axis < access.axes.size(); ++axis)
    if (access.axes[axis].dim < 0)
      box.positions[axis] = positions[next++];
  StoreOptions options;
  if (Tile mask = insideParts(access, order); mask.ref().index() != 0)
    options.mask = inBox(access, order, box, mask);
  Tile value = inBox(access, order, box, tile);
  if (combine)
    value = combine(kernel::load(buffer(access.buffer), box.positions, box.extents), value);
  kernel::store(buffer(access.buffer), box.positions, value, options);
}

void Writer::updateElements(const Access &access, const std::vector<int> &order, const Tile &tile,
                            const std::vector<Tile> &places, const Combine &combine) const {
  Shape shape;
  for (int dim : order)
    shape.push_back(access.covers(dim) ? extent(dim) : Size(1));
  Positions positions;
  Tile mask;
  size_t next = 0;
  for (const Axis &axis : access.axes) {
    Tile place = axis.dim < 0 ? places[next++] : coordinate(axis.dim, order);
    if (axis.dim >= 0 && hasEdge(axis.dim)) {
      Tile own = place < size(dims[axis.dim]);
      mask = mask.ref().index() == 0 ? own : mask && own;
    }
    positions.push_back(broadcast(place, shape));
  }
  if (mask.ref().index() != 0)
    mask = broadcast(mask, shape);
  Tile value = broadcast(tile, shape);
  if (combine)
    value = combine(gather(buffer(access.buffer), positions, {.mask = mask}), value);
  scatter(buffer(access.buffer), positions, value, {.mask = mask});
}

void Writer::store(const Access &access, const std::vector<int> &order, const Tile &tile) const {
  Box box = boxOf(access);
  StoreOptions options{.strides = box.strides};
  if (Tile mask = insideParts(access, order); mask.ref().index() != 0)
    options.mask = inBox(access, order, box, mask);
  kernel::store(buffer(access.buffer), box.positions, inBox(access, order, box, tile), options);
}

} // namespace tw::kernels
