// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tile.scan: in vectors across the dimension that is scanned, else one element after the other.
#include "Target/CPU/Emission/Emitter.h"
#include "Target/Common/Operations/Combine.h"

using namespace mlir;

namespace tw::target::cpu {

LogicalResult Emitter::scan(tile::ScanOp op, const Step &step) {
  auto type = cast<RankedTensorType>(op.getOperand().getType());
  Type element = scalarType(type.getElementType());
  bool isHalf = element.isF16() || element.isBF16();
  Type state = isHalf ? Type(b.getF32Type()) : element;
  Indices all = extents(op.getOperand()), others = all;
  int axis = op.getAxis();
  if (failed(place(step.before)))
    return failure();
  others[axis] = 1;
  Memory room = allocate(tile::extentsOf(type), type.getElementType());
  auto line = [&](const Point &first) -> LogicalResult {
    Value start = scanIdentity(b, loc, op.getKind(), state);
    SmallVector<Value> carried = {first.lane >= 0 ? asVector(start) : start};
    return loop(0, all[axis], 1, carried, [&](const Ix &at) -> LogicalResult {
      Point point = first;
      point.at[axis] = op.getReverse() ? ix().sub(ix().sub(all[axis], 1), at) : at;
      FailureOr<Value> found = evaluate(op.getOperand(), point);
      if (failed(found))
        return failure();
      Value value = point.lane >= 0 ? asVector(*found) : *found;
      carried[0] = emitScanStep(b, loc, op.getKind(), carried[0], convertFloat(value, state));
      write(room, point, convertFloat(carried[0], element));
      return success();
    });
  };
  {
    Scope scope(*this);
    if (failed(overElements(others, step.strips, line)))
      return failure();
  }
  memory[op.getResult()] = room;
  return success();
}

} // namespace tw::target::cpu
