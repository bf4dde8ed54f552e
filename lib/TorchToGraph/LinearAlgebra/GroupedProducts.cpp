// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products of matrices whose rows (or columns, or terms) fall into groups that end at offsets, each
// group with a matrix of its own: what mixtures of experts compute. A reduction that finds the
// group's matrix by its number; nothing is sorted or copied.
#include "TorchToGraph/Builders/Contract.h"
#include "TorchToGraph/Builders/Elementwise/Pointwise.h"
#include "TorchToGraph/Builders/Index.h"
#include "TorchToGraph/Builders/Indexing/Gather.h"
#include "TorchToGraph/Builders/Move.h"
#include "TorchToGraph/Families.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tw::lower {

/// The group of each position in [0, length) (i64): how many offsets are not above it.
static Tensor groupOf(Lowering &ctx, const Tensor &offsets, OpFoldResult length) {
  Value count = IndexMath{ctx.b, ctx.loc}.value(ctx.sizeOf(offsets, 0));
  return gather(ctx, length, DType::I64, {}, [&](GatherBody &body, ValueRange) {
    OpBuilder &b = body.b;
    Element e(b, body.loc, DType::I64);
    Value here = arith::IndexCastOp::create(b, body.loc, b.getI64Type(), body.position(0));
    auto loop = scf::ForOp::create(
        b, body.loc, body.constant(0), count, body.constant(1), e.constant(0),
        [&](OpBuilder &, Location loc, Value i, ValueRange sum) {
          Value passed = e.le(e.cast(body.read(offsets, i), offsets.dtype), here);
          scf::YieldOp::create(b, loc, e.add(sum[0], e.cast(passed, DType::Bool)));
        });
    return loop.getResult(0);
  });
}

namespace {

/// A sum of products over the last loop; the inputs' dimensions are given as loops.
struct GroupedSum {
  SmallVector<OpFoldResult> sizes; // of the result: all loops but the last
  SmallVector<std::pair<Tensor, SmallVector<int64_t>>> inputs;
  DType dtype;
};

} // namespace

/// `term` makes the term to add from the inputs' elements.
static Tensor sumOf(Lowering &ctx, const GroupedSum &sum, GatherFn term) {
  MLIRContext *context = ctx.b.getContext();
  unsigned loops = sum.sizes.size() + 1;
  SmallVector<Value> values;
  SmallVector<AffineMap> maps;
  for (const auto &[tensor, dims] : sum.inputs) {
    values.push_back(tensor.value);
    maps.push_back(AffineMap::getMultiDimMapWithTargets(
        loops, SmallVector<unsigned>(dims.begin(), dims.end()), context));
  }
  maps.push_back(AffineMap::getMultiDimIdentityMap(loops, context).getMajorSubMap(loops - 1));
  SmallVector<utils::IteratorType> iterators(loops, utils::IteratorType::parallel);
  iterators.back() = utils::IteratorType::reduction;
  Tensor start = ctx.filled(sum.sizes, sum.dtype, Scalar::ofInt(context, 0));
  auto generic = linalg::GenericOp::create(
      ctx.b, ctx.loc, start.value.getType(), values, start.value, maps, iterators,
      [&](OpBuilder &b, Location loc, ValueRange args) {
        GatherBody body{b, loc, ctx.shownName(), b.getInsertionBlock()};
        Value value = term(body, args.drop_back());
        linalg::YieldOp::create(b, loc, Element(b, loc, sum.dtype).add(args.back(), value));
      });
  return {generic.getResult(0), sum.dtype};
}

/// a * b in `dtype` where `group` is one of the groups, else 0; `other` is read at its group.
static Value groupTerm(GatherBody &body, DType dtype, Value group, Value groups, Value element,
                       const Tensor &other, Value row, Value column, DType elementDType) {
  OpBuilder &b = body.b;
  Element e(b, body.loc, dtype);
  Value index = arith::IndexCastOp::create(b, body.loc, b.getIndexType(), group);
  Value isGroup = arith::CmpIOp::create(b, body.loc, arith::CmpIPredicate::slt, index, groups);
  Value safe = arith::SelectOp::create(b, body.loc, isGroup, index, body.constant(0));
  Value factor = e.cast(body.read(other, {safe, row, column}), other.dtype);
  return e.select(isGroup, e.mul(e.cast(element, elementDType), factor), e.constant(0));
}

/// [M, K] x [G, K, N], or with `isTransposed` x [G, N, K]: rows in groups. Rows beyond the last
/// offset are 0.
static Tensor rowsInGroups(Lowering &ctx, const Tensor &a, const Tensor &b, const Tensor &offsets,
                           bool isTransposed = false) {
  OpFoldResult rows = ctx.sizeOf(a, 0), columns = ctx.sizeOf(b, isTransposed ? 1 : 2);
  ctx.requireEqual(ctx.sizeOf(a, 1), ctx.sizeOf(b, isTransposed ? 2 : 1));
  ctx.requireEqual(ctx.sizeOf(offsets, 0), ctx.sizeOf(b, 0));
  requireNonEmpty(ctx, ctx.sizeOf(b, 0), {rows, columns}, 0);
  Value groups = IndexMath{ctx.b, ctx.loc}.value(ctx.sizeOf(b, 0));
  GroupedSum sum{
      {rows, columns}, {{a, {0, 2}}, {groupOf(ctx, offsets, rows), {0}}}, contractDType(a.dtype)};
  return sumOf(ctx, sum, [&](GatherBody &body, ValueRange x) {
    Value term = body.position(2), column = body.position(1);
    return groupTerm(body, sum.dtype, x[1], groups, x[0], b, isTransposed ? column : term,
                     isTransposed ? term : column, a.dtype);
  });
}

/// [G, M, K] x [K, N]: columns in groups.
static Tensor columnsInGroups(Lowering &ctx, const Tensor &a, const Tensor &b,
                              const Tensor &offsets) {
  OpFoldResult columns = ctx.sizeOf(b, 1);
  ctx.requireEqual(ctx.sizeOf(a, 2), ctx.sizeOf(b, 0));
  ctx.requireEqual(ctx.sizeOf(offsets, 0), ctx.sizeOf(a, 0));
  requireNonEmpty(ctx, ctx.sizeOf(a, 0), {ctx.sizeOf(a, 1), columns}, 0);
  Value groups = IndexMath{ctx.b, ctx.loc}.value(ctx.sizeOf(a, 0));
  GroupedSum sum{{ctx.sizeOf(a, 1), columns},
                 {{b, {2, 1}}, {groupOf(ctx, offsets, columns), {1}}},
                 contractDType(a.dtype)};
  return sumOf(ctx, sum, [&](GatherBody &body, ValueRange x) {
    return groupTerm(body, sum.dtype, x[1], groups, x[0], a, body.position(0), body.position(2),
                     b.dtype);
  });
}

/// [M, K] x [K, N] with the terms in groups: one matrix [G, M, N] a group.
static Tensor termsInGroups(Lowering &ctx, const Tensor &a, const Tensor &b,
                            const Tensor &offsets) {
  OpFoldResult terms = ctx.sizeOf(a, 1);
  ctx.requireEqual(terms, ctx.sizeOf(b, 0));
  GroupedSum sum{{ctx.sizeOf(offsets, 0), ctx.sizeOf(a, 0), ctx.sizeOf(b, 1)},
                 {{a, {1, 3}}, {b, {3, 2}}, {groupOf(ctx, offsets, terms), {3}}},
                 contractDType(a.dtype)};
  return sumOf(ctx, sum, [&](GatherBody &body, ValueRange x) {
    Element e(body.b, body.loc, sum.dtype);
    Value group = arith::IndexCastOp::create(body.b, body.loc, body.b.getIndexType(), x[2]);
    Value isHere =
        arith::CmpIOp::create(body.b, body.loc, arith::CmpIPredicate::eq, group, body.position(0));
    return e.select(isHere, e.mul(e.cast(x[0], a.dtype), e.cast(x[1], b.dtype)), e.constant(0));
  });
}

static LogicalResult groupedProduct(Lowering &ctx, const Tensor &a, const Tensor &b,
                                    const std::optional<Tensor> &offsets) {
  if (a.rank() < 2 || a.rank() > 3 || b.rank() < 2 || b.rank() > 3)
    return ctx.refuse("its operands must have 2 or 3 dimensions");
  auto finish = [&](const Tensor &product) {
    return ctx.done(castTo(ctx, product, ctx.resultDType()));
  };
  if (a.rank() == 3 && b.rank() == 3)
    return finish(contract(ctx, {a, "gmk"}, {b, "gkn"}, "gmn", contractDType(a.dtype)));
  if (!offsets || offsets->rank() != 1 || !isInteger(offsets->dtype))
    return ctx.refuse("offs must be a vector of integers");
  if (a.rank() == 2 && b.rank() == 3)
    return finish(rowsInGroups(ctx, a, b, *offsets));
  return finish(a.rank() == 3 ? columnsInGroups(ctx, a, b, *offsets)
                              : termsInGroups(ctx, a, b, *offsets));
}

static LogicalResult lowerGroupedMm(Lowering &ctx) {
  Tensor a = ctx.tensor("self"), b = ctx.tensor("mat2");
  auto offsets = ctx.optTensor("offs");
  if (ctx.has("bias"))
    return ctx.refuse("bias is not supported, as in PyTorch");
  if (ctx.hasRefused())
    return failure();
  return groupedProduct(ctx, a, b, offsets);
}

/// What transformers registers for dtypes that _grouped_mm lacks: (input, weight, offs).
static LogicalResult lowerGroupedMmFallback(Lowering &ctx) {
  if (ctx.args().size() != 3 || !ctx.arg(0u).tensor() || !ctx.arg(1u).tensor() ||
      !ctx.arg(2u).tensor())
    return ctx.refuse("it takes three tensors");
  return groupedProduct(ctx, *ctx.arg(0u).tensor(), *ctx.arg(1u).tensor(), *ctx.arg(2u).tensor());
}

/// Its gradients: (input [M, K], weight [G, K, N], offs, gradient [M, N]).
static LogicalResult lowerGroupedMmFallbackBackward(Lowering &ctx) {
  static constexpr int64_t ranks[] = {2, 3, 1, 2};
  if (ctx.args().size() != std::size(ranks))
    return ctx.refuse("it takes four tensors");
  for (auto [operand, rank] : llvm::zip(ctx.args(), ranks))
    if (!operand.tensor() || operand.tensor()->rank() != rank)
      return ctx.refuse("it takes an input and a gradient of 2 dimensions, a weight of 3 and a "
                        "vector of offsets");
  Tensor input = *ctx.arg(0u).tensor(), weight = *ctx.arg(1u).tensor(),
         offsets = *ctx.arg(2u).tensor(), gradient = *ctx.arg(3u).tensor();
  if (!isInteger(offsets.dtype))
    return ctx.refuse("offs must be a vector of integers");
  Tensor ofInput = rowsInGroups(ctx, gradient, weight, offsets, /*isTransposed=*/true);
  Tensor ofWeight = termsInGroups(ctx, transpose(ctx, input, 0, 1), gradient, offsets);
  return ctx.done(
      {castTo(ctx, ofInput, ctx.resultDType(0)), castTo(ctx, ofWeight, ctx.resultDType(1))});
}

Family groupedProductsFamily() {
  static constexpr LoweringRow rows[] = {
      {"torch.aten._grouped_mm", lowerGroupedMm},
      {"torch.transformers.grouped_mm_fallback", lowerGroupedMmFallback},
      {"torch.transformers.grouped_mm_fallback_backward", lowerGroupedMmFallbackBackward},
  };
  return {"Grouped products", rows};
}

} // namespace tw::lower
