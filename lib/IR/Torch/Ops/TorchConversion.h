// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The torch_c dialect: casts between the torch dialect's types and builtin types.
#pragma once
#include "IR/Torch/TorchTypes.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "IR/Torch/TorchConversionDialect.h.inc"
#define GET_OP_CLASSES
#include "IR/Torch/TorchConversion.h.inc"
