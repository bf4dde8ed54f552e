// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Constants: text, suggested value names (%int3, %float1.000000e-05, %none), access.
#include "IR/Torch/Ops.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "IR/Torch/ConstantOps.cpp.inc"

namespace tw::torch {

ParseResult ConstantIntOp::parse(OpAsmParser &parser, OperationState &result) {
  int64_t value;
  if (parser.parseInteger(value) || parser.parseOptionalAttrDict(result.attributes))
    return failure();
  result.addTypes(IntType::get(parser.getContext()));
  result.addAttribute("value", parser.getBuilder().getI64IntegerAttr(value));
  return success();
}

void ConstantIntOp::print(OpAsmPrinter &printer) {
  printer << " " << getValueAttr().getInt();
  printer.printOptionalAttrDict((*this)->getAttrs(), {"value"});
}

OpFoldResult ConstantIntOp::fold(FoldAdaptor) { return getValueAttr(); }
OpFoldResult ConstantFloatOp::fold(FoldAdaptor) { return getValueAttr(); }
OpFoldResult ConstantBoolOp::fold(FoldAdaptor) { return getValueAttr(); }
OpFoldResult ConstantStrOp::fold(FoldAdaptor) { return getValueAttr(); }
OpFoldResult ConstantNumberOp::fold(FoldAdaptor) { return getValueAttr(); }
OpFoldResult ConstantNoneOp::fold(FoldAdaptor) {
  return TypeAttr::get(NoneType::get(getContext()));
}

/// An int or a float with its own type, seen as a number: lowerings ask for no third kind.
LogicalResult ConstantNumberOp::canonicalize(ConstantNumberOp op, PatternRewriter &rewriter) {
  Value value;
  if (auto integer = dyn_cast<IntegerAttr>(op.getValueAttr()))
    value = ConstantIntOp::create(rewriter, op.getLoc(), integer);
  else
    value = ConstantFloatOp::create(rewriter, op.getLoc(), cast<FloatAttr>(op.getValueAttr()));
  rewriter.replaceOpWithNewOp<DerefineOp>(op, op.getType(), value);
  return success();
}

using NameResult = function_ref<void(Value, StringRef)>;

void ConstantIntOp::getAsmResultNames(NameResult setName) {
  setName(getResult(), "int" + std::to_string(getValueAttr().getInt()));
}
void ConstantFloatOp::getAsmResultNames(NameResult setName) {
  SmallString<32> text;
  getValue().toString(text, /*FormatPrecision=*/6, /*FormatMaxPadding=*/0, /*TruncateZero=*/false);
  // The '+' of an exponent cannot stand in a name.
  llvm::erase_if(text, [](char c) { return !llvm::isAlnum(c) && !StringRef("_$.-").contains(c); });
  setName(getResult(), ("float" + text).str());
}
void ConstantBoolOp::getAsmResultNames(NameResult setName) {
  setName(getResult(), getValue() ? "true" : "false");
}
void ConstantStrOp::getAsmResultNames(NameResult setName) { setName(getResult(), "str"); }
void ConstantNoneOp::getAsmResultNames(NameResult setName) { setName(getResult(), "none"); }
void ConstantDeviceOp::getAsmResultNames(NameResult setName) { setName(getResult(), getValue()); }

//===----------------------------------------------------------------------===//
// Literal tensors
//===----------------------------------------------------------------------===//

OpFoldResult ValueTensorLiteralOp::fold(FoldAdaptor) { return getValueAttr(); }

/// The element type of a literal as a dtype: signless integers but i1 are signed.
static Type literalDtype(Type element) {
  auto integer = dyn_cast<IntegerType>(element);
  if (!integer || !integer.isSignless() || integer.getWidth() == 1)
    return element;
  return IntegerType::get(element.getContext(), integer.getWidth(), IntegerType::Signed);
}

LogicalResult ValueTensorLiteralOp::inferReturnTypes(MLIRContext *context, std::optional<Location>,
                                                     ValueRange, DictionaryAttr,
                                                     OpaqueProperties properties, RegionRange,
                                                     SmallVectorImpl<Type> &types) {
  ElementsAttr value = properties.as<Properties *>()->value;
  auto tensor = value ? dyn_cast<RankedTensorType>(value.getType()) : RankedTensorType();
  if (!tensor)
    return failure();
  types.push_back(
      getValueTensor(context, tensor.getShape(), literalDtype(tensor.getElementType())));
  return success();
}

bool ValueTensorLiteralOp::isCompatibleReturnTypes(TypeRange inferred, TypeRange actual) {
  auto a = cast<ValueTensorType>(inferred.front()), b = dyn_cast<ValueTensorType>(actual.front());
  if (!b || !b.getHasSizes() || a.getSizes() != b.getSizes())
    return false;
  auto x = dyn_cast<IntegerType>(a.getDtype());
  auto y = dyn_cast_or_null<IntegerType>(b.getDtype());
  return a.getDtype() == b.getDtype() || (x && y && x.getWidth() == y.getWidth());
}

LogicalResult NonValueTensorLiteralOp::verify() {
  auto tensor = dyn_cast<RankedTensorType>(getValue().getType());
  if (!tensor)
    return emitOpError() << "needs the contents of a tensor, got " << getValue().getType();
  auto whole = NonValueTensorType::get(getContext(), true, tensor.getShape(),
                                       literalDtype(tensor.getElementType()), Attribute());
  auto exact = NonValueTensorType::get(getContext(), true, tensor.getShape(),
                                       tensor.getElementType(), Attribute());
  if (!isSubtype(whole, getType()) && !isSubtype(exact, getType()))
    return emitOpError() << "has contents of type " << tensor << " but result " << getType();
  return success();
}

//===----------------------------------------------------------------------===//
// Access to constants
//===----------------------------------------------------------------------===//

static Operation *definition(Value value) {
  while (value && value.getDefiningOp<DerefineOp>())
    value = value.getDefiningOp<DerefineOp>().getOperand();
  return value ? value.getDefiningOp() : nullptr;
}

std::optional<int64_t> constantInt(Value value) {
  Operation *op = definition(value);
  if (auto constant = dyn_cast_or_null<ConstantIntOp>(op))
    return constant.getValueAttr().getInt();
  if (auto number = dyn_cast_or_null<ConstantNumberOp>(op))
    if (auto integer = dyn_cast<IntegerAttr>(number.getValueAttr()))
      return integer.getInt();
  return std::nullopt;
}

std::optional<bool> constantBool(Value value) {
  if (auto constant = dyn_cast_or_null<ConstantBoolOp>(definition(value)))
    return constant.getValue();
  return std::nullopt;
}

std::optional<StringRef> constantStr(Value value) {
  Operation *op = definition(value);
  if (auto constant = dyn_cast_or_null<ConstantStrOp>(op))
    return constant.getValue();
  if (auto device = dyn_cast_or_null<ConstantDeviceOp>(op))
    return device.getValue();
  return std::nullopt;
}

bool isNone(Value value) {
  return value &&
         (isa<NoneType>(value.getType()) || isa_and_nonnull<ConstantNoneOp>(definition(value)));
}

std::optional<ValueRange> listElements(Value value) {
  auto list = dyn_cast_or_null<ListConstructOp>(definition(value));
  if (!list || llvm::any_of(list->getUses(), mayWrite))
    return std::nullopt;
  return ValueRange(list.getElements());
}

std::optional<SmallVector<int64_t>> constantInts(Value value) {
  std::optional<ValueRange> elements = listElements(value);
  if (!elements)
    return std::nullopt;
  SmallVector<int64_t> result;
  for (Value element : *elements) {
    std::optional<int64_t> known = constantInt(element);
    if (!known)
      return std::nullopt;
    result.push_back(*known);
  }
  return result;
}

} // namespace tw::torch
