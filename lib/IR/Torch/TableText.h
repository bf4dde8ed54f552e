// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How table operations are read, printed and checked, each from its schema. Private to the dialect.
#pragma once
#include "IR/Torch/AtenOp.h"

namespace tw::torch {

/// `%a, %b {attributes} : type, type -> type`; operands in parentheses when the schema ends in
/// "...".
mlir::ParseResult parseTableOp(const Schema &schema, mlir::OpAsmParser &parser,
                               mlir::OperationState &result);
void printTableOp(const Schema &schema, mlir::Operation *op, mlir::OpAsmPrinter &printer);

/// Checks counts and types of operands and results; errors use the schema's names.
mlir::LogicalResult verifyTableOp(mlir::Operation *op);

} // namespace tw::torch
