// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is not computation: constants, literals, lists and tuples, annotations, assertions.
#include "IR/Graph/Graph.h"
#include "TorchToGraph/Builders/Elementwise/Element.h"
#include "TorchToGraph/Families.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;

namespace tw::lower {

static LogicalResult lowerInt(Lowering &ctx) {
  int64_t value = cast<torch::ConstantIntOp>(ctx.op).getValue();
  return ctx.done(Scalar::ofInt(ctx.b.getContext(), value));
}

static LogicalResult lowerFloat(Lowering &ctx) {
  double value = cast<torch::ConstantFloatOp>(ctx.op).getValue().convertToDouble();
  return ctx.done(Scalar::ofFloat(ctx.b.getContext(), value));
}

static LogicalResult lowerBool(Lowering &ctx) {
  return ctx.done(
      Scalar::ofBool(ctx.b.getContext(), cast<torch::ConstantBoolOp>(ctx.op).getValue()));
}

static LogicalResult lowerNumber(Lowering &ctx) {
  Attribute value = cast<torch::ConstantNumberOp>(ctx.op).getValue();
  if (auto whole = dyn_cast<IntegerAttr>(value))
    return ctx.done(Scalar::ofInt(ctx.b.getContext(), whole.getInt()));
  return ctx.done(Scalar::ofFloat(ctx.b.getContext(), cast<FloatAttr>(value).getValueAsDouble()));
}

static LogicalResult lowerString(Lowering &ctx) {
  return ctx.done(Operand(cast<torch::ConstantStrOp>(ctx.op).getValue().str()));
}

static LogicalResult lowerDevice(Lowering &ctx) {
  return ctx.done(Operand(cast<torch::ConstantDeviceOp>(ctx.op).getValue().str()));
}

static LogicalResult lowerNone(Lowering &ctx) { return ctx.done(Operand()); }

static LogicalResult lowerList(Lowering &ctx) {
  return ctx.done(Operand(OperandList(ctx.args().begin(), ctx.args().end())));
}

static LogicalResult lowerUnpack(Lowering &ctx) {
  auto list = ctx.arg(0u).list();
  if (!list)
    return ctx.refuse("only lists that the program builds can be unpacked");
  return ctx.done(ArrayRef<Operand>(*list));
}

static LogicalResult lowerIdentity(Lowering &ctx) { return ctx.done(ctx.arg(0u)); }

/// Signed and unsigned integers become signless: the same bits.
static ElementsAttr signless(ElementsAttr value, Type element) {
  auto type = cast<ShapedType>(value.getType()).clone(element);
  if (auto dense = dyn_cast<DenseIntOrFPElementsAttr>(value))
    return DenseElementsAttr::getFromRawBuffer(type, dense.getRawData());
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(value))
    return DenseResourceElementsAttr::get(type, resource.getRawHandle());
  return nullptr;
}

static LogicalResult lowerLiteral(Lowering &ctx) {
  auto value = cast<torch::ValueTensorLiteralOp>(ctx.op).getValue();
  DType dtype = ctx.resultDType();
  if (ctx.hasRefused())
    return failure();
  ElementsAttr known = signless(value, ctx.type(dtype));
  if (!known)
    return ctx.refuse("literals must be dense");
  return ctx.done(Tensor{arith::ConstantOp::create(ctx.b, ctx.loc, cast<TypedAttr>(known)), dtype});
}

//===----------------------------------------------------------------------===//
// Assertions
//===----------------------------------------------------------------------===//

static LogicalResult assertThat(Lowering &ctx, const Scalar &condition, StringRef message) {
  auto known = condition.constantNumber();
  if (known && *known == 0)
    return ctx.refuse("it always fails: " + message);
  if (!known) {
    Value holds = condition.element(ctx.b, ctx.loc, DType::Bool);
    graph::AssertOp::create(ctx.b, ctx.loc, holds, message, ValueRange());
  }
  return ctx.done(ArrayRef<Operand>());
}

static LogicalResult lowerAssertScalar(Lowering &ctx) {
  return assertThat(ctx, ctx.scalar("self"), ctx.string("assert_msg"));
}

static LogicalResult lowerAssertAsync(Lowering &ctx) {
  Tensor self = ctx.tensor("self");
  if (ctx.hasRefused() || !ctx.needsRank(self, 0, "the condition"))
    return failure();
  Value element = tensor::ExtractOp::create(ctx.b, ctx.loc, self.value, ValueRange());
  Value holds = Element(ctx.b, ctx.loc, DType::Bool).cast(element, self.dtype);
  std::string message = ctx.has("assert_msg") ? ctx.string("assert_msg")
                                              : std::string("an assertion of the model failed");
  return assertThat(ctx, {Scalar::Kind::Bool, holds}, message);
}

static LogicalResult lowerNothing(Lowering &ctx) { return ctx.done(ArrayRef<Operand>()); }

Family structureFamily() {
  static constexpr LoweringRow rows[] = {
      {"torch.constant.int", lowerInt},
      {"torch.constant.float", lowerFloat},
      {"torch.constant.bool", lowerBool},
      {"torch.constant.number", lowerNumber},
      {"torch.constant.str", lowerString},
      {"torch.constant.device", lowerDevice},
      {"torch.constant.none", lowerNone},
      {"torch.vtensor.literal", lowerLiteral},
      {"torch.prim.ListConstruct", lowerList},
      {"torch.prim.TupleConstruct", lowerList},
      {"torch.prim.ListUnpack", lowerUnpack},
      {"torch.prim.TupleUnpack", lowerUnpack},
      {"torch.derefine", lowerIdentity},
      {"torch.tensor_static_info_cast", lowerIdentity},
      {"torch.aten._assert_scalar", lowerAssertScalar},
      {"torch.aten._assert_async", lowerAssertAsync},
      {"torch.aten._assert_async.msg", lowerAssertAsync},
      {"torch.aten._assert_tensor_metadata", lowerNothing},
      {"torch.aten.sym_constrain_range", lowerNothing},
      {"torch.aten.sym_constrain_range_for_size", lowerNothing},
  };
  return {"Structure and assertions", rows};
}

} // namespace tw::lower
