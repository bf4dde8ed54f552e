// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What attention and its gradient have in common.

#ifndef TILEWRIGHT_IR_GRAPH_ATTENTION_INTERFACE_TD
#define TILEWRIGHT_IR_GRAPH_ATTENTION_INTERFACE_TD

include "mlir/IR/OpBase.td"

def TW_AttentionInterface : OpInterface<"AttentionInterface"> {
  let cppNamespace = "::tw::graph";
  let description = [{
    Operations on the scores of queries and keys. Dimensions are b0, b1, ..., l, s, e, f: those of
    the batch (heads, groups of heads), queries, keys, the depth of a head and the width of a value.
    The first operands are tensors, up to the scale; each has an indexing map, as has each result,
    that says in which dimensions its axes run. An axis of an operand that has size 1 and is
    repeated is 0.
  }];
  let methods = [
    InterfaceMethod<"", "::mlir::ArrayAttr", "getIndexingMaps">,
    InterfaceMethod<"", "void", "setIndexingMapsAttr", (ins "::mlir::ArrayAttr":$maps)>,
    InterfaceMethod<"", "::mlir::Value", "getQuery">,
    InterfaceMethod<"", "::mlir::Value", "getKey">,
    InterfaceMethod<"", "::mlir::Value", "getValue">,
    InterfaceMethod<"i1: which scores may be seen; numbers: added to them; null: there is none",
                    "::mlir::Value", "getMask">,
    InterfaceMethod<"", "::mlir::Value", "getScale">,
    InterfaceMethod<"", "::mlir::OperandRange", "getOuts">,
    InterfaceMethod<"", "::mlir::MutableOperandRange", "getOutsMutable">,
    InterfaceMethod<"Whether query l sees the keys s <= l", "bool", "getCausal">,
  ];
  let extraSharedClassDeclaration = [{
    /// How many operands have a map: those before the scale.
    unsigned numMapped() { return $_op.getIndexingMaps().size() - $_op->getNumResults(); }
    ::mlir::AffineMap mapAt(unsigned number) {
      return ::llvm::cast<::mlir::AffineMapAttr>($_op.getIndexingMaps()[number]).getValue();
    }
    void setMap(unsigned number, ::mlir::AffineMap map) {
      detail::setAttentionMap($_op, number, map);
    }
    /// How an operand is indexed; not for the scale.
    ::mlir::AffineMap mapOf(::mlir::OpOperand &operand) {
      unsigned number = operand.getOperandNumber();
      return mapAt(number < numMapped() ? number : number - 1);
    }
    /// How a result is indexed.
    ::mlir::AffineMap resultMap(unsigned result) { return mapAt(numMapped() + result); }
    unsigned batchDims() { return mapAt(0).getNumDims() - 4; }
    // The other dimensions.
    unsigned queryDim() { return batchDims(); }
    unsigned keyDim() { return batchDims() + 1; }
    unsigned depthDim() { return batchDims() + 2; }
    unsigned widthDim() { return batchDims() + 3; }
    /// The type of scores and sums: f32 for 16-bit operands, the operands' otherwise.
    ::mlir::FloatType sumType() { return detail::attentionSumType($_op); }
    /// An operand and the axis of it that runs along all of a dimension.
    std::pair<::mlir::OpOperand *, unsigned> axisAlong(unsigned dim) {
      return detail::attentionAxisAlong($_op, dim);
    }
  }];
}

#endif
