// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The operations of a block in order.
#include "IR/Tile/Elementwise.h"
#include "Target/NVIDIA/Emission/Emitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tw::target::nvidia {

void Emitter::emitScalar(Operation *op) {
  Value result = op->getResult(0);
  if (auto id = dyn_cast<tile::ProgramIdOp>(op)) {
    scalars[result] = ix().value(programIds[id.getDim()]);
  } else if (auto own = dyn_cast<tile::SizeOp>(op)) {
    scalars[result] = ix().value(size(own.getSize().getSize()));
  } else if (auto number = dyn_cast<arith::ConstantOp>(op)) {
    TypedAttr value = number.getValue();
    if (result.getType().isIndex())
      value = b.getI64IntegerAttr(cast<IntegerAttr>(value).getInt());
    scalars[result] = arith::ConstantOp::create(b, loc, value);
  } else {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(scalar(operand));
    scalars[result] = elementwise(op, operands);
  }
}

/// A tile that is pure: it is materialized now, or is computed where it is used.
static LogicalResult place(Emitter &e, Operation *op) {
  Value tile = op->getResult(0);
  if (tile.use_empty() || e.materialized.contains(tile) || !e.isMaterialized(tile))
    return success();
  if (e.hasElementOfRow(tile) && tile::isElementwise(op))
    return e.computeElementsOfRows(tile);
  Scratch scratch = e.scratchFor(tile);
  if (failed(e.fill(scratch, tile)))
    return failure();
  e.materialized[tile] = scratch;
  return success();
}

static LogicalResult extract(Emitter &e, tile::ExtractOp op) {
  auto rank = cast<RankedTensorType>(op.getOperand().getType()).getRank();
  FailureOr<Value> value = e.evaluate(op.getOperand(), Point(rank, Ix(0)));
  if (succeeded(value))
    e.scalars[op.getResult()] = *value;
  return success(succeeded(value));
}

bool Emitter::isScalar(Operation *op) {
  return op->getNumResults() == 1 && !isa<RankedTensorType>(op->getResult(0).getType()) &&
         (isa<tile::ProgramIdOp, tile::SizeOp, arith::ConstantOp>(op) || tile::isElementwise(op));
}

static LogicalResult emitOperation(Emitter &e, Operation *op) {
  if (Emitter::isScalar(op)) {
    e.emitScalar(op);
    return success();
  }
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](tile::StoreOp o) { return e.store(o); })
      .Case([&](tile::ScatterOp o) { return e.scatter(o); })
      .Case([&](tile::CheckOp o) { return e.check(o); })
      .Case([&](tile::ReduceOp o) { return e.reduce(o); })
      .Case([&](tile::ScanOp o) { return e.scan(o); })
      .Case([&](tile::SortOp o) { return e.sort(o); })
      .Case([&](tile::DotOp o) { return e.dot(o); })
      .Case([&](tile::ForOp o) { return e.forLoop(o); })
      .Case([&](scf::IfOp o) { return e.branch(o); })
      .Case([&](tile::ExtractOp o) { return extract(e, o); })
      .Default([&](Operation *o) { return place(e, o); });
}

LogicalResult Emitter::block(Block &block) {
  for (Operation &op : block)
    if (isCancelled(cancellation) ||
        (!op.hasTrait<OpTrait::IsTerminator>() && failed(emitOperation(*this, &op))))
      return failure();
  return success();
}

} // namespace tw::target::nvidia
