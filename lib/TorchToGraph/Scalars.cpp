// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Python's ints, floats and bools: symbolic sizes and what is computed from them.
#include "TorchToGraph/Builders/Elementwise/Scalars.h"
#include "TorchToGraph/Builders/Index.h"
#include "TorchToGraph/Families.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include <cmath>

using namespace mlir;

namespace tw::lower {

/// The argument at a position, which the schema names differently in each overload.
static Scalar scalarAt(Lowering &ctx, unsigned position) {
  if (position < ctx.args().size())
    if (auto scalar = ctx.arg(position).scalar())
      return *scalar;
  ctx.refuse("its arguments must be numbers");
  return Scalar::ofInt(ctx.b.getContext(), 1);
}

template <ScalarOp op>
static LogicalResult lowerBinary(Lowering &ctx) {
  return ctx.done(combine(ctx, op, scalarAt(ctx, 0), scalarAt(ctx, 1)));
}

template <ScalarComparison op>
static LogicalResult lowerComparison(Lowering &ctx) {
  return ctx.done(compare(ctx, op, scalarAt(ctx, 0), scalarAt(ctx, 1)));
}

static LogicalResult lowerNeg(Lowering &ctx) {
  return ctx.done(
      combine(ctx, ScalarOp::Sub, Scalar::ofInt(ctx.b.getContext(), 0), scalarAt(ctx, 0)));
}

static LogicalResult lowerToInt(Lowering &ctx) { return ctx.done(toInt(ctx, scalarAt(ctx, 0))); }
static LogicalResult lowerToFloat(Lowering &ctx) {
  return ctx.done(toFloat(ctx, scalarAt(ctx, 0)));
}
static LogicalResult lowerToBool(Lowering &ctx) { return ctx.done(toBool(ctx, scalarAt(ctx, 0))); }

//===----------------------------------------------------------------------===//
// Functions of floats
//===----------------------------------------------------------------------===//

template <double (*function)(double), typename Op>
static Scalar apply(Lowering &ctx) {
  Scalar x = toFloat(ctx, scalarAt(ctx, 0));
  if (auto known = x.constantNumber())
    return Scalar::ofFloat(ctx.b.getContext(), function(*known));
  Value value = Op::create(ctx.b, ctx.loc, x.materialize(ctx.b, ctx.loc));
  return {Scalar::Kind::Float, value, x.fromData};
}

template <double (*function)(double), typename Op>
static LogicalResult lowerFunction(Lowering &ctx) {
  return ctx.done(apply<function, Op>(ctx));
}

/// floor and ceil of Python give ints.
template <double (*function)(double), typename Op>
static LogicalResult lowerRounding(Lowering &ctx) {
  return ctx.done(toInt(ctx, apply<function, Op>(ctx)));
}

static LogicalResult lowerAbs(Lowering &ctx) {
  Scalar x = scalarAt(ctx, 0);
  Scalar negated = combine(ctx, ScalarOp::Sub, Scalar::ofInt(ctx.b.getContext(), 0), x);
  return ctx.done(combine(ctx, ScalarOp::Max, x, negated));
}

//===----------------------------------------------------------------------===//
// Logic
//===----------------------------------------------------------------------===//

template <typename Op>
static LogicalResult lowerLogic(Lowering &ctx) {
  Scalar a = toBool(ctx, scalarAt(ctx, 0)), b = toBool(ctx, scalarAt(ctx, 1));
  Value value =
      ctx.b.createOrFold<Op>(ctx.loc, a.materialize(ctx.b, ctx.loc), b.materialize(ctx.b, ctx.loc));
  return ctx.done(Scalar{Scalar::Kind::Bool, value, a.fromData || b.fromData});
}

static LogicalResult lowerNot(Lowering &ctx) {
  Scalar x = toBool(ctx, scalarAt(ctx, 0));
  if (auto known = x.constantInt())
    return ctx.done(Scalar::ofBool(ctx.b.getContext(), !*known));
  Value value = Element(ctx.b, ctx.loc, DType::Bool).complement(x.materialize(ctx.b, ctx.loc));
  return ctx.done(Scalar{Scalar::Kind::Bool, value, x.fromData});
}

//===----------------------------------------------------------------------===//
// From tensors and lists
//===----------------------------------------------------------------------===//

static LogicalResult lowerSize(Lowering &ctx) {
  Tensor self = ctx.tensor("self");
  int64_t dim = ctx.dim("dim", self.rank());
  if (ctx.hasRefused() || self.rank() == 0)
    return ctx.refuse("a tensor without dimensions has no sizes");
  return ctx.done(Scalar{Scalar::Kind::Int, ctx.sizeOf(self, dim)});
}

static LogicalResult lowerSizes(Lowering &ctx) {
  OperandList sizes;
  for (OpFoldResult size : ctx.sizesOf(ctx.tensor("self")))
    sizes.push_back(Scalar{Scalar::Kind::Int, size});
  return ctx.done(Operand(std::move(sizes)));
}

static LogicalResult lowerNumel(Lowering &ctx) {
  auto sizes = ctx.sizesOf(ctx.tensor("self"));
  return ctx.done(Scalar{Scalar::Kind::Int, IndexMath{ctx.b, ctx.loc}.product(sizes)});
}

/// Tensors are contiguous.
static LogicalResult lowerStride(Lowering &ctx) {
  Tensor self = ctx.tensor("self");
  int64_t dim = ctx.dim("dim", self.rank());
  auto sizes = ctx.sizesOf(self);
  if (sizes.empty())
    return ctx.refuse("a tensor without dimensions has no strides");
  auto inner = ArrayRef(sizes).drop_front(dim + 1);
  return ctx.done(Scalar{Scalar::Kind::Int, IndexMath{ctx.b, ctx.loc}.product(inner)});
}

static LogicalResult lowerRank(Lowering &ctx) {
  return ctx.done(Scalar::ofInt(ctx.b.getContext(), ctx.tensor("self").rank()));
}

static LogicalResult lowerLength(Lowering &ctx) {
  auto list = ctx.arg(0u).list();
  if (!list)
    return ctx.refuse("the length of " + describe(ctx.arg(0u)) + " is not known");
  return ctx.done(Scalar::ofInt(ctx.b.getContext(), list->size()));
}

static LogicalResult lowerGetItem(Lowering &ctx) {
  auto list = ctx.arg(0u).list();
  int64_t index = ctx.integer("idx");
  int64_t length = list ? int64_t(list->size()) : 0;
  if (index < 0)
    index += length;
  if (!list || index < 0 || index >= length)
    return ctx.refuse("the list has no such element");
  return ctx.done((*list)[index]);
}

/// The one element of a tensor: known when the program runs, so it cannot be a size.
static LogicalResult lowerItem(Lowering &ctx) {
  auto tensor = ctx.arg(0u).tensor();
  if (!tensor || ctx.op->getNumResults() != 1)
    return ctx.refuse("a tensor is needed");
  SmallVector<Value> zeros(tensor->rank(), IndexMath{ctx.b, ctx.loc}.value(ctx.b.getIndexAttr(0)));
  Value element = tensor::ExtractOp::create(ctx.b, ctx.loc, tensor->value, zeros);
  Type wanted = ctx.op->getResult(0).getType();
  bool asFloat =
      isa<torch::FloatType>(wanted) || (isa<torch::NumberType>(wanted) && isFloat(tensor->dtype));
  bool asBool = isa<torch::BoolType>(wanted);
  DType dtype = asFloat ? DType::F64 : asBool ? DType::Bool : DType::I64;
  Value value = Element(ctx.b, ctx.loc, dtype).cast(element, tensor->dtype);
  if (asFloat)
    return ctx.done(Scalar{Scalar::Kind::Float, value, true});
  if (asBool)
    return ctx.done(Scalar{Scalar::Kind::Bool, value, true});
  value = arith::IndexCastOp::create(ctx.b, ctx.loc, ctx.b.getIndexType(), value);
  return ctx.done(Scalar{Scalar::Kind::Int, value, true});
}

#define TW_NUMBERS(name, function)                                                                 \
  {"torch.aten." name, function}, {"torch.aten." name ".int", function},                           \
      {"torch.aten." name ".float", function}, {"torch.aten." name ".int_float", function}, {      \
    "torch.aten." name ".float_int", function                                                      \
  }
#define TW_FUNCTION(name, function)                                                                \
  {"torch.aten." name ".int", function}, {"torch.aten." name ".float", function}, {                \
    "torch.aten." name ".Scalar", function                                                         \
  }
static constexpr LoweringRow rows[] = {
    TW_NUMBERS("add", lowerBinary<ScalarOp::Add>),
    TW_NUMBERS("sub", lowerBinary<ScalarOp::Sub>),
    TW_NUMBERS("mul", lowerBinary<ScalarOp::Mul>),
    TW_NUMBERS("div", lowerBinary<ScalarOp::Div>),
    TW_NUMBERS("floordiv", lowerBinary<ScalarOp::FloorDiv>),
    TW_NUMBERS("remainder", lowerBinary<ScalarOp::Remainder>),
    TW_NUMBERS("pow", lowerBinary<ScalarOp::Pow>),
    {"torch.aten.pow.Scalar_Scalar", lowerBinary<ScalarOp::Pow>},
    {"torch.aten.pow.int_to_int", lowerBinary<ScalarOp::Pow>},
    {"torch.prim.max.int", lowerBinary<ScalarOp::Max>},
    {"torch.prim.max.float", lowerBinary<ScalarOp::Max>},
    {"torch.prim.min.int", lowerBinary<ScalarOp::Min>},
    {"torch.prim.min.float", lowerBinary<ScalarOp::Min>},
    TW_NUMBERS("eq", lowerComparison<ScalarComparison::Eq>),
    {"torch.aten.eq.bool", lowerComparison<ScalarComparison::Eq>},
    TW_NUMBERS("ne", lowerComparison<ScalarComparison::Ne>),
    {"torch.aten.ne.bool", lowerComparison<ScalarComparison::Ne>},
    TW_NUMBERS("lt", lowerComparison<ScalarComparison::Lt>),
    TW_NUMBERS("le", lowerComparison<ScalarComparison::Le>),
    TW_NUMBERS("gt", lowerComparison<ScalarComparison::Gt>),
    TW_NUMBERS("ge", lowerComparison<ScalarComparison::Ge>),
    TW_FUNCTION("neg", lowerNeg),
    {"torch.prim.abs.int", lowerAbs},
    {"torch.prim.abs.float", lowerAbs},
    {"torch.prim.abs.Scalar", lowerAbs},
    TW_FUNCTION("sqrt", (lowerFunction<std::sqrt, math::SqrtOp>)),
    TW_FUNCTION("exp", (lowerFunction<std::exp, math::ExpOp>)),
    TW_FUNCTION("log", (lowerFunction<std::log, math::LogOp>)),
    TW_FUNCTION("sin", (lowerFunction<std::sin, math::SinOp>)),
    TW_FUNCTION("cos", (lowerFunction<std::cos, math::CosOp>)),
    TW_FUNCTION("tanh", (lowerFunction<std::tanh, math::TanhOp>)),
    TW_FUNCTION("floor", (lowerRounding<std::floor, math::FloorOp>)),
    TW_FUNCTION("ceil", (lowerRounding<std::ceil, math::CeilOp>)),
    TW_FUNCTION("round", (lowerFunction<std::nearbyint, math::RoundEvenOp>)),
    {"torch.aten.Int.float", lowerToInt},
    {"torch.aten.Int.bool", lowerToInt},
    {"torch.aten.Int.Scalar", lowerToInt},
    {"torch.aten.Float.int", lowerToFloat},
    {"torch.aten.Float.bool", lowerToFloat},
    {"torch.aten.Float.Scalar", lowerToFloat},
    {"torch.aten.Bool.int", lowerToBool},
    {"torch.aten.Bool.float", lowerToBool},
    {"torch.aten.__and__.bool", lowerLogic<arith::AndIOp>},
    {"torch.aten.__or__.bool", lowerLogic<arith::OrIOp>},
    {"torch.aten.__not__", lowerNot},
    {"torch.aten.size", lowerSizes},
    {"torch.aten.size.int", lowerSize},
    {"torch.aten.sym_size", lowerSizes},
    {"torch.aten.sym_size.int", lowerSize},
    {"torch.aten.numel", lowerNumel},
    {"torch.aten.sym_numel", lowerNumel},
    {"torch.aten.stride.int", lowerStride},
    {"torch.aten.sym_stride.int", lowerStride},
    {"torch.aten.dim", lowerRank},
    {"torch.aten.len.t", lowerLength},
    {"torch.aten.__getitem__.t", lowerGetItem},
    {"torch.aten.Bool.Tensor", lowerItem},
    {"torch.aten.Int.Tensor", lowerItem},
    {"torch.aten.Float.Tensor", lowerItem},
    {"torch.aten.IntImplicit", lowerItem},
    {"torch.aten.FloatImplicit", lowerItem},
    {"torch.aten.ScalarImplicit", lowerItem},
    {"torch.aten.item", lowerItem},
    {"torch.aten._local_scalar_dense", lowerItem},
};
#undef TW_NUMBERS
#undef TW_FUNCTION

Family scalarsFamily() { return {"Python scalars", rows}; }

} // namespace tw::lower
