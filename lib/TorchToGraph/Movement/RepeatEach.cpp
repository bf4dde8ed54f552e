// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// repeat_interleave with counts from data, for a given size of the result.
#include "Support/Counted.h"
#include "TorchToGraph/Builders/Bounds.h"
#include "TorchToGraph/Builders/Elementwise/Pointwise.h"
#include "TorchToGraph/Builders/Index.h"
#include "TorchToGraph/Builders/Indexing/Scatter.h"
#include "TorchToGraph/Builders/Reduction/Scan.h"
#include "TorchToGraph/Builders/Reshape.h"
#include "TorchToGraph/Families.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include <fmt/format.h>

using namespace mlir;

namespace tw::lower {

using SizeList = SmallVector<OpFoldResult>;

/// Running sums of a vector, in i64.
static Tensor sums(Lowering &ctx, const Tensor &vector) {
  Value zero = Element(ctx.b, ctx.loc, DType::I64).constant(0);
  return scan(ctx, vector, 0, DType::I64, zero,
              [&](OpBuilder &b, Location loc, ValueRange states, ValueRange elements) {
                Element e(b, loc, DType::I64);
                return SmallVector<Value>{e.add(states[0], e.cast(elements[0], vector.dtype))};
              })
      .front();
}

/// How often each position is repeated in a result of `total`, as the position
/// that each place of the result takes: the number of positions whose
/// repetitions have ended before it. A place after the last end holds `counts`'
/// size.
static Tensor positions(Lowering &ctx, const Tensor &counts, OpFoldResult total) {
  IndexMath math{ctx.b, ctx.loc};
  OpFoldResult places = math.add(total, math.constant(1)); // the last position ends at `total`
  Value bound = math.value(places);
  Tensor ended =
      scatter(ctx, zeros(ctx, places, DType::I64), graph::Combine::Add, ctx.sizesOf(counts),
              {{sums(ctx, counts), 0}}, [&](ScatterBody &body, ValueRange x) {
                Value end = body.safeIndex(x[0], DType::I64, bound, 0, false);
                return Update{{end}, Element(body.b, body.loc, DType::I64).constant(1)};
              });
  return sums(ctx, ended); // one place more than the result has
}

/// The size of the repeated dimension, which cannot be taken from the data.
static std::optional<OpFoldResult> resultSize(Lowering &ctx, int64_t dim) {
  if (ctx.has("output_size"))
    return ctx.size("output_size");
  SmallVector<int64_t> shape = ctx.resultShape();
  if (dim < int64_t(shape.size()) && !ShapedType::isDynamic(shape[dim]))
    return ctx.b.getIndexAttr(shape[dim]);
  ctx.refuse("the size of its result depends on the data: give output_size");
  return std::nullopt;
}

/// Position i counts[i] times.
static LogicalResult lowerRepeats(Lowering &ctx) {
  Tensor counts = ctx.tensor("repeats");
  auto total = resultSize(ctx, 0);
  if (!total || !ctx.needsRank(counts, 1, "repeats"))
    return failure();
  requireSizes(ctx, *total);
  DType dtype = ctx.resultDType();
  if (ctx.hasRefused())
    return failure();
  Value bound = IndexMath{ctx.b, ctx.loc}.value(ctx.sizeOf(counts, 0));
  Tensor from = positions(ctx, counts, *total);
  return ctx.done(
      gather(ctx, agreedSizes(ctx, *total), dtype, {}, [&](GatherBody &body, ValueRange) {
        Value at = body.safeIndex(body.read(from, body.position(0)), DType::I64, bound, 0, false);
        Value number = arith::IndexCastOp::create(body.b, body.loc, body.b.getI64Type(), at);
        return Element(body.b, body.loc, dtype).cast(number, DType::I64);
      }));
}

/// The slices of a dimension, each as often as `repeats` says.
static LogicalResult lowerRepeatEach(Lowering &ctx) {
  Tensor self = ctx.tensor("self"), counts = ctx.tensor("repeats");
  if (!ctx.has("dim") || self.rank() == 0)
    self = flatten(ctx, self, 0, std::max<int64_t>(self.rank() - 1, 0));
  int64_t dim = ctx.has("dim") ? ctx.dim("dim", self.rank()) : 0;
  auto total = resultSize(ctx, dim);
  if (counts.rank() > 1)
    return ctx.refuse(
        fmt::format("repeats must be a vector, not of {}", counted(counts.rank(), "dimension")));
  if (!total || ctx.hasRefused())
    return failure();
  requireSizes(ctx, *total);
  SizeList sizes = ctx.sizesOf(self);
  if (counts.rank() == 0 || counts.size(0) == 1)
    counts = broadcastTo(ctx, counts, sizes[dim]);
  requireSame(ctx, ctx.sizeOf(counts, 0), sizes[dim],
              "%lld repeats are given for a dimension of size %lld");
  if (ctx.hasRefused())
    return failure();
  Value bound = IndexMath{ctx.b, ctx.loc}.value(sizes[dim]);
  Tensor from = positions(ctx, counts, *total);
  sizes[dim] = *total;
  requireNonEmpty(ctx, ctx.sizeOf(self, dim), sizes, dim);
  return ctx.done(
      gather(ctx, agreedSizes(ctx, sizes), self.dtype, {}, [&](GatherBody &body, ValueRange) {
        SmallVector<Value> at;
        for (int64_t i = 0; i < self.rank(); ++i)
          at.push_back(body.position(i));
        at[dim] = body.safeIndex(body.read(from, at[dim]), DType::I64, bound, dim, false);
        return body.read(self, at);
      }));
}

Family repeatEachFamily() {
  static constexpr LoweringRow rows[] = {
      {"torch.aten.repeat_interleave.Tensor", lowerRepeats},
      {"torch.aten.repeat_interleave.self_Tensor", lowerRepeatEach},
  };
  return {"Repetition by data", rows};
}

} // namespace tw::lower
