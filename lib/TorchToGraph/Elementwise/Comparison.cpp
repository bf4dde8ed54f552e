// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Comparisons, logic, bits and selection. Comparisons are made in the promoted dtype of the inputs.
#include "TorchToGraph/Builders/Elementwise/Pointwise.h"
#include "TorchToGraph/Families.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include <cmath>

using namespace mlir;

namespace tw::lower {

using BinaryFn = Value (Element::*)(Value, Value) const;

template <BinaryFn member>
static LogicalResult lowerComparison(Lowering &ctx) {
  DType compute = promote({ctx.arg(0u), ctx.arg(1u)});
  return ctx.done(pointwise(
      ctx, {ctx.arg(0u), ctx.arg(1u)}, ctx.resultDType(),
      [](Element &e, ValueRange x) { return (e.*member)(x[0], x[1]); }, compute));
}

/// On the truth of its arguments in their promoted dtype: a number may be 0 there.
template <BinaryFn member>
static LogicalResult lowerLogic(Lowering &ctx) {
  DType common = promote({ctx.arg(0u), ctx.arg(1u)});
  Tensor left = castTo(ctx, ctx.tensor("self"), common);
  Tensor right = castTo(ctx, ctx.tensor("other"), common);
  return ctx.done(pointwise(
      ctx, {left, right}, ctx.resultDType(),
      [](Element &e, ValueRange x) { return (e.*member)(x[0], x[1]); }, DType::Bool));
}

static LogicalResult lowerLogicalNot(Lowering &ctx) {
  return ctx.done(pointwise(
      ctx, ctx.arg("self"), ctx.resultDType(),
      [](Element &e, ValueRange x) { return e.complement(x[0]); }, DType::Bool));
}

template <BinaryFn member>
static LogicalResult lowerBits(Lowering &ctx) {
  if (isFloat(ctx.resultDType()))
    return ctx.refuse("bit operations need integers");
  return ctx.done(pointwise(ctx, {ctx.arg(0u), ctx.arg(1u)}, ctx.resultDType(),
                            [](Element &e, ValueRange x) { return (e.*member)(x[0], x[1]); }));
}

static LogicalResult lowerBitwiseNot(Lowering &ctx) {
  if (isFloat(ctx.resultDType()))
    return ctx.refuse("bit operations need integers");
  return ctx.done(pointwise(ctx, ctx.arg("self"), ctx.resultDType(),
                            [](Element &e, ValueRange x) { return e.complement(x[0]); }));
}

/// Shifts by the width or more, or by a negative count, shift everything out.
template <bool left>
static LogicalResult lowerShift(Lowering &ctx) {
  DType dtype = ctx.resultDType();
  if (!isInteger(dtype))
    return ctx.refuse("shifts need integers");
  return ctx.done(pointwise(ctx, {ctx.arg(0u), ctx.arg(1u)}, dtype, [](Element &e, ValueRange x) {
    Value last = e.constant(8 * info(e.dtype).bytes - 1);
    // As unsigned numbers negative counts are large.
    Value fits = arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::ule, x[1], last);
    Value count = e.select(fits, x[1], last);
    if (left) {
      Value shifted = arith::ShLIOp::create(e.b, e.loc, x[0], count);
      return e.select(fits, shifted, e.constant(0));
    }
    if (isUnsigned(e.dtype)) {
      Value shifted = arith::ShRUIOp::create(e.b, e.loc, x[0], count);
      return e.select(fits, shifted, e.constant(0));
    }
    return Value(arith::ShRSIOp::create(e.b, e.loc, x[0], count));
  }));
}

//===----------------------------------------------------------------------===//
// Kinds of numbers
//===----------------------------------------------------------------------===//

enum class NumberKind { Nan, Infinite, Finite, PositiveInfinite, NegativeInfinite };

template <NumberKind kind>
static LogicalResult lowerKind(Lowering &ctx) {
  Tensor self = ctx.tensor("self");
  if (!isFloat(self.dtype)) {
    Scalar answer = Scalar::ofBool(ctx.b.getContext(), kind == NumberKind::Finite);
    return ctx.done(ctx.filled(ctx.sizesOf(self), DType::Bool, answer));
  }
  auto body = [](Element &e, ValueRange x) {
    switch (kind) {
    case NumberKind::Nan:
      return e.isNan(x[0]);
    case NumberKind::Infinite:
      return e.eq(e.abs(x[0]), e.constant(INFINITY));
    case NumberKind::Finite:
      return e.lt(e.abs(x[0]), e.constant(INFINITY));
    case NumberKind::PositiveInfinite:
      return e.eq(x[0], e.constant(INFINITY));
    case NumberKind::NegativeInfinite:
      return e.eq(x[0], e.constant(-INFINITY));
    }
    return x[0];
  };
  return ctx.done(pointwise(ctx, self, DType::Bool, body, opmath(self.dtype)));
}

/// |x - y| <= atol + rtol * |y|, or equal, or both NaN when that counts.
static LogicalResult lowerIsClose(Lowering &ctx) {
  DType compute = promote({ctx.arg("self"), ctx.arg("other")});
  double rtol = ctx.number("rtol", 1e-5), atol = ctx.number("atol", 1e-8);
  bool equalNan = ctx.flag("equal_nan");
  DType wide = isFloat(compute) ? opmath(compute) : DType::F64;
  return ctx.done(pointwise(
      ctx, {ctx.arg("self"), ctx.arg("other")}, DType::Bool,
      [&](Element &e, ValueRange x) {
        Value allowed = e.add(e.constant(atol), e.mul(e.constant(rtol), e.abs(x[1])));
        Value distance = e.abs(e.sub(x[0], x[1]));
        Value finite = e.lt(distance, e.constant(INFINITY));
        Value close = e.conjunction(finite, e.le(distance, allowed));
        close = e.disjunction(close, e.eq(x[0], x[1]));
        if (equalNan)
          close = e.disjunction(close, e.conjunction(e.isNan(x[0]), e.isNan(x[1])));
        return close;
      },
      wide));
}

//===----------------------------------------------------------------------===//
// Selection
//===----------------------------------------------------------------------===//

static LogicalResult lowerWhere(Lowering &ctx) {
  return ctx.done(
      select(ctx, ctx.arg("condition"), ctx.arg("self"), ctx.arg("other"), ctx.resultDType()));
}

static LogicalResult lowerMaskedFill(Lowering &ctx) {
  return ctx.done(
      select(ctx, ctx.arg("mask"), ctx.arg("value"), ctx.arg("self"), ctx.resultDType()));
}

Family comparisonFamily() {
#define TW_COMPARE(name, member)                                                                   \
  {"torch.aten." name ".Tensor", lowerComparison<&Element::member>},                               \
      {"torch.aten." name ".Scalar", lowerComparison<&Element::member>}
#define TW_BITS(name, function)                                                                    \
  {"torch.aten." name ".Tensor", function}, {"torch.aten." name ".Scalar", function},              \
      {"torch.aten." name ".Tensor_Scalar", function}, {                                           \
    "torch.aten." name ".Scalar_Tensor", function                                                  \
  }
  static constexpr LoweringRow rows[] = {
      TW_COMPARE("eq", eq),
      TW_COMPARE("ne", ne),
      TW_COMPARE("not_equal", ne),
      TW_COMPARE("lt", lt),
      TW_COMPARE("less", lt),
      TW_COMPARE("le", le),
      TW_COMPARE("less_equal", le),
      TW_COMPARE("gt", gt),
      TW_COMPARE("greater", gt),
      TW_COMPARE("ge", ge),
      TW_COMPARE("greater_equal", ge),
      {"torch.aten.logical_and", lowerLogic<&Element::conjunction>},
      {"torch.aten.logical_or", lowerLogic<&Element::disjunction>},
      {"torch.aten.logical_xor", lowerLogic<&Element::exclusive>},
      {"torch.aten.logical_not", lowerLogicalNot},
      TW_BITS("bitwise_and", lowerBits<&Element::conjunction>),
      TW_BITS("bitwise_or", lowerBits<&Element::disjunction>),
      TW_BITS("bitwise_xor", lowerBits<&Element::exclusive>),
      TW_BITS("__and__", lowerBits<&Element::conjunction>),
      TW_BITS("__or__", lowerBits<&Element::disjunction>),
      TW_BITS("__xor__", lowerBits<&Element::exclusive>),
      {"torch.aten.bitwise_not", lowerBitwiseNot},
      TW_BITS("bitwise_left_shift", lowerShift<true>),
      TW_BITS("bitwise_right_shift", lowerShift<false>),
      TW_BITS("__lshift__", lowerShift<true>),
      TW_BITS("__rshift__", lowerShift<false>),
      {"torch.aten.isnan", lowerKind<NumberKind::Nan>},
      {"torch.aten.isinf", lowerKind<NumberKind::Infinite>},
      {"torch.aten.isfinite", lowerKind<NumberKind::Finite>},
      {"torch.aten.isposinf", lowerKind<NumberKind::PositiveInfinite>},
      {"torch.aten.isneginf", lowerKind<NumberKind::NegativeInfinite>},
      {"torch.aten.isclose", lowerIsClose},
      {"torch.aten.where.self", lowerWhere},
      {"torch.aten.where.ScalarSelf", lowerWhere},
      {"torch.aten.where.ScalarOther", lowerWhere},
      {"torch.aten.where.Scalar", lowerWhere},
      {"torch.aten.masked_fill.Scalar", lowerMaskedFill},
      {"torch.aten.masked_fill.Tensor", lowerMaskedFill},
  };
#undef TW_COMPARE
#undef TW_BITS
  return {"Comparison, logic and bits", rows};
}

} // namespace tw::lower
