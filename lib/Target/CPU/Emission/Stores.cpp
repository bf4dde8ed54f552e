// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stores of whole tiles, each in a loop over its elements; those of a group in one loop. In it all
// values of a point are computed before the first is stored: a buffer may be updated where it is
// read.
#include "Target/CPU/Emission/Emitter.h"

using namespace mlir;

namespace tw::target::cpu {

static LogicalResult storeTogether(Emitter &e, ArrayRef<tile::StoreOp> stores, const Step &step) {
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
  return e.overElements(extents, step.strips, [&](const Point &point) -> LogicalResult {
    for (Value tile : read)
      if (failed(e.evaluate(tile, point)))
        return failure();
    for (tile::StoreOp store : stores)
      if (failed(e.store(store, point)))
        return failure();
    return success();
  });
}

static LogicalResult storeTile(Emitter &e, tile::StoreOp op, const Step &step) {
  if (failed(e.place(step.before)))
    return failure();
  Emitter::Scope scope(e);
  return e.overElements(e.extents(op.getTile()), step.strips,
                        [&](const Point &point) { return e.store(op, point); });
}

LogicalResult Emitter::storeTiles(tile::StoreOp op, const Step &step) {
  const auto &plan = std::get<StoreStep>(step.detail);
  switch (plan.form) {
  case StoreStep::Form::Single:
    return storeTile(*this, op, step);
  case StoreStep::Form::Group:
    return storeTogether(*this, plan.group, step);
  case StoreStep::Form::InGroup:
    return success();
  case StoreStep::Form::Interleaved:
    return storeInterleaved(op, step);
  }
  return failure();
}

} // namespace tw::target::cpu
