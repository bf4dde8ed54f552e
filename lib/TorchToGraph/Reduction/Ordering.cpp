// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sorting and what is read off a sorted line: topk, kthvalue, median, quantile, mode. Sorts are
// stable, NaN counts as greater than every number.
#include "IR/Graph/Graph.h"
#include "TorchToGraph/Builders/Bounds.h"
#include "TorchToGraph/Builders/Elementwise/Pointwise.h"
#include "TorchToGraph/Builders/Index.h"
#include "TorchToGraph/Builders/Move.h"
#include "TorchToGraph/Builders/Reduction/Reduce.h"
#include "TorchToGraph/Builders/Reduction/Scan.h"
#include "TorchToGraph/Builders/Reshape.h"
#include "TorchToGraph/Families.h"
#include "TorchToGraph/Indexing/Along.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <cmath>

using namespace mlir;

namespace tw::lower {
namespace {

/// A sorted tensor and where its elements were (i64).
struct Sorted {
  Tensor values, indices;
};

/// An operator's argument as lines along a dimension: `self` has at least one dimension.
struct Lines {
  Tensor self;
  int64_t dim;
  OpFoldResult length;
};

} // namespace

/// The lines sorted, or the `first` ones of each.
static Sorted sorted(Lowering &ctx, const Lines &lines, bool descending,
                     std::optional<OpFoldResult> first = std::nullopt) {
  auto sizes = ctx.sizesOf(lines.self);
  if (first)
    sizes[lines.dim] = *first;
  Tensor values = ctx.empty(sizes, lines.self.dtype), indices = ctx.empty(sizes, DType::I64);
  auto op = graph::SortOp::create(ctx.b, ctx.loc, values.value.getType(), indices.value.getType(),
                                  lines.self.value, values.value, indices.value, lines.dim,
                                  descending, isUnsigned(lines.self.dtype));
  return {{op.getValues(), values.dtype}, {op.getIndices(), DType::I64}};
}

/// self along argument "dim", by default the last.
static Lines linesOf(Lowering &ctx) {
  Tensor self = ctx.tensor("self");
  int64_t dim = ctx.dim("dim", self.rank(), -1);
  Tensor lines = atLeastVector(ctx, self);
  return {lines, dim, ctx.sizeOf(lines, dim)};
}

/// All of self as one line.
static Lines flatLine(Lowering &ctx) {
  Tensor self = ctx.tensor("self");
  Tensor flat = flatten(ctx, self, 0, std::max<int64_t>(self.rank(), 1) - 1);
  return {flat, 0, ctx.sizeOf(flat, 0)};
}

//===----------------------------------------------------------------------===//
// Sorting
//===----------------------------------------------------------------------===//

static LogicalResult lowerSort(Lowering &ctx) {
  Lines lines = linesOf(ctx);
  if (ctx.hasRefused())
    return failure();
  Tensor self = ctx.tensor("self");
  Sorted result = sorted(ctx, lines, ctx.flag("descending"));
  return ctx.done({withRankOf(ctx, result.values, self), withRankOf(ctx, result.indices, self)});
}

static LogicalResult lowerArgsort(Lowering &ctx) {
  Lines lines = linesOf(ctx);
  if (ctx.hasRefused())
    return failure();
  Sorted result = sorted(ctx, lines, ctx.flag("descending"));
  return ctx.done(withRankOf(ctx, result.indices, ctx.tensor("self")));
}

/// Along the first dimension.
static LogicalResult lowerMsort(Lowering &ctx) {
  Tensor self = ctx.tensor("self"), lines = atLeastVector(ctx, self);
  Sorted result = sorted(ctx, {lines, 0, ctx.sizeOf(lines, 0)}, false);
  return ctx.done(withRankOf(ctx, result.values, self));
}

static LogicalResult lowerTopk(Lowering &ctx) {
  Lines lines = linesOf(ctx);
  OpFoldResult k = ctx.size("k");
  requireAtMost(ctx, k, lines.length, "k (%lld) exceeds the size of the dimension (%lld)");
  if (ctx.hasRefused())
    return failure();
  Tensor self = ctx.tensor("self");
  Sorted first = sorted(ctx, lines, ctx.flag("largest", true), k);
  return ctx.done({withRankOf(ctx, first.values, self), withRankOf(ctx, first.indices, self)});
}

//===----------------------------------------------------------------------===//
// One element of each line
//===----------------------------------------------------------------------===//

/// Answers with the elements of the sorted lines at `positions` (i64, size 1 along the dimension);
/// without its dimension when not "keepdim".
static LogicalResult pick(Lowering &ctx, const Lines &lines, const Sorted &all,
                          const Tensor &positions) {
  SmallVector<Operand> results;
  for (const Tensor &from : {all.values, all.indices}) {
    Tensor picked = gatherAlong(ctx, from, lines.dim, positions);
    if (!ctx.flag("keepdim") || ctx.tensor("self").rank() == 0)
      picked = squeeze(ctx, picked, lines.dim);
    results.push_back(picked);
  }
  return ctx.done(results);
}

/// The sizes of a line's results: 1 along the dimension.
static SmallVector<OpFoldResult> reducedSizes(Lowering &ctx, const Lines &lines) {
  auto sizes = ctx.sizesOf(lines.self);
  sizes[lines.dim] = ctx.b.getIndexAttr(1);
  return sizes;
}

static LogicalResult lowerKthValue(Lowering &ctx) {
  Lines lines = linesOf(ctx);
  OpFoldResult k = ctx.size("k");
  requireAtMost(ctx, ctx.b.getIndexAttr(1), k, "k must be at least %lld, not %lld");
  requireAtMost(ctx, k, lines.length, "k (%lld) exceeds the size of the dimension (%lld)");
  if (ctx.hasRefused())
    return failure();
  OpFoldResult place = IndexMath{ctx.b, ctx.loc}.sub(k, ctx.b.getIndexAttr(1));
  Tensor position =
      ctx.filled(reducedSizes(ctx, lines), DType::I64, Scalar{Scalar::Kind::Int, place});
  return pick(ctx, lines, sorted(ctx, lines, false), position);
}

/// How many elements of each line are NaN (i64, size 1 along the dimension).
static Tensor countNan(Lowering &ctx, const Lines &lines) {
  Value zero = Element(ctx.b, ctx.loc, DType::I64).constant(0);
  return reduceMany(ctx, {lines.self, {lines.dim}, true}, {}, DType::I64, zero,
                    [&](ReduceBody &body, ValueRange x, ValueRange sums) {
                      Element e(body.b, body.loc, DType::I64);
                      Value isNan = e.as(lines.self.dtype).isNan(x[0]);
                      return SmallVector<Value>{e.add(sums[0], e.cast(isNan, DType::Bool))};
                    })
      .front();
}

/// Where the median of a sorted line is: the lower one of two. A line with NaN has the first NaN
/// for its median, unless NaNs are ignored.
static Tensor medianPosition(Lowering &ctx, const Lines &lines, bool ignoreNan) {
  Scalar length{Scalar::Kind::Int, lines.length};
  return pointwise(ctx, {countNan(ctx, lines), length}, DType::I64, [&](Element &e, ValueRange x) {
    Value numbers = e.sub(x[1], x[0]);
    Value all = ignoreNan ? numbers : x[1];
    Value less = e.max(e.sub(all, e.constant(1)), e.constant(0));
    Value middle = arith::ShRUIOp::create(e.b, e.loc, less, e.constant(1));
    if (ignoreNan)
      return middle;
    return e.select(e.gt(x[0], e.constant(0)), numbers, middle);
  });
}

template <bool ignoreNan>
static LogicalResult lowerMedianDim(Lowering &ctx) {
  Lines lines = linesOf(ctx);
  if (ctx.hasRefused())
    return failure();
  return pick(ctx, lines, sorted(ctx, lines, false), medianPosition(ctx, lines, ignoreNan));
}

/// Of all elements; NaN or the smallest integer when there are none.
template <bool ignoreNan>
static LogicalResult lowerMedian(Lowering &ctx) {
  Lines lines = flatLine(ctx);
  if (constantOf(lines.length) == 0) {
    MLIRContext *context = ctx.b.getContext();
    Scalar none = isFloat(lines.self.dtype) ? Scalar::ofFloat(context, NAN)
                                            : Scalar::ofInt(context, INT64_MIN);
    return ctx.done(ctx.filled({}, lines.self.dtype, none));
  }
  Sorted all = sorted(ctx, lines, false);
  Tensor picked = gatherAlong(ctx, all.values, 0, medianPosition(ctx, lines, ignoreNan));
  return ctx.done(reshape(ctx, picked, {}));
}

/// How many elements up to here equal the one here, in each sorted line.
static Tensor runLengths(Lowering &ctx, const Lines &lines, const Tensor &values) {
  DType dtype = values.dtype;
  Element outside(ctx.b, ctx.loc, dtype);
  SmallVector<Value> initial = {outside.constant(0), outside.as(DType::I64).constant(0)};
  return scan(ctx, values, lines.dim, {dtype, DType::I64}, initial,
              [&](OpBuilder &b, Location loc, ValueRange state, ValueRange x) {
                Element e(b, loc, dtype), ints = e.as(DType::I64);
                Value longer = ints.add(state[1], ints.constant(1));
                Value length = ints.select(e.eq(x[0], state[0]), longer, ints.constant(1));
                return SmallVector<Value>{x[0], length};
              })[1];
}

/// The smallest of the most frequent elements, and the last place where it is.
static LogicalResult lowerMode(Lowering &ctx) {
  Lines lines = linesOf(ctx);
  if (ctx.hasRefused())
    return failure();
  Sorted all = sorted(ctx, lines, false);
  Tensor lengths = runLengths(ctx, lines, all.values);
  Value zero = Element(ctx.b, ctx.loc, DType::I64).constant(0);
  auto longest = reduceMany(ctx, {lengths, {lines.dim}, true}, {}, {DType::I64, DType::I64},
                            {zero, zero}, [&](ReduceBody &body, ValueRange x, ValueRange best) {
                              Element e(body.b, body.loc, DType::I64);
                              Value longer = e.gt(x[0], best[0]);
                              Value here = arith::IndexCastOp::create(
                                  body.b, body.loc, body.b.getI64Type(), body.position(lines.dim));
                              return SmallVector<Value>{e.select(longer, x[0], best[0]),
                                                        e.select(longer, here, best[1])};
                            });
  return pick(ctx, lines, all, longest[1]);
}

//===----------------------------------------------------------------------===//
// Quantiles
//===----------------------------------------------------------------------===//

enum class Between { Linear, Lower, Higher, Midpoint, Nearest };

static std::optional<Between> interpolation(Lowering &ctx) {
  static constexpr std::pair<StringRef, Between> names[] = {{"linear", Between::Linear},
                                                            {"lower", Between::Lower},
                                                            {"higher", Between::Higher},
                                                            {"midpoint", Between::Midpoint},
                                                            {"nearest", Between::Nearest}};
  std::string given = ctx.string("interpolation");
  for (auto [name, between] : names)
    if (name == given || given.empty())
      return between;
  ctx.refuse("interpolation is '" + given +
             "', but must be linear, lower, higher, midpoint or nearest");
  return std::nullopt;
}

/// The value at the fractional place `rank` of a sorted line; `at` reads a whole place (i64).
static Value valueAt(const Element &e, Between between, Value rank,
                     llvm::function_ref<Value(Value place)> at) {
  Element ints = e.as(DType::I64);
  Value floor = e.floor(rank), ceil = e.neg(e.floor(e.neg(rank)));
  Value below = at(ints.cast(floor, e.dtype)), above = at(ints.cast(ceil, e.dtype));
  Value rest = e.sub(rank, floor);
  switch (between) {
  case Between::Lower:
    return below;
  case Between::Higher:
    return above;
  case Between::Nearest:
    return at(ints.cast(math::RoundEvenOp::create(e.b, e.loc, rank), e.dtype));
  case Between::Linear:
  case Between::Midpoint:
    break;
  }
  Value weight = between == Between::Midpoint ? e.constant(0.5) : rest;
  Value sum = e.add(below, e.mul(weight, e.sub(above, below)));
  return e.select(e.eq(below, above), below, sum); // infinities
}

/// For each q the value below which that part of a line lies. A line with NaN gives NaN, unless
/// NaNs are ignored.
template <bool ignoreNan>
static LogicalResult lowerQuantile(Lowering &ctx) {
  Lines lines = ctx.has("dim") ? linesOf(ctx) : flatLine(ctx);
  auto between = interpolation(ctx);
  Tensor self = ctx.tensor("self");
  if (ctx.hasRefused())
    return failure();
  DType dtype = self.dtype;
  if (dtype != DType::F32 && dtype != DType::F64)
    return ctx.refuse("quantiles need f32 or f64");
  Tensor q = ctx.arg("q").tensor() ? ctx.tensor("q") : ctx.filled({}, dtype, ctx.scalar("q"));
  if (q.rank() > 1)
    return ctx.refuse("q must be a number or a vector");
  int64_t shift = q.rank();
  Tensor values = sorted(ctx, lines, false).values, nans = countNan(ctx, lines);
  auto sizes = reducedSizes(ctx, lines), space = sizes;
  if (shift)
    space.insert(space.begin(), ctx.sizeOf(q, 0));
  requireNonEmpty(ctx, lines.length, space, lines.dim);
  Value length = IndexMath{ctx.b, ctx.loc}.value(lines.length);
  SmallVector<PlacedInput> inputs = {{q, 0}, {nans, shift}};
  auto body = [&](GatherBody &body, ValueRange x) {
    OpBuilder &b = body.b;
    Element e(b, body.loc, dtype), ints = e.as(DType::I64);
    Value count = arith::IndexCastOp::create(b, body.loc, b.getI64Type(), length);
    Value hasNan = ints.gt(x[1], ints.constant(0));
    Value last = ints.sub(ignoreNan ? ints.sub(count, x[1]) : count, ints.constant(1));
    last = ints.max(last, ints.constant(0));
    Value rank = e.mul(e.cast(x[0], q.dtype), e.cast(last, DType::I64));
    if (!ignoreNan)
      rank = e.select(hasNan, e.cast(last, DType::I64), rank);
    return valueAt(e, *between, rank, [&](Value place) {
      SmallVector<Value> at;
      for (int64_t d = 0; d < lines.self.rank(); ++d)
        at.push_back(d == lines.dim ? body.safeIndex(place, DType::I64, length, d, false)
                                    : body.position(d + shift));
      return body.read(values, at);
    });
  };
  Tensor result = gatherPlaced(ctx, space, dtype, inputs, body);
  SmallVector<OpFoldResult> shown;
  if (shift)
    shown.push_back(space[0]);
  if (ctx.flag("keepdim") && !ctx.has("dim"))
    shown.append(self.rank(), ctx.b.getIndexAttr(1));
  else if (self.rank())
    for (auto [d, size] : llvm::enumerate(sizes))
      if (ctx.flag("keepdim") || (ctx.has("dim") && int64_t(d) != lines.dim))
        shown.push_back(size);
  return ctx.done(reshape(ctx, result, shown));
}

Family orderingFamily() {
  static constexpr LoweringRow rows[] = {
      {"torch.aten.sort", lowerSort},
      {"torch.aten.sort.stable", lowerSort},
      {"torch.aten.argsort", lowerArgsort},
      {"torch.aten.argsort.stable", lowerArgsort},
      {"torch.aten.msort", lowerMsort},
      {"torch.aten.topk", lowerTopk},
      {"torch.aten.kthvalue", lowerKthValue},
      {"torch.aten.median", lowerMedian<false>},
      {"torch.aten.nanmedian", lowerMedian<true>},
      {"torch.aten.median.dim", lowerMedianDim<false>},
      {"torch.aten.nanmedian.dim", lowerMedianDim<true>},
      {"torch.aten.mode", lowerMode},
      {"torch.aten.quantile", lowerQuantile<false>},
      {"torch.aten.quantile.scalar", lowerQuantile<false>},
      {"torch.aten.nanquantile", lowerQuantile<true>},
      {"torch.aten.nanquantile.scalar", lowerQuantile<true>},
  };
  return {"Ordering", rows};
}

} // namespace tw::lower
