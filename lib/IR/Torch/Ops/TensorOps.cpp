// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "IR/Torch/Ops.h"
#include "Support/Size.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "IR/Torch/TensorOps.cpp.inc"

namespace tw::torch {

//===----------------------------------------------------------------------===//
// Value semantics and static information
//===----------------------------------------------------------------------===//

static NonValueTensorType withoutValueSemantics(ValueTensorType type) {
  return NonValueTensorType::get(type.getContext(), type.getHasSizes(), type.getSizes(),
                                 type.getDtype(), type.getSparsity());
}
static ValueTensorType withValueSemantics(NonValueTensorType type) {
  return ValueTensorType::get(type.getContext(), type.getHasSizes(), type.getSizes(),
                              type.getDtype(), type.getSparsity());
}

/// Sizes and dtype of either tensor type, to compare across the two.
static ValueTensorType contents(Type type) {
  if (auto tensor = dyn_cast<NonValueTensorType>(type))
    return withValueSemantics(tensor);
  return cast<ValueTensorType>(type);
}

/// False when the two contradict each other in a size or in the dtype.
static bool mayBeEqual(ValueTensorType a, ValueTensorType b) {
  if (a.getDtype() && b.getDtype() && a.getDtype() != b.getDtype())
    return false;
  if (!a.getHasSizes() || !b.getHasSizes())
    return true;
  return a.getSizes().size() == b.getSizes().size() &&
         llvm::all_of(llvm::zip_equal(a.getSizes(), b.getSizes()), [](auto pair) {
           auto [x, y] = pair;
           return x == y || x == ValueTensorType::kUnknownSize ||
                  y == ValueTensorType::kUnknownSize;
         });
}

LogicalResult TensorStaticInfoCastOp::verify() {
  Type from = getOperand().getType(), to = getType();
  if (isa<ValueTensorType>(from) != isa<ValueTensorType>(to))
    return emitOpError() << "cannot change value semantics, got " << from << " to " << to
                         << "; use torch.copy.to_tensor or torch.copy.to_vtensor";
  if (!mayBeEqual(contents(from), contents(to)))
    return emitOpError() << "contradicts what is known: " << from << " is no " << to;
  return success();
}

LogicalResult TensorStaticInfoCastOp::canonicalize(TensorStaticInfoCastOp op,
                                                   PatternRewriter &rewriter) {
  if (op.getOperand().getType() == op.getType()) {
    rewriter.replaceOp(op, op.getOperand());
    return success();
  }
  auto inner = op.getOperand().getDefiningOp<TensorStaticInfoCastOp>();
  if (!inner || inner.getOperand().getType() != op.getType())
    return rewriter.notifyMatchFailure(op, "is not the inverse of another cast");
  rewriter.replaceOp(op, inner.getOperand());
  return success();
}

/// `%x : !torch.vtensor<...>`: both copies print the type of the result, which gives the operand's.
template <typename ResultType>
static ParseResult parseCopy(OpAsmParser &parser, OperationState &result,
                             function_ref<Type(ResultType)> operandType) {
  OpAsmParser::UnresolvedOperand operand;
  ResultType type;
  if (parser.parseOperand(operand) || parser.parseOptionalAttrDict(result.attributes) ||
      parser.parseColonType(type) ||
      parser.resolveOperand(operand, operandType(type), result.operands))
    return failure();
  result.addTypes(type);
  return success();
}

static void printCopy(OpAsmPrinter &printer, Operation *op) {
  printer << " " << op->getOperand(0);
  printer.printOptionalAttrDict(op->getAttrs());
  printer << " : " << op->getResult(0).getType();
}

ParseResult CopyToNonValueTensorOp::parse(OpAsmParser &parser, OperationState &result) {
  return parseCopy<NonValueTensorType>(parser, result, withValueSemantics);
}
ParseResult CopyToValueTensorOp::parse(OpAsmParser &parser, OperationState &result) {
  return parseCopy<ValueTensorType>(parser, result, withoutValueSemantics);
}
void CopyToNonValueTensorOp::print(OpAsmPrinter &printer) { printCopy(printer, *this); }
void CopyToValueTensorOp::print(OpAsmPrinter &printer) { printCopy(printer, *this); }

LogicalResult CopyToNonValueTensorOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                                       ValueRange operands, DictionaryAttr,
                                                       OpaqueProperties, RegionRange,
                                                       SmallVectorImpl<Type> &types) {
  auto operand = dyn_cast<ValueTensorType>(operands.front().getType());
  if (operand)
    types.push_back(withoutValueSemantics(operand));
  return success(operand != nullptr);
}
LogicalResult CopyToValueTensorOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                                    ValueRange operands, DictionaryAttr,
                                                    OpaqueProperties, RegionRange,
                                                    SmallVectorImpl<Type> &types) {
  auto operand = dyn_cast<NonValueTensorType>(operands.front().getType());
  if (operand)
    types.push_back(withValueSemantics(operand));
  return success(operand != nullptr);
}

using Effects = SmallVectorImpl<MemoryEffects::EffectInstance>;
void CopyToNonValueTensorOp::getEffects(Effects &effects) {
  effects.emplace_back(MemoryEffects::Allocate::get(), getOperation()->getOpResult(0));
}
void CopyToValueTensorOp::getEffects(Effects &effects) {
  effects.emplace_back(MemoryEffects::Read::get(), &getOperation()->getOpOperand(0));
}

LogicalResult OverwriteTensorContentsOp::verify() {
  if (withoutValueSemantics(getValue().getType()) != getOverwritten().getType())
    return emitOpError() << "needs the same sizes and dtype on both sides, got "
                         << getValue().getType() << " and " << getOverwritten().getType();
  return success();
}

//===----------------------------------------------------------------------===//
// Symbolic sizes and run-time checks
//===----------------------------------------------------------------------===//

LogicalResult SymbolicIntOp::verify() {
  if (!Size::isSymbolName(getSymbolName()))
    return emitOpError() << "\"" << getSymbolName() << "\" cannot be the name of a symbol";
  int64_t low = getMinValAttr().getInt(), high = getMaxValAttr().getInt();
  if (std::max<int64_t>(low, 0) > high) // symbols are sizes
    return emitOpError() << "\"" << getSymbolName() << "\" has an empty range: min_val = " << low
                         << ", max_val = " << high;
  return success();
}

ParseResult BindSymbolicShapeOp::parse(OpAsmParser &parser, OperationState &result) {
  OpAsmParser::UnresolvedOperand operand;
  SmallVector<OpAsmParser::UnresolvedOperand> symbols;
  AffineMapAttr expressions;
  Type type;
  auto intType = IntType::get(parser.getContext());
  if (parser.parseOperand(operand) || parser.parseComma() ||
      parser.parseOperandList(symbols, OpAsmParser::Delimiter::Square) || parser.parseComma() ||
      parser.parseAttribute(expressions, "shape_expressions", result.attributes) ||
      parser.parseOptionalAttrDict(result.attributes) || parser.parseColonType(type) ||
      parser.resolveOperand(operand, type, result.operands) ||
      parser.resolveOperands(symbols, intType, result.operands))
    return failure();
  return success();
}

// By hand so that the map stands here and not behind an alias at the top of the file.
void BindSymbolicShapeOp::print(OpAsmPrinter &printer) {
  printer << " " << getOperand() << ", [" << getShapeSymbols() << "], affine_map<"
          << getShapeExpressions() << ">";
  printer.printOptionalAttrDict((*this)->getAttrs(), {"shape_expressions"});
  printer << " : " << getOperand().getType();
}

LogicalResult BindSymbolicShapeOp::verify() {
  AffineMap map = getShapeExpressions();
  if (map.getNumDims() != 0 || map.getNumSymbols() != getShapeSymbols().size())
    return emitOpError() << "has " << getShapeSymbols().size() << " symbols but its map takes "
                         << map.getNumSymbols() << " symbols and " << map.getNumDims()
                         << " dimensions";
  if (getOperand().getType().getHasSizes() &&
      map.getNumResults() != getOperand().getType().getSizes().size())
    return emitOpError() << "has expressions for " << map.getNumResults()
                         << " sizes but its tensor is " << getOperand().getType();
  for (Value symbol : getShapeSymbols())
    if (!symbol.getDefiningOp<SymbolicIntOp>())
      return emitOpError() << "takes symbols only from torch.symbolic_int";
  return success();
}

LogicalResult RuntimeAssertOp::canonicalize(RuntimeAssertOp op, PatternRewriter &rewriter) {
  if (constantBool(op.getCondition()) != true)
    return rewriter.notifyMatchFailure(op, "the condition is not known to hold");
  rewriter.eraseOp(op);
  return success();
}

} // namespace tw::torch
