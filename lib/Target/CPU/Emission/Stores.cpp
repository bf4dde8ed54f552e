// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stores of whole tiles, each in a loop over its elements; those of a group in one loop. In it all
// values of a point are computed before the first is stored: a buffer may be updated where it is
// read.
#include "Target/CPU/Emission/Emitter.h"

using namespace mlir;

namespace tw::target::cpu {

/// From where on elements lie outside the buffers of all stores, in each dimension that is limited.
static Indices limitsOf(Emitter &e, const StoreStep &plan) {
  if (plan.limited.empty())
    return {};
  IndexBuilder ix = e.ix();
  tile::StoreOp first = plan.group.front();
  Indices limits = e.extents(first.getTile());
  for (unsigned d : plan.limited) {
    Ix furthest = 0;
    for (tile::StoreOp store : plan.group) {
      const Ix &size = e.buffers.find(store.getBuffer())->second.sizes[d];
      furthest = ix.max(furthest, ix.sub(size, e.index(store.getPositions()[d])));
    }
    limits[d] = ix.min(limits[d], furthest);
  }
  return limits;
}

static LogicalResult storeTogether(Emitter &e, const StoreStep &plan, const Step &step) {
  ArrayRef<tile::StoreOp> stores = plan.group;
  SmallVector<Value> read; // with the masks, which may come from what is stored to
  for (tile::StoreOp store : stores)
    if (store.getMask())
      read.push_back(store.getMask());
  for (tile::StoreOp store : stores)
    read.push_back(store.getTile());
  if (failed(e.place(step.before)))
    return failure();
  Emitter::Scope scope(e);
  tile::StoreOp first = stores.front();
  Indices extents = e.extents(first.getTile());
  auto all = [&](const Point &point) -> LogicalResult {
    for (Value tile : read)
      if (failed(e.evaluate(tile, point)))
        return failure();
    for (tile::StoreOp store : stores)
      if (failed(e.store(store, point)))
        return failure();
    return success();
  };
  return e.overElements(extents, step.strips, all, limitsOf(e, plan));
}

static LogicalResult storeTile(Emitter &e, const StoreStep &plan, const Step &step) {
  tile::StoreOp op = plan.group.front();
  if (failed(e.place(step.before)))
    return failure();
  Emitter::Scope scope(e);
  auto one = [&](const Point &point) { return e.store(op, point); };
  return e.overElements(e.extents(op.getTile()), step.strips, one, limitsOf(e, plan));
}

LogicalResult Emitter::storeTiles(tile::StoreOp op, const Step &step) {
  const auto &plan = std::get<StoreStep>(step.detail);
  switch (plan.form) {
  case StoreStep::Form::Single:
    return storeTile(*this, plan, step);
  case StoreStep::Form::Group:
    return storeTogether(*this, plan, step);
  case StoreStep::Form::InGroup:
    return success();
  case StoreStep::Form::Interleaved:
    return storeInterleaved(op, step);
  }
  return failure();
}

} // namespace tw::target::cpu
