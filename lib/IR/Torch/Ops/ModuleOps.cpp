// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "IR/Torch/Ops.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "IR/Torch/ModuleOps.cpp.inc"

namespace tw::torch {

/// `[` (`@slot` `(` value `:` type `)`)* `]`
ParseResult InitializeGlobalSlotsOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<Attribute> slots;
  if (parser.parseOptionalAttrDict(result.attributes) || parser.parseLSquare())
    return failure();
  while (failed(parser.parseOptionalRSquare())) {
    StringAttr name;
    OpAsmParser::UnresolvedOperand value;
    Type type;
    if (parser.parseSymbolName(name) || parser.parseLParen() || parser.parseOperand(value) ||
        parser.parseColonType(type) || parser.parseRParen() ||
        parser.resolveOperand(value, type, result.operands))
      return failure();
    slots.push_back(FlatSymbolRefAttr::get(name));
  }
  result.addAttribute("slotSymNames", parser.getBuilder().getArrayAttr(slots));
  return success();
}

void InitializeGlobalSlotsOp::print(OpAsmPrinter &printer) {
  printer.printOptionalAttrDict((*this)->getAttrs(), {"slotSymNames"});
  printer << " [";
  printer.printNewline();
  for (auto [slot, value] : llvm::zip_equal(getSlotSymNames(), getInitialValues())) {
    printer << "  " << slot << "(" << value << " : " << value.getType() << ")";
    printer.printNewline();
  }
  printer << "]";
}

LogicalResult InitializeGlobalSlotsOp::verify() {
  if (getSlotSymNames().size() != getInitialValues().size())
    return emitOpError() << "names " << getSlotSymNames().size() << " slots but has "
                         << getInitialValues().size() << " values";
  for (Attribute slot : getSlotSymNames())
    if (!isa<FlatSymbolRefAttr>(slot))
      return emitOpError() << "needs names of slots, got " << slot;
  return success();
}

} // namespace tw::torch
