// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stores of tiles whose last dimension has two to four elements: vectors along the dimension before
// it are interleaved, so that whole vectors are stored:
//
//   [a0 a1 a2 a3], [b0 b1 b2 b3]  ->  [a0 b0 a1 b1], [a2 b2 a3 b3]
#include "Target/CPU/Emission/Emitter.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace tw::target::cpu {

/// Vector `number` of those that `parts` are interleaved to.
static Value interleaved(Emitter &e, ArrayRef<Value> parts, int64_t number) {
  int64_t count = parts.size(), lanes = e.lanes;
  Value all = parts[0];
  for (int64_t part = 1; part < count; ++part) {
    SmallVector<int64_t> from;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      int64_t element = number * lanes + lane, own = element % count, place = element / count;
      from.push_back(own > part    ? -1
                     : own == part ? int64_t(lanes + place)
                     : part == 1   ? int64_t(place)
                                   : int64_t(lane));
    }
    all = vector::ShuffleOp::create(e.b, e.loc, all, parts[part], from);
  }
  return all;
}

LogicalResult Emitter::storeInterleaved(tile::StoreOp op, const Step &step) {
  Value tile = op.getTile();
  Indices all = extents(tile), outer = all;
  int64_t count = *all.back().constant();
  outer.back() = 1;
  if (failed(place(step.before)))
    return failure();
  const Buffer &buffer = buffers.find(op.getBuffer())->second;
  Scope scope(*this);
  return overElements(outer, step.strips, [&](const Point &point) -> LogicalResult {
    Ix first = 0;
    for (auto [d, position] : llvm::enumerate(op.getPositions()))
      first = ix().add(first, ix().mul(ix().add(index(position), point.at[d]), buffer.strides[d]));
    SmallVector<Value> parts;
    for (int64_t part = 0; part < count; ++part) {
      Point at = point;
      at.at.back() = part;
      FailureOr<Value> value = evaluate(tile, at);
      if (failed(value))
        return failure();
      parts.push_back(point.lane >= 0 ? asVector(*value) : *value);
    }
    bool isWhole = point.lane >= 0 && !mask;
    for (int64_t part = 0; part < count; ++part) {
      if (isWhole)
        storeTo(interleaved(*this, parts, part), buffer.base, buffer.element,
                ix().add(first, part * int64_t(lanes)), 1, {});
      else
        storeTo(parts[part], buffer.base, buffer.element, ix().add(first, part), count,
                point.lane >= 0 ? mask : Value());
    }
    return success();
  });
}

} // namespace tw::target::cpu
