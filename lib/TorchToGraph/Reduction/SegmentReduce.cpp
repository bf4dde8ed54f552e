// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reductions of runs of elements along a dimension, whose lengths or offsets are data:
// segment_reduce and its gradient. Each result loops over its segment.
#include "TorchToGraph/Builders/Elementwise/Pointwise.h"
#include "TorchToGraph/Builders/Index.h"
#include "TorchToGraph/Builders/Indexing/BinarySearch.h"
#include "TorchToGraph/Builders/Move.h"
#include "TorchToGraph/Builders/Reduction/Reduce.h"
#include "TorchToGraph/Builders/Reduction/Scan.h"
#include "TorchToGraph/Families.h"
#include "TorchToGraph/Indexing/Along.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include <cmath>

using namespace mlir;

namespace tw::lower {
namespace {

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

enum class Reduction { Sum, Mean, Max, Min, Prod };

/// Segment s of data [outer..., axis, inner...] are the elements from offsets[outer..., s] to
/// offsets[outer..., s + 1] along the axis.
struct Segments {
  Tensor data, offsets; // offsets are i64
  int64_t axis;
  Reduction reduction;
  std::optional<Scalar> initial;
  OpFoldResult count;
  Value beyond; // no offset reaches it: one more than there are elements (index)

  DType compute() const { return opmath(data.dtype); }
};

std::optional<Reduction> reductionArgument(Lowering &ctx) {
  static constexpr std::pair<StringRef, Reduction> names[] = {{"sum", Reduction::Sum},
                                                              {"mean", Reduction::Mean},
                                                              {"max", Reduction::Max},
                                                              {"min", Reduction::Min},
                                                              {"prod", Reduction::Prod}};
  std::string given = ctx.string("reduce");
  for (auto [name, reduction] : names)
    if (name == given)
      return reduction;
  ctx.refuse("reduce is '" + given + "', but must be sum, mean, max, min or prod");
  return std::nullopt;
}

/// Lengths as the offsets of their segments.
Tensor offsetsOf(Lowering &ctx, const Tensor &lengths) {
  int64_t axis = lengths.rank() - 1;
  Value zero = Element(ctx.b, ctx.loc, DType::I64).constant(0);
  Tensor ends = scan(ctx, lengths, axis, DType::I64, zero,
                     [&](OpBuilder &b, Location loc, ValueRange state, ValueRange x) {
                       Element e(b, loc, DType::I64);
                       return SmallVector<Value>{e.add(state[0], e.cast(x[0], lengths.dtype))};
                     })
                    .front();
  SmallVector<OpFoldResult> low(lengths.rank(), ctx.b.getIndexAttr(0)), high(low);
  low[axis] = ctx.b.getIndexAttr(1);
  return pad(ctx, ends, low, high, Scalar::ofInt(ctx.b.getContext(), 0));
}

/// Ends the call with an error unless no length is negative and each row's sum is `size`.
void requireWhole(Lowering &ctx, const Tensor &lengths, OpFoldResult size) {
  auto all = [&](const Tensor &x, llvm::function_ref<Value(Element &, Value)> holds) {
    Tensor each = pointwise(
        ctx, x, DType::Bool, [&](Element &e, ValueRange v) { return holds(e, v[0]); }, DType::I64);
    Tensor every = reduce(
        ctx, {each, allDims(each), false}, DType::Bool, [](Element &e) { return e.constant(1); },
        [](Element &e, ValueRange v) { return e.conjunction(v[0], v[1]); });
    return Value(tensor::ExtractOp::create(ctx.b, ctx.loc, every.value, ValueRange()));
  };
  IndexMath m{ctx.b, ctx.loc};
  Value want = arith::IndexCastOp::create(ctx.b, ctx.loc, ctx.b.getI64Type(), m.value(size));
  Tensor sums = reduceSum(ctx, {lengths, {lengths.rank() - 1}, false}, DType::I64);
  Value good = arith::AndIOp::create(
      ctx.b, ctx.loc, all(lengths, [](Element &e, Value x) { return e.ge(x, e.constant(0)); }),
      all(sums, [&](Element &e, Value x) { return e.eq(x, want); }));
  graph::AssertOp::create(ctx.b, ctx.loc, good,
                          ctx.shownName() + ": lengths must not be negative, and sum to the %lld "
                                            "elements along the axis",
                          m.value(size));
}

std::optional<Segments> readSegments(Lowering &ctx) {
  Tensor data = ctx.tensor("data");
  auto reduction = reductionArgument(ctx);
  auto lengths = ctx.optTensor("lengths"), offsets = ctx.optTensor("offsets");
  if (ctx.has("indices") || lengths.has_value() == offsets.has_value())
    ctx.refuse("either lengths or offsets must say where segments are");
  int64_t axis = ctx.dim("axis", data.rank());
  if (ctx.hasRefused())
    return std::nullopt;
  const Tensor &where = lengths ? *lengths : *offsets;
  if (where.rank() != axis + 1 || data.rank() <= axis)
    ctx.refuse("axis is " + Twine(axis) + ", but must be the last of the " + Twine(where.rank()) +
               " dimensions of lengths or offsets, and one of the data's " + Twine(data.rank()));
  else if (!isFloat(data.dtype) || !isInteger(where.dtype))
    ctx.refuse("the data must be floating-point, and lengths or offsets integers");
  if (ctx.hasRefused())
    return std::nullopt;
  SmallVector<OpFoldResult> sizes = ctx.sizesOf(data), outer = ctx.sizesOf(where);
  for (int64_t d = 0; d < axis; ++d)
    ctx.requireEqual(sizes[d], outer[d]);
  bool isChecked = lengths && ctx.name().ends_with("segment_reduce") && !ctx.flag("unsafe");
  if (isChecked)
    requireWhole(ctx, *lengths, sizes[axis]);
  IndexMath m{ctx.b, ctx.loc};
  Segments s{data,
             lengths ? offsetsOf(ctx, *lengths) : castTo(ctx, *offsets, DType::I64),
             axis,
             *reduction,
             {},
             lengths ? outer[axis] : m.sub(outer[axis], m.constant(1)),
             m.value(m.add(sizes[axis], m.constant(1)))};
  if (constantOf(s.count).value_or(0) < 0)
    ctx.refuse("offsets must hold at least one");
  if (ctx.has("initial"))
    s.initial = ctx.scalar("initial");
  return ctx.hasRefused() ? std::nullopt : std::optional(s);
}

//===----------------------------------------------------------------------===//
// One segment inside a body
//===----------------------------------------------------------------------===//

/// The elements [begin, end) along the axis, index values. `place` is a whole position.
struct Segment {
  GatherBody &body;
  const Segments &all;
  SmallVector<Value> place;
  Value begin, end;

  Segment(GatherBody &body, const Segments &all, ArrayRef<Value> place, Value number)
      : body(body), all(all), place(place) {
    Value next = arith::AddIOp::create(body.b, body.loc, number, body.constant(1));
    begin = offsetAt(number);
    end = offsetAt(next);
  }

  Value offsetAt(Value number) const {
    SmallVector<Value> at(ArrayRef(place).take_front(all.axis));
    at.push_back(number);
    Value index = arith::IndexCastOp::create(body.b, body.loc, body.b.getIndexType(),
                                             body.read(all.offsets, at));
    return graph::CheckIndexOp::create(body.b, body.loc, index.getType(), index, all.beyond,
                                       body.op + ": offset %lld is not below %lld, one more than "
                                                 "there are elements");
  }

  /// How many elements it has, as one of `e`.
  Value length(const Element &e) const {
    Value count = arith::SubIOp::create(body.b, body.loc, end, begin);
    return e.cast(arith::IndexCastOp::create(body.b, body.loc, body.b.getI64Type(), count),
                  DType::I64);
  }

  /// `step` over the elements from `from` on, with the accumulated value.
  Value fold(Value from, Value initial,
             llvm::function_ref<Value(Value element, Value position, Value so)> step) const {
    Element e(body.b, body.loc, all.compute());
    auto loop = scf::ForOp::create(body.b, body.loc, from, end, body.constant(1), initial,
                                   [&](OpBuilder &b, Location loc, Value i, ValueRange so) {
                                     SmallVector<Value> at(place);
                                     at[all.axis] = i;
                                     Value element =
                                         e.cast(body.read(all.data, at), all.data.dtype);
                                     scf::YieldOp::create(b, loc, step(element, i, so[0]));
                                   });
    return loop.getResult(0);
  }
};

Value startOf(const Element &e, const Segments &s) {
  if (s.initial)
    return s.initial->element(e.b, e.loc, e.dtype);
  switch (s.reduction) {
  case Reduction::Sum:
  case Reduction::Mean:
    return e.constant(0);
  case Reduction::Max:
    return e.lowest();
  case Reduction::Min:
    return e.highest();
  case Reduction::Prod:
    return e.constant(1);
  }
  return e.constant(0);
}

Value combine(const Element &e, Reduction reduction, Value so, Value x) {
  switch (reduction) {
  case Reduction::Sum:
  case Reduction::Mean:
    return e.add(so, x);
  case Reduction::Max:
    return e.max(so, x);
  case Reduction::Min:
    return e.min(so, x);
  case Reduction::Prod:
    return e.mul(so, x);
  }
  return so;
}

SmallVector<OpFoldResult> sizesOfResult(Lowering &ctx, const Segments &s) {
  SmallVector<OpFoldResult> sizes = ctx.sizesOf(s.data);
  sizes[s.axis] = s.count;
  return sizes;
}

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

LogicalResult lowerSegmentReduce(Lowering &ctx) {
  auto s = readSegments(ctx);
  if (!s)
    return failure();
  auto body = [&](GatherBody &body, ValueRange) {
    Element e(body.b, body.loc, s->compute());
    Segment segment(body, *s, positions(body, s->data.rank()), body.position(s->axis));
    Value result = segment.fold(segment.begin, startOf(e, *s), [&](Value x, Value, Value so) {
      return combine(e, s->reduction, so, x);
    });
    if (s->reduction == Reduction::Mean) {
      Value length = segment.length(e), isEmpty = e.le(length, e.constant(0));
      Value ofNone = s->initial ? result : e.constant(NAN);
      result = e.select(isEmpty, ofNone, e.div(result, length));
    }
    return e.as(s->data.dtype).cast(result, e.dtype);
  };
  return ctx.done(gather(ctx, sizesOfResult(ctx, *s), s->data.dtype, {}, body));
}

/// Whether an element is its segment's maximum or minimum; those that are NaN count.
Value isExtreme(const Element &e, Value element, Value output) {
  return e.disjunction(e.isNan(element), e.eq(element, output));
}

/// How many elements of each segment are its maximum or minimum.
Tensor countExtremes(Lowering &ctx, const Segments &s, const Tensor &output) {
  auto body = [&](GatherBody &body, ValueRange x) {
    Element e(body.b, body.loc, s.compute());
    Value extreme = e.cast(x[0], output.dtype);
    Segment segment(body, s, positions(body, s.data.rank()), body.position(s.axis));
    return segment.fold(segment.begin, e.constant(0), [&](Value element, Value, Value so) {
      return e.add(so, e.cast(isExtreme(e, element, extreme), DType::Bool));
    });
  };
  return gather(ctx, sizesOfResult(ctx, s), s.compute(), output, body);
}

/// What the gradient of one result becomes for one of its segment's elements.
struct ElementGradient {
  const Segment &segment;
  Value element, output, gradient;
  Value extremes; // of maxima and minima, how many share the gradient

  Value compute(const Element &e) const;

private:
  /// The product of the others is the result divided by the element, where that can be.
  Value ofProduct(const Element &e) const;
};

Value ElementGradient::ofProduct(const Element &e) const {
  Value itself = segment.place[segment.all.axis];
  Value isIndivisible = e.disjunction(e.isNan(element), e.eq(element, e.constant(0)));
  Value from = arith::SelectOp::create(e.b, e.loc, isIndivisible, segment.begin, segment.end);
  Value others = segment.fold(from, startOf(e, segment.all), [&](Value x, Value i, Value so) {
    Value isItself = arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::eq, i, itself);
    return e.select(isItself, so, e.mul(so, x));
  });
  return e.select(isIndivisible, e.mul(gradient, others), e.div(e.mul(gradient, output), element));
}

Value ElementGradient::compute(const Element &e) const {
  switch (segment.all.reduction) {
  case Reduction::Sum:
    return gradient;
  case Reduction::Mean:
    return e.div(gradient, segment.length(e));
  case Reduction::Prod:
    return ofProduct(e);
  case Reduction::Max:
  case Reduction::Min:
    break;
  }
  // As PyTorch, which divides positive gradients only.
  Value isShared = e.gt(gradient, e.constant(0));
  Value share = e.select(isShared, e.div(gradient, extremes), gradient);
  return e.select(isExtreme(e, element, output), share, e.constant(0));
}

LogicalResult lowerSegmentReduceBackward(Lowering &ctx) {
  auto s = readSegments(ctx);
  Tensor grad = ctx.tensor("grad"), output = ctx.tensor("output");
  if (!s || !ctx.needsRank(grad, s->data.rank(), "the gradient") ||
      !ctx.needsRank(output, s->data.rank(), "the result"))
    return failure();
  SmallVector<OpFoldResult> sizes = ctx.sizesOf(s->data);
  for (const Tensor &each : {grad, output})
    for (auto [have, want] : llvm::zip_equal(ctx.sizesOf(each), sizesOfResult(ctx, *s)))
      ctx.requireEqual(have, want);
  if (constantOf(s->count) == 0)
    return ctx.done(zeros(ctx, sizes, s->data.dtype));
  requireNonEmpty(ctx, s->count, sizes, s->axis);
  std::optional<Tensor> extremes;
  if (s->reduction == Reduction::Max || s->reduction == Reduction::Min)
    extremes = countExtremes(ctx, *s, output);
  IndexMath m{ctx.b, ctx.loc};
  auto number = [&](OpFoldResult size) -> Value {
    return arith::IndexCastOp::create(ctx.b, ctx.loc, ctx.b.getI64Type(), m.value(size));
  };
  Value count = number(s->count), offsetCount = number(m.add(s->count, m.constant(1)));
  auto body = [&](GatherBody &body, ValueRange x) {
    Element e(body.b, body.loc, s->compute()), ints = e.as(DType::I64);
    SmallVector<Value> place = positions(body, s->data.rank()), at(place);
    auto toIndex = [&](Value v) -> Value {
      return arith::IndexCastOp::create(body.b, body.loc, body.b.getIndexType(), v);
    };
    Value itself = arith::IndexCastOp::create(body.b, body.loc, body.b.getI64Type(), at[s->axis]);
    Value passed = firstWhere(body, offsetCount, [&](Value position) {
      SmallVector<Value> offset(ArrayRef(place).take_front(s->axis));
      offset.push_back(toIndex(position));
      return ints.gt(body.read(s->offsets, offset), itself);
    });
    Value segmentNumber = ints.sub(passed, ints.constant(1));
    Value inside =
        ints.conjunction(ints.ge(segmentNumber, ints.constant(0)), ints.lt(segmentNumber, count));
    at[s->axis] = toIndex(ints.select(inside, segmentNumber, ints.constant(0)));
    Segment segment(body, *s, place, at[s->axis]);
    auto there = [&](const Tensor &tensor) { return e.cast(body.read(tensor, at), tensor.dtype); };
    ElementGradient one{segment, e.cast(x[0], s->data.dtype), there(output), there(grad),
                        extremes ? there(*extremes) : Value()};
    return e.as(s->data.dtype).cast(e.select(inside, one.compute(e), e.constant(0)), e.dtype);
  };
  return ctx.done(gather(ctx, sizes, s->data.dtype, s->data, body));
}

} // namespace

Family segmentReduceFamily() {
  static constexpr LoweringRow rows[] = {
      {"torch.aten.segment_reduce", lowerSegmentReduce},
      {"torch.aten._segment_reduce_backward", lowerSegmentReduceBackward},
  };
  return {"Reductions of segments", rows};
}

} // namespace tw::lower
