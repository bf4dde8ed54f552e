// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registers what the torch dialect has, and makes its constants.
#include "IR/Torch/Torch.h"
#include "llvm/ADT/TypeSwitch.h"

#include "IR/Torch/TorchDialect.cpp.inc"

using namespace mlir;
namespace tw::torch {

void TorchDialect::initialize() {
  registerTypes();
  registerStaticOps();
  registerTableOps();
}

void TorchDialect::registerStaticOps() {
  addOperations<
#define GET_OP_LIST
#include "IR/Torch/ConstantOps.cpp.inc"
      ,
#define GET_OP_LIST
#include "IR/Torch/ContainerOps.cpp.inc"
      ,
#define GET_OP_LIST
#include "IR/Torch/TensorOps.cpp.inc"
      ,
#define GET_OP_LIST
#include "IR/Torch/ControlFlowOps.cpp.inc"
      ,
#define GET_OP_LIST
#include "IR/Torch/ModuleOps.cpp.inc"
      >();
}

Operation *TorchDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type,
                                             Location loc) {
  return TypeSwitch<Type, Operation *>(type)
      .Case([&](IntType) { return ConstantIntOp::create(builder, loc, cast<IntegerAttr>(value)); })
      .Case(
          [&](FloatType) { return ConstantFloatOp::create(builder, loc, cast<FloatAttr>(value)); })
      .Case(
          [&](BoolType) { return ConstantBoolOp::create(builder, loc, cast<IntegerAttr>(value)); })
      .Case(
          [&](StringType) { return ConstantStrOp::create(builder, loc, cast<StringAttr>(value)); })
      .Case([&](NoneType) { return ConstantNoneOp::create(builder, loc); })
      .Case([&](NumberType) {
        return ConstantNumberOp::create(builder, loc, type, cast<TypedAttr>(value));
      })
      .Case([&](ValueTensorType) {
        return ValueTensorLiteralOp::create(builder, loc, type, cast<ElementsAttr>(value));
      })
      .Default([](Type) { return nullptr; });
}

} // namespace tw::torch
