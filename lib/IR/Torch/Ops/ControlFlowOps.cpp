// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "IR/Torch/Ops.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "IR/Torch/ControlFlowOps.cpp.inc"

namespace tw::torch {

ParseResult IfOp::parse(OpAsmParser &parser, OperationState &result) {
  Region *thenRegion = result.addRegion(), *elseRegion = result.addRegion();
  OpAsmParser::UnresolvedOperand condition;
  if (parser.parseOperand(condition) ||
      parser.resolveOperand(condition, BoolType::get(parser.getContext()), result.operands) ||
      parser.parseArrowTypeList(result.types) || parser.parseRegion(*thenRegion) ||
      parser.parseKeyword("else") || parser.parseRegion(*elseRegion) ||
      parser.parseOptionalAttrDict(result.attributes))
    return failure();
  return success();
}

void IfOp::print(OpAsmPrinter &printer) {
  printer << " " << getCondition() << " -> (" << getResultTypes() << ") ";
  printer.printRegion(getThenRegion(), /*printEntryBlockArgs=*/false);
  printer << " else ";
  printer.printRegion(getElseRegion(), /*printEntryBlockArgs=*/false);
  printer.printOptionalAttrDict((*this)->getAttrs());
}

/// Checks that `region` ends in a `Terminator`.
template <typename Terminator>
static FailureOr<Terminator> terminatorOf(Operation *op, Region &region) {
  auto terminator = region.front().empty() ? nullptr : dyn_cast<Terminator>(region.front().back());
  if (terminator)
    return terminator;
  return op->emitOpError() << "needs regions that end in '" << Terminator::getOperationName()
                           << "'";
}

LogicalResult IfOp::verifyRegions() {
  for (Region *region : {&getThenRegion(), &getElseRegion()}) {
    if (region->getNumArguments())
      return emitOpError() << "has branches without arguments, got " << region->getNumArguments();
    FailureOr<IfYieldOp> yield = terminatorOf<IfYieldOp>(*this, *region);
    if (failed(yield))
      return failure();
    if (yield->getOperandTypes() != getResultTypes())
      return yield->emitOpError() << "gives (" << yield->getOperandTypes()
                                  << ") but 'torch.prim.If' returns (" << getResultTypes() << ")";
  }
  return success();
}

/// A known condition leaves one branch.
LogicalResult IfOp::canonicalize(IfOp op, PatternRewriter &rewriter) {
  std::optional<bool> condition = constantBool(op.getCondition());
  if (!condition)
    return rewriter.notifyMatchFailure(op, "the condition is not constant");
  Block &taken = (*condition ? op.getThenRegion() : op.getElseRegion()).front();
  Operation *yield = taken.getTerminator();
  SmallVector<Value> results(yield->getOperands());
  rewriter.eraseOp(yield);
  rewriter.inlineBlockBefore(&taken, op);
  rewriter.replaceOp(op, results);
  return success();
}

LogicalResult LoopOp::verifyRegions() {
  Region &body = getRegion();
  TypeRange carried = getIterArgsInit().getTypes();
  TypeRange arguments = body.getArgumentTypes();
  if (arguments.empty() || !isa<IntType>(arguments.front()) || arguments.drop_front() != carried)
    return emitOpError() << "needs a body that takes an !torch.int and the carried (" << carried
                         << "), got (" << arguments << ")";
  FailureOr<LoopConditionOp> condition = terminatorOf<LoopConditionOp>(*this, body);
  if (failed(condition))
    return failure();
  if (condition->getIterArgs().getTypes() != carried || getResultTypes() != carried)
    return emitOpError() << "carries (" << carried << ") but a round gives ("
                         << condition->getIterArgs().getTypes() << ") and the loop returns ("
                         << getResultTypes() << ")";
  return success();
}

} // namespace tw::torch
