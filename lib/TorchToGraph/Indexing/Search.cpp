// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where values lie among others: searchsorted, bucketize, isin, one_hot, histc.
#include "TorchToGraph/Builders/Elementwise/Pointwise.h"
#include "TorchToGraph/Builders/Index.h"
#include "TorchToGraph/Builders/Indexing/BinarySearch.h"
#include "TorchToGraph/Builders/Reduction/Reduce.h"
#include "TorchToGraph/Builders/Reshape.h"
#include "TorchToGraph/Families.h"
#include "TorchToGraph/Indexing/Along.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using tw::graph::Combine;

namespace tw::lower {

//===----------------------------------------------------------------------===//
// Binary search
//===----------------------------------------------------------------------===//

namespace {

/// How values are looked up in sorted lines.
struct Search {
  Tensor sequence;              // rank 1, or the leading dimensions of the values
  std::optional<Tensor> sorter; // the order in which the sequence is sorted
  bool right = false;           // count elements that are equal, too
  DType dtype = DType::F32;     // of comparisons
};

/// One look-up inside a gather's body.
struct SearchBody {
  const Search &search;
  GatherBody &body;
  Value value, length; // what is looked for (in search.dtype), the line's length (i64)
  SmallVector<Value> line;

  Value element(Value position) const;
  Value run() const;
};

} // namespace

/// The element of the line that is `position`-th in order.
Value SearchBody::element(Value position) const {
  OpBuilder &b = body.b;
  SmallVector<Value> at(line);
  at.push_back(arith::IndexCastOp::create(b, body.loc, b.getIndexType(), position));
  if (search.sorter) {
    Value bound = arith::IndexCastOp::create(b, body.loc, b.getIndexType(), length);
    Value place = body.read(*search.sorter, at);
    at.back() = body.safeIndex(place, search.sorter->dtype, bound, line.size(), false);
  }
  Element e(b, body.loc, search.dtype);
  return e.cast(body.read(search.sequence, at), search.sequence.dtype);
}

/// How many elements come before `value`.
Value SearchBody::run() const {
  Element compare(body.b, body.loc, search.dtype);
  return firstWhere(body, length, [&](Value position) {
    Value there = element(position);
    return search.right ? compare.gt(there, value) : compare.ge(there, value);
  });
}

static Tensor searchSorted(Lowering &ctx, const Search &search, const Tensor &values,
                           DType result) {
  auto space = ctx.sizesOf(values), sizes = ctx.sizesOf(search.sequence);
  bool shared = search.sequence.rank() == 1;
  if (!shared) {
    if (!ctx.needsRank(values, search.sequence.rank(), "the values"))
      return ctx.empty(space, result);
    for (size_t d = 0; d + 1 < sizes.size(); ++d)
      ctx.requireEqual(sizes[d], space[d]);
  }
  IndexMath math{ctx.b, ctx.loc};
  Value length =
      arith::IndexCastOp::create(ctx.b, ctx.loc, ctx.b.getI64Type(), math.value(sizes.back()));
  return gather(ctx, space, result, values, [&](GatherBody &body, ValueRange x) {
    Value value = Element(body.b, body.loc, search.dtype).cast(x[0], values.dtype);
    SearchBody one{search, body, value, length, {}};
    if (!shared)
      one.line = positions(body, search.sequence.rank() - 1);
    return Element(body.b, body.loc, result).cast(one.run(), DType::I64);
  });
}

/// A tensor or a number, as a tensor.
static Tensor asTensor(Lowering &ctx, StringRef name) {
  auto scalar = ctx.arg(name).scalar();
  return scalar ? ctx.filled({}, scalar->promotionDType(), *scalar) : ctx.tensor(name);
}

static LogicalResult lowerSearch(Lowering &ctx, StringRef sequence) {
  Tensor sorted = ctx.tensor(sequence), values = asTensor(ctx, "self");
  bool right = ctx.flag("right") || ctx.string("side") == "right";
  auto sorter = ctx.optTensor("sorter");
  if (sorted.rank() == 0)
    return ctx.refuse("the sorted sequence must have a dimension");
  if (ctx.hasRefused())
    return failure();
  if (sorter)
    for (auto [a, c] : llvm::zip(ctx.sizesOf(sorted), ctx.sizesOf(*sorter)))
      ctx.requireEqual(a, c);
  Search search{sorted, sorter, right, promote({sorted, values})};
  return ctx.done(searchSorted(ctx, search, values, ctx.resultDType()));
}

static LogicalResult lowerSearchSorted(Lowering &ctx) {
  return lowerSearch(ctx, "sorted_sequence");
}
static LogicalResult lowerBucketize(Lowering &ctx) { return lowerSearch(ctx, "boundaries"); }

//===----------------------------------------------------------------------===//
// Membership and counts
//===----------------------------------------------------------------------===//

/// Whether each element equals one of the others.
static LogicalResult lowerIsIn(Lowering &ctx) {
  Tensor elements = asTensor(ctx, ctx.has("elements") ? "elements" : "element");
  Tensor tests = asTensor(ctx, ctx.has("test_elements") ? "test_elements" : "test_element");
  bool invert = ctx.flag("invert");
  if (ctx.hasRefused())
    return failure();
  DType dtype = promote({elements, tests});
  Tensor flat = flatten(ctx, tests, 0, std::max<int64_t>(tests.rank(), 1) - 1);
  Tensor equal = pointwise(
      ctx, {unsqueeze(ctx, elements, elements.rank()), flat}, DType::Bool,
      [](Element &e, ValueRange x) { return e.eq(x[0], x[1]); }, dtype);
  Tensor any = reduce(
      ctx, {equal, {elements.rank()}, false}, DType::Bool, [](Element &e) { return e.constant(0); },
      [](Element &e, ValueRange x) { return e.disjunction(x[0], x[1]); });
  if (invert)
    any = pointwise(ctx, any, DType::Bool,
                    [](Element &e, ValueRange x) { return e.complement(x[0]); });
  return ctx.done(any);
}

static LogicalResult lowerOneHot(Lowering &ctx) {
  Tensor self = ctx.tensor("self");
  int64_t classes = ctx.integer("num_classes", -1);
  if (classes < 0)
    return ctx.refuse("without num_classes its result's size depends on the data");
  auto sizes = ctx.sizesOf(self);
  requireNonEmpty(ctx, ctx.b.getIndexAttr(classes), sizes, self.rank());
  sizes.push_back(ctx.b.getIndexAttr(classes));
  Value bound = IndexMath{ctx.b, ctx.loc}.value(ctx.b.getIndexAttr(classes));
  return ctx.done(gatherPlaced(
      ctx, sizes, ctx.resultDType(), PlacedInput{self, 0}, [&](GatherBody &body, ValueRange x) {
        Value hot = body.safeIndex(x[0], self.dtype, bound, self.rank(), false);
        Value here = arith::CmpIOp::create(body.b, body.loc, arith::CmpIPredicate::eq, hot,
                                           body.position(self.rank()));
        return Element(body.b, body.loc, DType::I64).cast(here, DType::Bool);
      }));
}

/// [lowest, highest] of a histogram: as given, or of the data when both are equal; widened when
/// that leaves nothing.
static std::pair<Tensor, Tensor> histogramRange(Lowering &ctx, const Tensor &flat) {
  Scalar min = ctx.scalar("min"), max = ctx.scalar("max");
  Tensor low = ctx.filled({}, flat.dtype, min), high = ctx.filled({}, flat.dtype, max);
  bool fromData = min.constantNumber() == max.constantNumber() && min.isConstant();
  if (fromData && constantOf(ctx.sizeOf(flat, 0)) != 0) {
    low = reduceMin(ctx, {flat, {0}, false});
    high = reduceMax(ctx, {flat, {0}, false});
  }
  auto widen = [&](const Tensor &x, int by) {
    return pointwise(ctx, {x, low, high}, flat.dtype, [&](Element &e, ValueRange v) {
      return e.select(e.eq(v[1], v[2]), e.add(v[0], e.constant(by)), v[0]);
    });
  };
  return {widen(low, -1), widen(high, 1)};
}

/// How many elements fall into each of `bins` equal parts of [min, max]; others do not count.
static LogicalResult lowerHistc(Lowering &ctx) {
  Tensor self = ctx.tensor("self");
  int64_t bins = ctx.integer("bins", 100);
  if (bins < 1)
    return ctx.refuse("bins must be positive");
  if (ctx.hasRefused())
    return failure();
  DType dtype = opmath(self.dtype);
  Tensor flat = castTo(ctx, flatten(ctx, self, 0, std::max<int64_t>(self.rank(), 1) - 1), dtype);
  auto [low, high] = histogramRange(ctx, flat);
  OpFoldResult count = ctx.b.getIndexAttr(bins);
  Value bound = IndexMath{ctx.b, ctx.loc}.value(count);
  SmallVector<PlacedInput> inputs = {{flat, 0}, {low, 0}, {high, 0}};
  auto body = [&](ScatterBody &body, ValueRange x) {
    Element e(body.b, body.loc, dtype), ints = e.as(DType::I64);
    Value inside = e.conjunction(e.le(x[1], x[0]), e.le(x[0], x[2]));
    Value scaled = e.mul(e.sub(x[0], x[1]), e.constant(bins));
    Value bin = ints.cast(e.div(scaled, e.sub(x[2], x[1])), dtype);
    bin = ints.min(bin, ints.constant(bins - 1));
    bin = ints.select(inside, bin, ints.constant(0)); // adds 0 there
    return Update{{body.safeIndex(bin, DType::I64, bound, 0, false)}, e.cast(inside, DType::Bool)};
  };
  Tensor sums =
      scatter(ctx, zeros(ctx, count, dtype), Combine::Add, ctx.sizesOf(flat), inputs, body);
  return ctx.done(castTo(ctx, sums, ctx.resultDType()));
}

Family searchFamily() {
  static constexpr LoweringRow rows[] = {
      {"torch.aten.searchsorted.Tensor", lowerSearchSorted},
      {"torch.aten.searchsorted.Scalar", lowerSearchSorted},
      {"torch.aten.bucketize.Tensor", lowerBucketize},
      {"torch.aten.bucketize.Scalar", lowerBucketize},
      {"torch.aten.isin.Tensor_Tensor", lowerIsIn},
      {"torch.aten.isin.Tensor_Scalar", lowerIsIn},
      {"torch.aten.isin.Scalar_Tensor", lowerIsIn},
      {"torch.aten.one_hot", lowerOneHot},
      {"torch.aten.histc", lowerHistc},
  };
  return {"Searching and counting", rows};
}

} // namespace tw::lower
