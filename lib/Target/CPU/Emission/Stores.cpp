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

LogicalResult Emitter::storeAt(const StoreStep &plan, const Point &point) {
  ArrayRef<tile::StoreOp> stores = plan.group;
  if (stores.size() == 1)
    return store(stores.front(), point);
  SmallVector<Value> read; // with the masks, which may come from what is stored to
  for (tile::StoreOp store : stores)
    if (store.getMask())
      read.push_back(store.getMask());
  for (tile::StoreOp store : stores)
    read.push_back(store.getTile());
  for (Value tile : read)
    if (failed(evaluate(tile, point)))
      return failure();
  for (tile::StoreOp one : stores)
    if (failed(store(one, point)))
      return failure();
  return success();
}

static LogicalResult storeAll(Emitter &e, const StoreStep &plan, const Step &step) {
  if (failed(e.place(step.before)))
    return failure();
  Emitter::Scope scope(e);
  tile::StoreOp first = plan.group.front();
  auto one = [&](const Point &point) { return e.storeAt(plan, point); };
  return e.overElements(e.extents(first.getTile()), step.strips, one, limitsOf(e, plan));
}

LogicalResult Emitter::storeTiles(tile::StoreOp op, const Step &step) {
  const auto &plan = std::get<StoreStep>(step.detail);
  switch (plan.form) {
  case StoreStep::Form::Single:
  case StoreStep::Form::Group:
    return storeAll(*this, plan, step);
  case StoreStep::Form::InGroup:
    return success();
  case StoreStep::Form::Interleaved:
    return storeInterleaved(op, step);
  }
  return failure();
}

} // namespace tw::target::cpu
