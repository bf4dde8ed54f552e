// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tensor.extract_slice and tensor.insert_slice: copies, element by element.
#include "Target/Reference/PlainLoops.h"

using namespace mlir;

namespace tw::target::reference {

/// Calls `move` with each position in a slice of these sizes and the one in the whole tensor.
template <typename SliceOp>
static LogicalResult overSlice(SliceOp op, const Indices &sizes, Emitter &e,
                               llvm::function_ref<void(ArrayRef<Ix>, ArrayRef<Ix>)> move) {
  FailureOr<Indices> offsets = e.indices(op.getMixedOffsets());
  FailureOr<Indices> strides = e.indices(op.getMixedStrides());
  if (failed(offsets) || failed(strides))
    return failure();
  llvm::SmallBitVector dropped = op.getDroppedDims();
  e.nest(sizes, [&](ArrayRef<Ix> part) {
    Indices whole = *offsets;
    for (unsigned d = 0, next = 0; d < whole.size(); ++d)
      if (!dropped.test(d))
        whole[d] = e.ix().add(whole[d], e.ix().mul(part[next++], (*strides)[d]));
    move(part, whole);
  });
  return success();
}

LogicalResult emitExtractSlice(tensor::ExtractSliceOp op, Emitter &e) {
  const Buffer from = e.buffer(op.getSource()), to = e.buffer(op.getResult());
  return overSlice(op, to.sizes, e, [&](ArrayRef<Ix> part, ArrayRef<Ix> whole) {
    e.store(e.load(from, whole), to, part);
  });
}

LogicalResult emitInsertSlice(tensor::InsertSliceOp op, Emitter &e) {
  const Buffer from = e.buffer(op.getSource()), to = e.buffer(op.getResult());
  return overSlice(op, from.sizes, e, [&](ArrayRef<Ix> part, ArrayRef<Ix> whole) {
    e.store(e.load(from, part), to, whole);
  });
}

} // namespace tw::target::reference
