// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows of a weight chosen by indices, and the gradient: a sum of rows at those positions.
#include "TorchToGraph/Indexing/Embedding.h"
#include "TorchToGraph/Builders/Elementwise/Pointwise.h"
#include "TorchToGraph/Builders/Index.h"
#include "TorchToGraph/Builders/Indexing/Scatter.h"
#include "TorchToGraph/Builders/Reshape.h"
#include "TorchToGraph/Families.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using tw::graph::Combine;

namespace tw::lower {

/// A row of the weight for each index.
static LogicalResult lowerEmbedding(Lowering &ctx) {
  Tensor weight = ctx.tensor("weight"), indices = ctx.tensor("indices");
  if (!ctx.needsRank(weight, 2, "the weight"))
    return failure();
  if (!isInteger(indices.dtype))
    return ctx.refuse("indices must be integers");
  auto sizes = ctx.sizesOf(indices);
  sizes.push_back(ctx.sizeOf(weight, 1));
  requireNonEmpty(ctx, ctx.sizeOf(weight, 0), sizes, 0);
  Value rows = IndexMath{ctx.b, ctx.loc}.value(ctx.sizeOf(weight, 0));
  return ctx.done(gatherPlaced(ctx, ctx.refined(sizes), weight.dtype, PlacedInput{indices, 0},
                               [&](GatherBody &body, ValueRange x) {
                                 Value row = body.safeIndex(x[0], indices.dtype, rows, 0, false);
                                 return body.read(weight, {row, body.position(indices.rank())});
                               }));
}

Tensor countIndices(Lowering &ctx, const Tensor &indices, OpFoldResult rows) {
  Value bound = IndexMath{ctx.b, ctx.loc}.value(rows);
  auto space = ctx.sizesOf(indices);
  requireNonEmpty(ctx, rows, space, 0);
  return scatter(ctx, zeros(ctx, rows, DType::I64), Combine::Add, space, PlacedInput{indices, 0},
                 [&](ScatterBody &body, ValueRange x) {
                   return Update{{body.safeIndex(x[0], indices.dtype, bound, 0, false)},
                                 Element(body.b, body.loc, DType::I64).constant(1)};
                 });
}

/// grad [..., D] added up in the rows of [rows, D] that the indices name, but for the row
/// "padding_idx"; divided by how often an index occurs when "scale_grad_by_freq".
static LogicalResult lowerEmbeddingBackward(Lowering &ctx) {
  Tensor grad = ctx.tensor(ctx.has("grad_output") ? "grad_output" : "grad");
  Tensor indices = ctx.tensor("indices");
  OpFoldResult rows = ctx.size("num_weights");
  int64_t padding = ctx.integer("padding_idx", -1);
  if (ctx.flag("sparse"))
    return ctx.refuse("sparse gradients are not supported; use sparse=False");
  if (ctx.hasRefused() || !ctx.needsRank(grad, indices.rank() + 1, "the gradient"))
    return failure();
  auto space = ctx.sizesOf(grad);
  OpFoldResult width = space.back();
  requireNonEmpty(ctx, rows, space, 0);
  std::optional<Tensor> counts;
  if (ctx.flag("scale_grad_by_freq"))
    counts = countIndices(ctx, indices, rows);
  Value bound = IndexMath{ctx.b, ctx.loc}.value(rows);
  DType dtype = opmath(grad.dtype);
  SmallVector<PlacedInput> inputs = {{indices, 0}, {grad, 0}};
  auto body = [&](ScatterBody &body, ValueRange x) {
    Element e(body.b, body.loc, dtype), ints = e.as(DType::I64);
    Value row = body.safeIndex(x[0], indices.dtype, bound, 0, false);
    Value value = e.cast(x[1], grad.dtype);
    if (counts)
      value = e.div(value, e.cast(body.read(*counts, row), DType::I64));
    if (padding >= 0)
      value = e.select(ints.eq(ints.cast(x[0], indices.dtype), ints.constant(padding)),
                       e.constant(0), value);
    return Update{{row, body.position(indices.rank())}, value};
  };
  return ctx.done(
      scatterWide(ctx, zeros(ctx, {rows, width}, grad.dtype), Combine::Add, space, inputs, body));
}

Family embeddingFamily() {
  static constexpr LoweringRow rows[] = {
      {"torch.aten.embedding", lowerEmbedding},
      {"torch.aten.embedding_dense_backward", lowerEmbeddingBackward},
      {"torch.aten.embedding_backward", lowerEmbeddingBackward},
  };
  return {"Embeddings", rows};
}

} // namespace tw::lower
