// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The operations of the torch dialect that are not rows of the schema table; see the .td files.
#pragma once
#include "IR/Torch/TorchTypes.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#define GET_OP_CLASSES
#include "IR/Torch/ConstantOps.h.inc"
#define GET_OP_CLASSES
#include "IR/Torch/ContainerOps.h.inc"
#define GET_OP_CLASSES
#include "IR/Torch/TensorOps.h.inc"
#define GET_OP_CLASSES
#include "IR/Torch/ControlFlowOps.h.inc"
#define GET_OP_CLASSES
#include "IR/Torch/ModuleOps.h.inc"

namespace tw::torch {

/// Python constants behind a value, through torch.derefine; empty when it is not constant.
std::optional<int64_t> constantInt(mlir::Value value);
std::optional<bool> constantBool(mlir::Value value);
std::optional<llvm::StringRef> constantStr(mlir::Value value); // of a str or a Device
bool isNone(mlir::Value value);

/// The elements of a list that torch.prim.ListConstruct makes and nothing changes; empty otherwise.
std::optional<mlir::ValueRange> listElements(mlir::Value value);
/// The ints of a list of constants; empty when the list or an element is not constant.
std::optional<llvm::SmallVector<int64_t>> constantInts(mlir::Value value);

/// Whether the operation that has this use would also take a value of `type`, such as a None where
/// it has an optional: the schema decides; false of what is no table operation.
bool acceptsType(mlir::OpOperand &use, mlir::Type type);

/// Whether the operation that has this use may change the object it is given (a list, a tensor):
/// in-place operators of the table, calls, and what we know nothing about.
bool mayWrite(mlir::OpOperand &use);

} // namespace tw::torch
