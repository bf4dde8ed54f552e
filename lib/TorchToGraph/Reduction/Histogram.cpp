// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How many of the points in a space fall into each of its bins: histogram, histogramdd. Bins are
// found in their edges by binary search and counted by one scatter.
#include "Support/Counted.h"
#include "TorchToGraph/Builders/Bounds.h"
#include "TorchToGraph/Builders/Elementwise/Pointwise.h"
#include "TorchToGraph/Builders/Index.h"
#include "TorchToGraph/Builders/Indexing/BinarySearch.h"
#include "TorchToGraph/Builders/Move.h"
#include "TorchToGraph/Builders/Reduction/Reduce.h"
#include "TorchToGraph/Builders/Reshape.h"
#include "TorchToGraph/Families.h"
#include "TorchToGraph/Indexing/Along.h"
#include "TorchToGraph/Movement/Spaced.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include <cmath>

using namespace mlir;

namespace tw::lower {

//===----------------------------------------------------------------------===//
// Edges
//===----------------------------------------------------------------------===//

/// Both ends of the bins of one coordinate.
using Ends = std::pair<Operand, Operand>;

/// The smallest and the greatest coordinate, apart if there is but one value; 0 and 1 where there
/// are none.
static Ends endsOfData(Lowering &ctx, const Tensor &coordinates) {
  DType dtype = coordinates.dtype;
  ReduceSpace all{coordinates, {0}, false};
  Tensor low = reduceMin(ctx, all), high = reduceMax(ctx, all);
  // The least of no values is greater than their greatest.
  auto apart = [&](const Tensor &end, double by, double ofNothing) {
    return pointwise(ctx, {end, low, high}, dtype, [&](Element &e, ValueRange x) {
      Value moved = e.select(e.eq(x[1], x[2]), e.add(x[0], e.constant(by)), x[0]);
      return e.select(e.gt(x[1], x[2]), e.constant(ofNothing), moved);
    });
  };
  Tensor first = apart(low, -0.5, 0.0), last = apart(high, 0.5, 1.0);
  Tensor isFinite = pointwise(
      ctx, {first, last}, DType::Bool,
      [](Element &e, ValueRange x) { return e.lt(e.sub(x[1], x[0]), e.highest()); }, DType::F64);
  Value holds = tensor::ExtractOp::create(ctx.b, ctx.loc, isFinite.value, ValueRange());
  graph::AssertOp::create(ctx.b, ctx.loc, holds,
                          ctx.shownName() + ": the range of the values is not finite",
                          ValueRange());
  return {first, last};
}

/// The ends that `range` says for coordinate `d`.
static std::optional<Ends> endsArgument(Lowering &ctx, const OperandList &range, size_t d) {
  const Scalar *low = 2 * d + 1 < range.size() ? range[2 * d].scalar() : nullptr;
  const Scalar *high = low ? range[2 * d + 1].scalar() : nullptr;
  if (!high || !low->isConstant() || !high->isConstant()) {
    ctx.refuse("range must hold two constant numbers for each coordinate");
    return std::nullopt;
  }
  double first = *low->constantNumber(), last = *high->constantNumber();
  if (!(first <= last) || !std::isfinite(first) || !std::isfinite(last)) {
    ctx.refuse("range goes from " + Twine(std::to_string(first)) + " to " + std::to_string(last));
    return std::nullopt;
  }
  double by = first == last ? 0.5 : 0.0;
  MLIRContext *context = ctx.b.getContext();
  return Ends{Scalar::ofFloat(context, first - by), Scalar::ofFloat(context, last + by)};
}

/// The points [count, coordinates] of the argument self; histogram's have one coordinate.
static std::optional<Tensor> pointsArgument(Lowering &ctx, bool isFlat) {
  Tensor self = ctx.tensor("self");
  if (ctx.hasRefused())
    return std::nullopt;
  if (!isFloat(self.dtype))
    ctx.refuse("only floating-point values have histograms");
  else if (!isFlat && (self.rank() < 2 || self.size(self.rank() - 1) < 1))
    ctx.refuse("the points need a last dimension of known size, not 0, after at least one other");
  if (ctx.hasRefused())
    return std::nullopt;
  if (isFlat)
    return unsqueeze(ctx, flatten(ctx, self, 0, std::max<int64_t>(self.rank(), 1) - 1), 1);
  return flatten(ctx, self, 0, self.rank() - 2);
}

/// Coordinate `d` of all points.
static Tensor coordinatesOf(Lowering &ctx, const Tensor &points, int64_t d) {
  OpFoldResult at = ctx.b.getIndexAttr(d), one = ctx.b.getIndexAttr(1);
  return squeeze(ctx, slice(ctx, points, 1, at, one), 1);
}

/// As many equal bins for each coordinate as `counts` says, by their edges.
static std::optional<SmallVector<Tensor>> equalBins(Lowering &ctx, const Tensor &points,
                                                    ArrayRef<int64_t> counts) {
  if (int64_t(counts.size()) != points.size(1)) {
    ctx.refuse("bins holds " + Twine(counts.size()) + " counts for " + Twine(points.size(1)) +
               " coordinates");
    return std::nullopt;
  }
  const OperandList *range = ctx.arg("range").list();
  SmallVector<Tensor> edges;
  for (auto [d, count] : llvm::enumerate(counts)) {
    if (count < 1) {
      ctx.refuse("bins must be positive, and is " + Twine(count));
      return std::nullopt;
    }
    std::optional<Ends> ends = range ? endsArgument(ctx, *range, d)
                                     : endsOfData(ctx, coordinatesOf(ctx, points, int64_t(d)));
    if (!ends)
      return std::nullopt;
    edges.push_back(spaced(ctx, ends->first, ends->second, count + 1, points.dtype));
  }
  return edges;
}

//===----------------------------------------------------------------------===//
// Counting
//===----------------------------------------------------------------------===//

/// In which bin each coordinate lies (i64), the last edge being inside; -1 in none.
static Tensor binsOf(Lowering &ctx, const Tensor &coordinates, const Tensor &edges) {
  Element outside(ctx.b, ctx.loc, DType::I64);
  OpFoldResult count = ctx.sizeOf(edges, 0);
  requireAtMost(ctx, ctx.b.getIndexAttr(2), count, "%lld edges at least are needed, not %lld");
  Value edgeCount = arith::IndexCastOp::create(ctx.b, ctx.loc, ctx.b.getI64Type(),
                                               IndexMath{ctx.b, ctx.loc}.value(count));
  Value last = outside.sub(edgeCount, outside.constant(1));
  auto body = [&](GatherBody &body, ValueRange x) {
    Element e(body.b, body.loc, coordinates.dtype), ints = e.as(DType::I64);
    auto edgeAt = [&](Value position) {
      Value at = arith::IndexCastOp::create(body.b, body.loc, body.b.getIndexType(), position);
      return e.cast(body.read(edges, at), edges.dtype);
    };
    Value inside = e.conjunction(e.le(edgeAt(ints.constant(0)), x[0]), e.le(x[0], edgeAt(last)));
    Value above =
        firstWhere(body, edgeCount, [&](Value position) { return e.gt(edgeAt(position), x[0]); });
    Value bin = ints.min(ints.sub(above, ints.constant(1)), ints.sub(last, ints.constant(1)));
    return ints.select(inside, bin, ints.constant(-1));
  };
  return gather(ctx, ctx.sizesOf(coordinates), DType::I64, coordinates, body);
}

/// The sums of the points' weights (1 without) in all bins.
static Tensor countPoints(Lowering &ctx, const Tensor &points, ArrayRef<Tensor> edges) {
  DType dtype = opmath(points.dtype);
  IndexMath m{ctx.b, ctx.loc};
  SmallVector<OpFoldResult> sizes, space{ctx.sizeOf(points, 0)};
  SmallVector<Value> bounds;
  SmallVector<PlacedInput> inputs;
  for (auto [d, each] : llvm::enumerate(edges)) {
    inputs.push_back({binsOf(ctx, coordinatesOf(ctx, points, int64_t(d)), each), 0});
    sizes.push_back(m.sub(ctx.sizeOf(each, 0), m.constant(1)));
    bounds.push_back(m.value(sizes.back()));
  }
  std::optional<Tensor> weight = ctx.optTensor("weight");
  if (weight) {
    weight = flatten(ctx, *weight, 0, std::max<int64_t>(weight->rank(), 1) - 1);
    ctx.requireEqual(ctx.sizeOf(*weight, 0), space.front());
    inputs.push_back({*weight, 0});
  }
  auto body = [&](ScatterBody &body, ValueRange x) {
    Element e(body.b, body.loc, dtype), ints = e.as(DType::I64);
    SmallVector<Value> bins;
    Value value = weight ? e.cast(x.back(), weight->dtype) : e.constant(1);
    for (auto [d, bound] : llvm::enumerate(bounds)) {
      Value isInside = ints.ge(x[d], ints.constant(0));
      value = e.select(isInside, value, e.constant(0)); // to the first bin where it is in none
      bins.push_back(
          body.safeIndex(ints.max(x[d], ints.constant(0)), DType::I64, bound, int64_t(d), false));
    }
    return Update{bins, value};
  };
  return scatter(ctx, zeros(ctx, sizes, dtype), graph::Combine::Add, space, inputs, body);
}

/// Each sum divided by that of all and by the size of its bin.
static Tensor densityOf(Lowering &ctx, const Tensor &sums, ArrayRef<Tensor> edges) {
  auto divide = [&](const Tensor &x, const Tensor &y) {
    return pointwise(ctx, {x, y}, x.dtype,
                     [](Element &e, ValueRange v) { return e.div(v[0], v[1]); });
  };
  Tensor result = divide(sums, reduceSum(ctx, {sums, allDims(sums), false}, sums.dtype));
  IndexMath m{ctx.b, ctx.loc};
  for (auto [d, each] : llvm::enumerate(edges)) {
    OpFoldResult count = m.sub(ctx.sizeOf(each, 0), m.constant(1));
    Tensor low = slice(ctx, each, 0, m.constant(0), count);
    Tensor high = slice(ctx, each, 0, m.constant(1), count);
    Tensor length = pointwise(ctx, {high, low}, sums.dtype,
                              [](Element &e, ValueRange v) { return e.sub(v[0], v[1]); });
    SmallVector<OpFoldResult> aligned(edges.size() - d, m.constant(1));
    aligned[0] = count;
    result = divide(result, reshape(ctx, length, aligned));
  }
  return result;
}

static Tensor histogramOf(Lowering &ctx, const Tensor &points, ArrayRef<Tensor> edges) {
  Tensor sums = countPoints(ctx, points, edges);
  if (ctx.flag("density"))
    sums = densityOf(ctx, sums, edges);
  return castTo(ctx, sums, points.dtype);
}

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

/// (sums, edges) of the equal bins, or of those between the edges given.
static LogicalResult lowerHistogram(Lowering &ctx) {
  auto points = pointsArgument(ctx, true);
  if (!points)
    return failure();
  SmallVector<Tensor> edges;
  if (ctx.arg("bins").tensor()) {
    edges.push_back(ctx.tensor("bins"));
    if (!ctx.needsRank(edges.front(), 1, "bins"))
      return failure();
  } else {
    auto equal = equalBins(ctx, *points, ctx.integer("bins", 100));
    if (!equal)
      return failure();
    edges = *equal;
  }
  return ctx.done({histogramOf(ctx, *points, edges), edges.front()});
}

static LogicalResult lowerBinEdges(Lowering &ctx) {
  auto points = pointsArgument(ctx, false);
  auto edges = points ? equalBins(ctx, *points, ctx.integers("bins")) : std::nullopt;
  if (!edges)
    return failure();
  return ctx.done(Operand(OperandList(edges->begin(), edges->end())));
}

static LogicalResult lowerFromCounts(Lowering &ctx) {
  auto points = pointsArgument(ctx, false);
  auto edges = points ? equalBins(ctx, *points, ctx.integers("bins")) : std::nullopt;
  if (!edges)
    return failure();
  return ctx.done(histogramOf(ctx, *points, *edges));
}

static LogicalResult lowerFromEdges(Lowering &ctx) {
  auto points = pointsArgument(ctx, false);
  SmallVector<Tensor> edges = ctx.tensors("bins");
  if (!points || ctx.hasRefused())
    return failure();
  if (int64_t(edges.size()) != points->size(1))
    return ctx.refuse("bins holds " + counted(edges.size(), "tensor") + " for " +
                      Twine(points->size(1)) + " coordinates");
  for (const Tensor &each : edges)
    if (!ctx.needsRank(each, 1, "each tensor of bins"))
      return failure();
  return ctx.done(histogramOf(ctx, *points, edges));
}

Family histogramFamily() {
  static constexpr LoweringRow rows[] = {
      {"torch.aten.histogram.bin_ct", lowerHistogram},
      {"torch.aten.histogram.bins_tensor", lowerHistogram},
      {"torch.aten._histogramdd_bin_edges", lowerBinEdges},
      {"torch.aten._histogramdd_from_bin_cts", lowerFromCounts},
      {"torch.aten._histogramdd_from_bin_tensors", lowerFromEdges},
  };
  return {"Histograms", rows};
}

} // namespace tw::lower
