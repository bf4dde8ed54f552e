// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tile.for: text, rules, and what passes on loops ask.
#include "IR/Tile/Tile.h"
#include "Support/Checked.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tw::tile;

SmallVector<Region *> ForOp::getLoopRegions() { return {&getBody()}; }
MutableArrayRef<OpOperand> ForOp::getInitsMutable() {
  return getOperation()->getOpOperands().drop_front(3);
}
Block::BlockArgListType ForOp::getRegionIterArgs() { return getCarried(); }
std::optional<MutableArrayRef<OpOperand>> ForOp::getYieldedValuesMutable() {
  return getBody().front().getTerminator()->getOpOperands();
}
std::optional<ResultRange> ForOp::getLoopResults() { return getResults(); }

std::optional<int64_t> ForOp::constantTripCount() {
  if (getBegin() == getEnd())
    return 0;
  APInt begin, end, step;
  if (!matchPattern(getBegin(), m_ConstantInt(&begin)) ||
      !matchPattern(getEnd(), m_ConstantInt(&end)) ||
      !matchPattern(getStep(), m_ConstantInt(&step)))
    return std::nullopt;
  uint64_t trips = tw::tripCount(begin.getSExtValue(), end.getSExtValue(), step.getSExtValue());
  return trips <= INT64_MAX ? std::optional(int64_t(trips)) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

/// `(%x = %init : type, ...)`; values without "= %init" where `inits` is null.
static ParseResult parseCarried(OpAsmParser &parser,
                                SmallVectorImpl<OpAsmParser::Argument> &arguments,
                                SmallVectorImpl<OpAsmParser::UnresolvedOperand> *inits) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, [&]() -> ParseResult {
    OpAsmParser::Argument &argument = arguments.emplace_back();
    if (failed(parser.parseArgument(argument)))
      return failure();
    if (inits &&
        (failed(parser.parseEqual()) || failed(parser.parseOperand(inits->emplace_back()))))
      return failure();
    return parser.parseColonType(argument.type);
  });
}

ParseResult ForOp::parse(OpAsmParser &parser, OperationState &result) {
  Type index = parser.getBuilder().getIndexType();
  OpAsmParser::Argument variable;
  OpAsmParser::UnresolvedOperand begin, end, step;
  if (failed(parser.parseArgument(variable)) || failed(parser.parseEqual()) ||
      failed(parser.parseOperand(begin)) || failed(parser.parseKeyword("to")) ||
      failed(parser.parseOperand(end)) || failed(parser.parseKeyword("step")) ||
      failed(parser.parseOperand(step)))
    return failure();
  variable.type = index;
  SmallVector<OpAsmParser::Argument> arguments = {variable}, states;
  SmallVector<OpAsmParser::UnresolvedOperand> inits;
  if (succeeded(parser.parseOptionalKeyword("carry")) &&
      failed(parseCarried(parser, arguments, &inits)))
    return failure();
  SMLoc loc = parser.getCurrentLocation();
  for (const auto &argument : ArrayRef(arguments).drop_front())
    result.addTypes(argument.type);
  for (const auto &bound : {begin, end, step})
    if (failed(parser.resolveOperand(bound, index, result.operands)))
      return failure();
  if (failed(parser.resolveOperands(inits, result.types, loc, result.operands)))
    return failure();
  Region *body = result.addRegion(), *combine = result.addRegion();
  if (failed(parser.parseRegion(*body, arguments)))
    return failure();
  ensureTerminator(*body, parser.getBuilder(), result.location);
  if (succeeded(parser.parseOptionalKeyword("combine"))) {
    if (succeeded(parser.parseOptionalKeyword("commutative")))
      result.getOrAddProperties<Properties>().commutative = parser.getBuilder().getUnitAttr();
    if (failed(parseCarried(parser, states, nullptr)) ||
        failed(parser.parseRegion(*combine, states)))
      return failure();
  }
  if (!combine->empty())
    ensureTerminator(*combine, parser.getBuilder(), result.location);
  return parser.parseOptionalAttrDict(result.attributes);
}

void ForOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getInductionVar() << " = " << getBegin() << " to " << getEnd() << " step "
          << getStep();
  if (!getInitial().empty()) {
    printer << " carry (";
    llvm::interleaveComma(llvm::zip(getCarried(), getInitial()), printer, [&](auto pair) {
      auto [value, init] = pair;
      printer << value << " = " << init << " : " << init.getType();
    });
    printer << ')';
  }
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false,
                      /*printBlockTerminators=*/!getInitial().empty());
  if (canSplit()) {
    printer << (getCommutative() ? " combine commutative (" : " combine (");
    llvm::interleaveComma(getCombine().getArguments(), printer, [&](BlockArgument value) {
      printer << value << " : " << value.getType();
    });
    printer << ") ";
    printer.printRegion(getCombine(), /*printEntryBlockArgs=*/false);
  }
  printer.printOptionalAttrDict((*this)->getAttrs(), {getCommutativeAttrName()});
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

LogicalResult ForOp::verify() {
  if (getInitial().getTypes() != getResultTypes())
    return emitOpError("results and inits have different types");
  for (Type type : getResultTypes())
    if (auto why = whyNotTile(type))
      return emitOpError("carries ") << *why;
  SmallVector<Type> carried = {IndexType::get(getContext())};
  llvm::append_range(carried, getResultTypes());
  if (getBody().getArgumentTypes() != TypeRange(carried))
    return emitOpError("the body takes the index and what is carried");
  if (!canSplit())
    return getCommutative() ? emitOpError("is commutative, but has no combine") : success();
  if (getInitial().empty())
    return emitOpError("carries nothing, so there is nothing to combine");
  SmallVector<Type> states(getResultTypes());
  llvm::append_range(states, getResultTypes());
  if (getCombine().getArgumentTypes() != TypeRange(states))
    return emitOpError("combine takes two states, each what is carried");
  if (!isa<KernelOp>((*this)->getParentOp()))
    return emitOpError("a loop that can be split stands at the top level of the kernel");
  return success();
}

/// A launch may run what stands before the loop, and the loop, more than once.
static LogicalResult verifySplit(ForOp loop) {
  auto hasEffect = [](Operation *op) { return isa<StoreOp, ScatterOp, CheckOp>(op); };
  for (Operation &op : *loop->getBlock()) {
    WalkResult result = op.walk([&](Operation *inner) {
      bool other = isa<ForOp>(inner) && inner != loop && cast<ForOp>(inner).canSplit();
      if (other || (hasEffect(inner) && !loop->isBeforeInBlock(&op)))
        return inner->emitOpError(other ? "is a second loop that can be split"
                                        : "stands before or in a loop that can be split"),
               WalkResult::interrupt();
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      return failure();
  }
  WalkResult result = loop.getCombine().walk([&](Operation *inner) {
    return isMemoryEffectFree(inner) ? WalkResult::advance() : WalkResult::interrupt();
  });
  return result.wasInterrupted() ? loop.emitOpError("combine uses memory") : success();
}

LogicalResult ForOp::verifyRegions() {
  // The interface compares what is yielded, but takes nothing for enough.
  if (getBody().front().getTerminator()->getOperandTypes() != getResultTypes())
    return emitOpError("the body yields other types than are carried");
  if (!canSplit())
    return success();
  if (getCombine().front().getTerminator()->getOperandTypes() != getResultTypes())
    return emitOpError("combine yields other types than are carried");
  return verifySplit(*this);
}
