// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Linear algebra: every product is one contraction in opmath, followed by at most one elementwise
// op that adds, scales and rounds once.
#include "TorchToGraph/Builders/Contract.h"
#include "TorchToGraph/Builders/Elementwise/Pointwise.h"
#include "TorchToGraph/Builders/Index.h"
#include "TorchToGraph/Builders/Reduction/Reduce.h"
#include "TorchToGraph/Builders/Reshape.h"
#include "TorchToGraph/Families.h"

using namespace mlir;

namespace tw::lower {

/// Rounds a contraction to the result's dtype.
static LogicalResult finish(Lowering &ctx, const Tensor &product) {
  return ctx.done(castTo(ctx, product, ctx.resultDType()));
}

static LogicalResult lowerMatmul(Lowering &ctx) {
  Tensor self = ctx.tensor("self");
  Tensor other = ctx.tensor(ctx.has("other") ? "other" : "mat2");
  return finish(ctx, matmul(ctx, self, other));
}

/// mm, bmm, mv, dot: ranks are fixed, `second` is the other argument's name.
template <int rank, int otherRank>
static LogicalResult lowerProduct(Lowering &ctx) {
  Tensor self = ctx.tensor("self");
  const Operand &second = ctx.arg(1u);
  if (!second.tensor())
    return ctx.refuse("its second argument must be a tensor");
  if (!ctx.needsRank(self, rank, "the first tensor") ||
      !ctx.needsRank(*second.tensor(), otherRank, "the second tensor"))
    return failure();
  return finish(ctx, matmul(ctx, self, *second.tensor()));
}

static LogicalResult lowerLinear(Lowering &ctx) {
  Tensor input = ctx.tensor("input"), weight = ctx.tensor("weight");
  auto bias = ctx.optTensor("bias");
  if (ctx.hasRefused())
    return failure();
  if (input.rank() == 0 || input.rank() > 10 || weight.rank() < 1 || weight.rank() > 2)
    return ctx.refuse("the input needs 1 to 10 dimensions and the weight 1 or 2");
  std::string rows = std::string("abcdefghij").substr(0, input.rank() - 1);
  bool hasOut = weight.rank() == 2;
  Tensor product = contract(ctx, {input, rows + "k"}, {weight, hasOut ? "nk" : "k"},
                            rows + (hasOut ? "n" : ""), contractDType(input.dtype));
  if (!bias)
    return finish(ctx, product);
  return ctx.done(pointwise(ctx, {product, *bias}, ctx.resultDType(),
                            [](Element &e, ValueRange x) { return e.add(x[0], x[1]); }));
}

/// beta * self + alpha * product.
static LogicalResult addProduct(Lowering &ctx, const Tensor &product) {
  Tensor self = ctx.tensor("self");
  Scalar beta = ctx.scalar("beta", 1), alpha = ctx.scalar("alpha", 1);
  bool plain = alpha.constantNumber() == 1, adds = beta.constantNumber() != 0;
  bool unscaled = beta.constantNumber() == 1;
  auto body = [&](Element &e, ValueRange x) {
    Value value = plain ? x[0] : e.mul(x[0], x[2]);
    if (!adds) // whatever self holds, NaN included
      return value;
    return e.add(value, unscaled ? x[1] : e.mul(x[1], x[3]));
  };
  return ctx.done(pointwise(ctx, {product, self, alpha, beta}, ctx.resultDType(), body));
}

template <int rank, int otherRank>
static LogicalResult lowerAddProduct(Lowering &ctx) {
  const Operand &first = ctx.arg(1u), &second = ctx.arg(2u);
  if (!first.tensor() || !second.tensor())
    return ctx.refuse("its arguments must be tensors");
  if (!ctx.needsRank(*first.tensor(), rank, "the first factor") ||
      !ctx.needsRank(*second.tensor(), otherRank, "the second factor"))
    return failure();
  return addProduct(ctx, matmul(ctx, *first.tensor(), *second.tensor()));
}

/// addbmm sums over the batch too.
static LogicalResult lowerAddBatched(Lowering &ctx) {
  Tensor a = ctx.tensor("batch1"), b = ctx.tensor("batch2");
  if (!ctx.needsRank(a, 3, "batch1") || !ctx.needsRank(b, 3, "batch2"))
    return failure();
  return addProduct(ctx, contract(ctx, {a, "bmk"}, {b, "bkn"}, "mn", contractDType(a.dtype)));
}

static LogicalResult lowerOuter(Lowering &ctx) {
  Tensor self = ctx.tensor("self"), other = ctx.tensor(ctx.has("vec2") ? "vec2" : "other");
  if (!ctx.needsRank(self, 1, "the first tensor") || !ctx.needsRank(other, 1, "the second tensor"))
    return failure();
  return ctx.done(pointwise(ctx, {unsqueeze(ctx, self, 1), other}, ctx.resultDType(),
                            [](Element &e, ValueRange x) { return e.mul(x[0], x[1]); }));
}

/// beta * self + alpha * (vec1 x vec2).
static LogicalResult lowerAddOuter(Lowering &ctx) {
  Tensor rows = ctx.tensor("vec1"), columns = ctx.tensor("vec2");
  if (!ctx.needsRank(rows, 1, "vec1") || !ctx.needsRank(columns, 1, "vec2"))
    return failure();
  return addProduct(ctx,
                    pointwise(ctx, {unsqueeze(ctx, rows, 1), columns}, opmath(ctx.resultDType()),
                              [](Element &e, ValueRange x) { return e.mul(x[0], x[1]); }));
}

Family linearFamily() {
  static constexpr LoweringRow rows[] = {
      {"torch.aten.matmul", lowerMatmul},
      {"torch.aten.__matmul__", lowerMatmul},
      {"torch.aten.linalg_matmul", lowerMatmul},
      {"torch.aten.mm", lowerProduct<2, 2>},
      {"torch.aten.bmm", lowerProduct<3, 3>},
      {"torch.aten.mv", lowerProduct<2, 1>},
      {"torch.aten.dot", lowerProduct<1, 1>},
      {"torch.aten.vdot", lowerProduct<1, 1>},
      {"torch.aten.linear", lowerLinear},
      {"torch.aten.addmm", lowerAddProduct<2, 2>},
      {"torch.aten.addmv", lowerAddProduct<2, 1>},
      {"torch.aten.baddbmm", lowerAddProduct<3, 3>},
      {"torch.aten.addbmm", lowerAddBatched},
      {"torch.aten.addr", lowerAddOuter},
      {"torch.aten.outer", lowerOuter},
      {"torch.aten.ger", lowerOuter},
  };
  return {"Linear algebra", rows};
}

} // namespace tw::lower
