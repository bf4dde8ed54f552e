// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bags of embeddings: sums, means or maxima of the rows of a weight that runs of indices name. Bag
// k holds the indices from offsets[k] up to offsets[k + 1], the last one up to the end. Forward is
// one gather whose body loops over a bag; the gradient adds rows up where the indices say.
#include "TorchToGraph/Builders/Elementwise/Pointwise.h"
#include "TorchToGraph/Builders/Index.h"
#include "TorchToGraph/Builders/Indexing/Scatter.h"
#include "TorchToGraph/Builders/Move.h"
#include "TorchToGraph/Builders/Reduction/Reduce.h"
#include "TorchToGraph/Builders/Reduction/Scan.h"
#include "TorchToGraph/Families.h"
#include "TorchToGraph/Indexing/Embedding.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using tw::graph::Combine;

namespace tw::lower {
namespace {

enum class BagMode { Sum, Mean, Max };

/// The arguments of an embedding_bag overload.
struct Bags {
  Tensor indices, offsets;
  OpFoldResult count; // of bags
  BagMode mode = BagMode::Sum;
  std::optional<Tensor> scales; // per_sample_weights
  int64_t padding = -1;         // the index that does not count; -1 for none

  bool hasPadding() const { return padding >= 0; }
};

/// One bag inside a gather's body.
struct OneBag {
  GatherBody &body;
  Value begin, end; // positions in the indices
};

} // namespace

/// True for an index that counts.
static Value counts(const Bags &bags, const Element &e, Value index) {
  Element ints = e.as(DType::I64);
  if (!bags.hasPadding())
    return e.as(DType::Bool).constant(1);
  return ints.ne(ints.cast(index, bags.indices.dtype), ints.constant(bags.padding));
}

/// The run of indices of the bag at `bag`; `length` and `offsetCount` are index values.
static OneBag bagAt(GatherBody &body, const Bags &bags, Value bag, Value length,
                    Value offsetCount) {
  OpBuilder &b = body.b;
  Location loc = body.loc;
  Value one = body.constant(1);
  Value beyond = arith::AddIOp::create(b, loc, length, one);
  auto offsetAt = [&](Value at) -> Value {
    Value offset =
        Element(b, loc, DType::I64).cast(body.read(bags.offsets, at), bags.offsets.dtype);
    Value index = arith::IndexCastOp::create(b, loc, b.getIndexType(), offset);
    return graph::CheckIndexOp::create(b, loc, index.getType(), index, beyond,
                                       body.op + ": offset %lld is not below %lld, one more than "
                                                 "there are indices");
  };
  Value next = arith::AddIOp::create(b, loc, bag, one);
  Value hasNext = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, next, offsetCount);
  Value end = offsetAt(arith::SelectOp::create(b, loc, hasNext, next, bag));
  return {body, offsetAt(bag), arith::SelectOp::create(b, loc, hasNext, end, length)};
}

/// Loops over a bag with carried values; `step` takes the position in the indices.
static SmallVector<Value>
loopOver(const OneBag &bag, ArrayRef<Value> initial,
         llvm::function_ref<SmallVector<Value>(Value position, ValueRange carried)> step) {
  auto loop =
      scf::ForOp::create(bag.body.b, bag.body.loc, bag.begin, bag.end, bag.body.constant(1),
                         initial, [&](OpBuilder &b, Location loc, Value i, ValueRange carried) {
                           scf::YieldOp::create(b, loc, step(i, carried));
                         });
  return SmallVector<Value>(loop.getResults());
}

static Bags bagsOf(Lowering &ctx) {
  Bags bags{ctx.tensor("indices"), ctx.tensor("offsets"), {}, BagMode::Sum, {}, -1};
  int64_t mode = ctx.integer("mode");
  if (mode < 0 || mode > 2)
    ctx.refuse("mode must be 0 (sum), 1 (mean) or 2 (max)");
  bags.mode = mode == 1 ? BagMode::Mean : mode == 2 ? BagMode::Max : BagMode::Sum;
  bags.scales = ctx.optTensor("per_sample_weights");
  bags.padding = ctx.integer("padding_idx", -1);
  if (ctx.hasRefused() || !ctx.needsRank(bags.indices, 1, "indices") ||
      !ctx.needsRank(bags.offsets, 1, "offsets"))
    return bags;
  if (!isInteger(bags.indices.dtype) || !isInteger(bags.offsets.dtype))
    ctx.refuse("indices and offsets must be integers");
  if (bags.scales && ctx.needsRank(*bags.scales, 1, "per_sample_weights"))
    ctx.requireEqual(ctx.sizeOf(*bags.scales, 0), ctx.sizeOf(bags.indices, 0));
  OpFoldResult last = ctx.b.getIndexAttr(ctx.flag("include_last_offset") ? 1 : 0);
  bags.count = IndexMath{ctx.b, ctx.loc}.sub(ctx.sizeOf(bags.offsets, 0), last);
  if (constantOf(bags.count).value_or(0) < 0)
    ctx.refuse("offsets must hold at least the last offset");
  return bags;
}

//===----------------------------------------------------------------------===//
// Forward
//===----------------------------------------------------------------------===//

/// The combined rows of each bag [bags, D], or with `wantsIndex` from which row the maximum is.
static Tensor combineBags(Lowering &ctx, const Bags &bags, const Tensor &weight, bool wantsIndex) {
  IndexMath math{ctx.b, ctx.loc};
  SmallVector<OpFoldResult> sizes = {bags.count, ctx.sizeOf(weight, 1)};
  Value length = math.value(ctx.sizeOf(bags.indices, 0));
  Value offsetCount = math.value(ctx.sizeOf(bags.offsets, 0));
  Value rows = math.value(ctx.sizeOf(weight, 0));
  requireNonEmpty(ctx, ctx.sizeOf(weight, 0), {ctx.sizeOf(bags.indices, 0), bags.count, sizes[1]},
                  0);
  DType dtype = opmath(weight.dtype);
  bool isMax = bags.mode == BagMode::Max;
  auto body = [&](GatherBody &body, ValueRange) {
    Element e(body.b, body.loc, dtype), ints = e.as(DType::I64);
    OneBag bag = bagAt(body, bags, body.position(0), length, offsetCount);
    SmallVector<Value> initial = {e.constant(0), ints.constant(0), ints.constant(0)};
    auto found = loopOver(bag, initial, [&](Value i, ValueRange so) {
      Value index = body.read(bags.indices, i);
      Value row = body.safeIndex(index, bags.indices.dtype, rows, 0, false);
      Value value = e.cast(body.read(weight, {row, body.position(1)}), weight.dtype);
      if (bags.scales)
        value = e.mul(value, e.cast(body.read(*bags.scales, i), bags.scales->dtype));
      Value taken = counts(bags, e, index);
      Value count = ints.add(so[1], ints.cast(taken, DType::Bool));
      Value more = isMax ? value : e.add(so[0], value);
      if (isMax) {
        Value isFirst = ints.eq(so[1], ints.constant(0));
        taken = e.conjunction(taken, e.disjunction(isFirst, e.gt(value, so[0])));
      }
      return SmallVector<Value>{e.select(taken, more, so[0]), count,
                                ints.select(taken, ints.cast(index, bags.indices.dtype), so[2])};
    });
    if (wantsIndex)
      return found[2];
    Value result = found[0];
    if (bags.mode == BagMode::Mean)
      result = e.div(result, e.cast(ints.max(found[1], ints.constant(1)), DType::I64));
    return e.as(weight.dtype).cast(result, dtype);
  };
  return gather(ctx, sizes, wantsIndex ? DType::I64 : weight.dtype, {}, body);
}

/// How many indices count in each bag (i64).
static Tensor bagSizes(Lowering &ctx, const Bags &bags) {
  IndexMath math{ctx.b, ctx.loc};
  Value length = math.value(ctx.sizeOf(bags.indices, 0));
  Value offsetCount = math.value(ctx.sizeOf(bags.offsets, 0));
  return gather(ctx, bags.count, DType::I64, {}, [&](GatherBody &body, ValueRange) {
    Element ints(body.b, body.loc, DType::I64);
    OneBag bag = bagAt(body, bags, body.position(0), length, offsetCount);
    return loopOver(bag, ints.constant(0), [&](Value i, ValueRange sum) {
      Value taken = counts(bags, ints, body.read(bags.indices, i));
      return SmallVector<Value>{ints.add(sum[0], ints.cast(taken, DType::Bool))};
    })[0];
  });
}

/// In which bag each index is (i64): the running number of offsets passed, less one.
static Tensor bagOfIndex(Lowering &ctx, const Tensor &indices, const Tensor &offsets) {
  IndexMath math{ctx.b, ctx.loc};
  OpFoldResult length = ctx.sizeOf(indices, 0);
  OpFoldResult beyond = math.add(length, math.constant(1));
  Value bound = math.value(beyond);
  Tensor starts = scatter(ctx, zeros(ctx, beyond, DType::I64), Combine::Add, ctx.sizesOf(offsets),
                          PlacedInput{offsets, 0}, [&](ScatterBody &body, ValueRange x) {
                            return Update{{body.safeIndex(x[0], offsets.dtype, bound, 0, false)},
                                          Element(body.b, body.loc, DType::I64).constant(1)};
                          });
  Value before = Element(ctx.b, ctx.loc, DType::I64).constant(-1);
  Tensor passed = scan(ctx, starts, 0, DType::I64, before,
                       [&](OpBuilder &b, Location loc, ValueRange state, ValueRange x) {
                         return SmallVector<Value>{Element(b, loc, DType::I64).add(state[0], x[0])};
                       })
                      .front();
  return slice(ctx, passed, 0, ctx.b.getIndexAttr(0), length);
}

/// An auxiliary result as the program declares it: PyTorch leaves it empty or without meaning
/// where a mode does not need it.
static Tensor declared(Lowering &ctx, unsigned result, const Tensor &computed) {
  auto shape = ctx.knownShape(result).value_or(SmallVector<int64_t>(computed.type().getShape()));
  bool fits = int64_t(shape.size()) == computed.rank();
  for (int64_t d = 0; fits && d < computed.rank(); ++d)
    fits = ShapedType::isDynamic(shape[d]) || computed.size(d) == shape[d] ||
           ShapedType::isDynamic(computed.size(d));
  bool isStatic = llvm::none_of(shape, ShapedType::isDynamic);
  if (fits && !llvm::is_contained(shape, 0))
    return castTo(ctx, computed, ctx.resultDType(result));
  if (!isStatic) {
    ctx.refuse("the sizes of its auxiliary results are not known");
    return computed;
  }
  SmallVector<OpFoldResult> sizes;
  for (int64_t size : shape)
    sizes.push_back(ctx.b.getIndexAttr(size));
  return zeros(ctx, sizes, ctx.resultDType(result));
}

/// (output, bag of each index, sizes of the bags, rows of the maxima).
static LogicalResult lowerEmbeddingBag(Lowering &ctx) {
  Tensor weight = ctx.tensor("weight");
  if (!ctx.needsRank(weight, 2, "the weight"))
    return failure();
  Bags bags = bagsOf(ctx);
  if (ctx.hasRefused())
    return failure();
  if (bags.scales && bags.mode != BagMode::Sum)
    return ctx.refuse("per_sample_weights need mode 0 (sum)");
  Tensor sizes = bagSizes(ctx, bags);
  Tensor maxima = bags.mode == BagMode::Max ? combineBags(ctx, bags, weight, true) : sizes;
  return ctx.done({combineBags(ctx, bags, weight, false),
                   declared(ctx, 1, bagOfIndex(ctx, bags.indices, bags.offsets)),
                   declared(ctx, 2, sizes), declared(ctx, 3, maxima)});
}

//===----------------------------------------------------------------------===//
// Backward
//===----------------------------------------------------------------------===//

/// offset2bag as given, or computed where the forward left it empty.
static Tensor bagOfIndexArg(Lowering &ctx, const Tensor &indices) {
  Tensor given = ctx.tensor("offset2bag");
  if (given.rank() == 1 && given.size(0) == 0 && ctx.has("offsets"))
    return bagOfIndex(ctx, indices, ctx.tensor("offsets"));
  if (ctx.needsRank(given, 1, "offset2bag"))
    ctx.requireEqual(ctx.sizeOf(given, 0), ctx.sizeOf(indices, 0));
  return given;
}

/// The gradient of a maximum goes to the row it came from.
static Tensor maximumBackward(Lowering &ctx, const Tensor &grad, OpFoldResult rows) {
  Tensor from = ctx.tensor("maximum_indices"), size = ctx.tensor("bag_size");
  auto space = ctx.sizesOf(grad);
  requireNonEmpty(ctx, rows, space, 0);
  Value bound = IndexMath{ctx.b, ctx.loc}.value(rows);
  DType dtype = opmath(grad.dtype);
  SmallVector<PlacedInput> inputs = {{from, 0}, {size, 0}, {grad, 0}};
  auto body = [&](ScatterBody &body, ValueRange x) {
    Element e(body.b, body.loc, dtype);
    Value row = body.safeIndex(x[0], from.dtype, bound, 0, false);
    Value value =
        e.select(e.as(size.dtype).isNonZero(x[1]), e.cast(x[2], grad.dtype), e.constant(0));
    return Update{{row, body.position(1)}, value};
  };
  return scatterWide(ctx, zeros(ctx, {rows, space[1]}, grad.dtype), Combine::Add, space, inputs,
                     body);
}

/// The gradient of a sum or mean goes to the rows of all indices that count.
static Tensor sumBackward(Lowering &ctx, const Bags &bags, const Tensor &grad, OpFoldResult rows) {
  const Tensor &indices = bags.indices;
  Tensor bag = bagOfIndexArg(ctx, indices), size = ctx.tensor("bag_size");
  IndexMath math{ctx.b, ctx.loc};
  SmallVector<OpFoldResult> space = {ctx.sizeOf(indices, 0), ctx.sizeOf(grad, 1)};
  requireNonEmpty(ctx, rows, space, 0);
  requireNonEmpty(ctx, ctx.sizeOf(grad, 0), space, 0);
  Value bound = math.value(rows), bagCount = math.value(ctx.sizeOf(grad, 0));
  std::optional<Tensor> frequency;
  if (ctx.flag("scale_grad_by_freq"))
    frequency = countIndices(ctx, indices, rows);
  DType dtype = opmath(grad.dtype);
  SmallVector<PlacedInput> inputs = {{indices, 0}, {bag, 0}};
  if (bags.scales)
    inputs.push_back({*bags.scales, 0});
  // Nothing else has the gradient's width.
  inputs.push_back({zeros(ctx, space[1], DType::Bool), 1});
  auto body = [&](ScatterBody &body, ValueRange x) {
    Element e(body.b, body.loc, dtype);
    Value row = body.safeIndex(x[0], indices.dtype, bound, 0, false);
    Value from = body.safeIndex(x[1], bag.dtype, bagCount, 0, false);
    Value value = e.cast(body.read(grad, {from, body.position(1)}), grad.dtype);
    if (bags.scales)
      value = e.mul(value, e.cast(x[2], bags.scales->dtype));
    if (bags.mode == BagMode::Mean)
      value = e.div(value, e.cast(body.read(size, from), size.dtype));
    if (frequency)
      value = e.div(value, e.cast(body.read(*frequency, row), DType::I64));
    return Update{{row, body.position(1)}, e.select(counts(bags, e, x[0]), value, e.constant(0))};
  };
  return scatterWide(ctx, zeros(ctx, {rows, space[1]}, grad.dtype), Combine::Add, space, inputs,
                     body);
}

static LogicalResult lowerEmbeddingBagBackward(Lowering &ctx) {
  Tensor grad = ctx.tensor("grad");
  OpFoldResult rows = ctx.size("num_weights");
  int64_t mode = ctx.integer("mode");
  Bags bags{ctx.tensor("indices"), ctx.tensor("indices"), {}, BagMode(mode), {}, -1};
  bags.scales = ctx.optTensor("per_sample_weights");
  bags.padding = ctx.integer("padding_idx", -1);
  if (ctx.flag("sparse"))
    return ctx.refuse("sparse gradients are not supported; use sparse=False");
  if (mode < 0 || mode > 2)
    return ctx.refuse("mode must be 0 (sum), 1 (mean) or 2 (max)");
  if (ctx.hasRefused() || !ctx.needsRank(grad, 2, "the gradient") ||
      !ctx.needsRank(bags.indices, 1, "indices"))
    return failure();
  return ctx.done(bags.mode == BagMode::Max ? maximumBackward(ctx, grad, rows)
                                            : sumBackward(ctx, bags, grad, rows));
}

/// The product of each index's row with the gradient of its bag.
static LogicalResult lowerPerSampleWeightsBackward(Lowering &ctx) {
  Tensor grad = ctx.tensor("grad"), weight = ctx.tensor("weight");
  Tensor indices = ctx.tensor("indices");
  Bags bags{indices, indices, {}, BagMode::Sum, {}, ctx.integer("padding_idx", -1)};
  if (!ctx.needsRank(grad, 2, "the gradient") || !ctx.needsRank(weight, 2, "the weight") ||
      !ctx.needsRank(indices, 1, "indices"))
    return failure();
  Tensor bag = bagOfIndexArg(ctx, indices);
  IndexMath math{ctx.b, ctx.loc};
  SmallVector<OpFoldResult> space = {ctx.sizeOf(indices, 0), ctx.sizeOf(grad, 1)};
  requireNonEmpty(ctx, ctx.sizeOf(weight, 0), space, 0);
  requireNonEmpty(ctx, ctx.sizeOf(grad, 0), space, 0);
  Value rows = math.value(ctx.sizeOf(weight, 0)), bagCount = math.value(ctx.sizeOf(grad, 0));
  DType dtype = opmath(grad.dtype);
  SmallVector<PlacedInput> inputs = {{indices, 0}, {bag, 0}};
  Tensor products = gatherPlaced(ctx, space, dtype, inputs, [&](GatherBody &body, ValueRange x) {
    Element e(body.b, body.loc, dtype);
    Value row = body.safeIndex(x[0], indices.dtype, rows, 0, false);
    Value from = body.safeIndex(x[1], bag.dtype, bagCount, 0, false);
    Value d = body.position(1);
    Value product = e.mul(e.cast(body.read(grad, {from, d}), grad.dtype),
                          e.cast(body.read(weight, {row, d}), weight.dtype));
    return e.select(counts(bags, e, x[0]), product, e.constant(0));
  });
  Tensor sums = reduceSum(ctx, {products, {1}, false}, dtype);
  return ctx.done(castTo(ctx, sums, ctx.resultDType()));
}

Family embeddingBagFamily() {
  static constexpr LoweringRow rows[] = {
      {"torch.aten.embedding_bag", lowerEmbeddingBag},
      {"torch.aten.embedding_bag.padding_idx", lowerEmbeddingBag},
      {"torch.aten._embedding_bag", lowerEmbeddingBag},
      {"torch.aten._embedding_bag_forward_only", lowerEmbeddingBag},
      {"torch.aten._embedding_bag_backward", lowerEmbeddingBagBackward},
      {"torch.aten._embedding_bag_dense_backward", lowerEmbeddingBagBackward},
      {"torch.aten._embedding_bag_per_sample_weights_backward", lowerPerSampleWeightsBackward},
  };
  return {"Bags of embeddings", rows};
}

} // namespace tw::lower
