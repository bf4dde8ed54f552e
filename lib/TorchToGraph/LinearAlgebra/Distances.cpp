// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Distances between the rows of matrices, and their gradients.
#include "TorchToGraph/Builders/Index.h"
#include "TorchToGraph/Builders/Indexing/Gather.h"
#include "TorchToGraph/Builders/Move.h"
#include "TorchToGraph/Builders/Reduction/Norm.h"
#include "TorchToGraph/Builders/Reshape.h"
#include "TorchToGraph/Families.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include <cmath>

using namespace mlir;

namespace tw::lower {
namespace {

//===----------------------------------------------------------------------===//
// Distances
//===----------------------------------------------------------------------===//

/// The p-norm of all differences of rows: [..., m, k] and [..., n, k] to [..., m, n].
LogicalResult lowerCdist(Lowering &ctx) {
  Tensor a = ctx.tensor("x1"), b = ctx.tensor("x2");
  double p = ctx.number("p", 2);
  if (a.rank() < 2 || b.rank() < 2)
    return ctx.refuse("its tensors need at least 2 dimensions");
  Tensor left = unsqueeze(ctx, a, a.rank() - 1), right = unsqueeze(ctx, b, b.rank() - 2);
  left = broadcastTo(ctx, left, broadcastSizes(ctx, {left, right}));
  ReduceSpace space{left, {left.rank() - 1}, false};
  return ctx.done(castTo(ctx, pNorm(ctx, space, p, right), ctx.resultDType()));
}

/// Row and column of pair k of the n (n - 1) / 2 pairs i < j, in order.
std::pair<Value, Value> pairAt(GatherBody &body, Value k, Value rows) {
  OpBuilder &b = body.b;
  Location loc = body.loc;
  Element e(b, loc, DType::F64), integer(b, loc, DType::I64);
  auto toInteger = [&](Value index) {
    return Value(arith::IndexCastOp::create(b, loc, b.getI64Type(), index));
  };
  auto toIndex = [&](Value x) {
    return Value(arith::IndexCastOp::create(b, loc, b.getIndexType(), x));
  };
  Value n = toInteger(rows), pair = toInteger(k);
  Value middle = e.sub(e.cast(n, DType::I64), e.constant(0.5));
  Value inner = e.sub(e.mul(middle, middle),
                      e.add(e.mul(e.constant(2), e.cast(pair, DType::I64)), e.constant(1)));
  Value i = integer.cast(e.sub(middle, e.sqrt(e.max(inner, e.constant(0)))), DType::F64);
  // Before row i lie i n - i (i + 1) / 2 pairs.
  Value triangle = arith::ShRSIOp::create(
      b, loc, integer.mul(i, integer.add(i, integer.constant(1))), integer.constant(1));
  Value before = integer.sub(integer.mul(i, n), triangle);
  Value j = integer.add(integer.add(integer.sub(pair, before), i), integer.constant(1));
  return {toIndex(i), toIndex(j)};
}

LogicalResult lowerPdist(Lowering &ctx) {
  Tensor self = ctx.tensor("self");
  if (!ctx.needsRank(self, 2, "the tensor"))
    return failure();
  IndexMath m{ctx.b, ctx.loc};
  OpFoldResult rows = ctx.sizeOf(self, 0);
  Tensor wide = broadcastTo(ctx, unsqueeze(ctx, self, 1), {rows, rows, ctx.sizeOf(self, 1)});
  Tensor all = pNorm(ctx, {wide, {2}, false}, ctx.number("p", 2), unsqueeze(ctx, self, 0));
  OpFoldResult pairs =
      m.floorDiv(m.mul(rows, m.max(m.sub(rows, m.constant(1)), m.constant(0))), m.constant(2));
  Value count = m.value(rows);
  Tensor result = gather(ctx, ctx.refined(pairs), all.dtype, {}, [&](GatherBody &body, ValueRange) {
    auto [i, j] = pairAt(body, body.position(0), count);
    return body.read(all, {i, j});
  });
  return ctx.done(castTo(ctx, result, ctx.resultDType()));
}

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

/// That of a p-norm of differences, by one difference: `grad` sign(x) (|x| / distance)^(p - 1).
Value gradientOfNorm(const Element &e, Value difference, Value grad, Value distance, double p) {
  Value zero = e.constant(0.0), size = e.abs(difference);
  Value sign = e.select(e.lt(difference, zero), e.constant(-1.0), e.constant(1.0));
  Value isZero = e.disjunction(e.eq(difference, zero), e.eq(distance, zero));
  Value value = e.mul(grad, sign);
  if (p == INFINITY)
    value = e.select(e.eq(size, distance), value, zero);
  else if (p == 2)
    value = e.div(e.mul(grad, difference), distance);
  else if (p != 1)
    value = e.mul(value, e.pow(e.div(size, distance), e.constant(p - 1)));
  return e.select(isZero, zero, value);
}

/// Of distances [..., m, n] between rows [..., m, k] and [..., n, k] the gradient of the first.
Tensor gradientOfRows(Lowering &ctx, const Tensor &rows, const Tensor &others, const Tensor &grad,
                      const Tensor &distances) {
  double p = ctx.number("p", 2);
  DType dtype = opmath(rows.dtype);
  Tensor left = unsqueeze(ctx, rows, rows.rank() - 1);
  Tensor right = unsqueeze(ctx, others, others.rank() - 2);
  Tensor wideGrad = unsqueeze(ctx, grad, grad.rank());
  Tensor wideDistances = unsqueeze(ctx, distances, distances.rank());
  left = broadcastTo(ctx, left, broadcastSizes(ctx, {left, right, wideGrad}));
  return reduce(
      ctx, {left, {left.rank() - 2}, false}, dtype, [](Element &e) { return e.constant(0); },
      [&](Element &e, ValueRange x) {
        if (p == 0)
          return x[0];
        return e.add(x[0], gradientOfNorm(e, e.sub(x[1], x[2]), x[3], x[4], p));
      },
      {right, wideGrad, wideDistances});
}

LogicalResult lowerCdistBackward(Lowering &ctx) {
  Tensor rows = ctx.tensor("x1"), others = ctx.tensor("x2");
  Tensor grad = ctx.tensor("grad"), distances = ctx.tensor("cdist");
  if (ctx.hasRefused())
    return failure();
  if (rows.rank() < 2 || others.rank() < 2 || grad.rank() < 2 || distances.rank() < 2)
    return ctx.refuse("its tensors need at least 2 dimensions");
  // Where there are no distances, the rows need not have the batch of the result.
  auto isZero = [](OpFoldResult size) { return constantOf(size) == 0; };
  if (llvm::any_of(ctx.sizesOf(grad), isZero))
    return ctx.done(
        ctx.filled(ctx.sizesOf(rows), ctx.resultDType(), Scalar::ofInt(ctx.b.getContext(), 0)));
  Tensor result = gradientOfRows(ctx, rows, others, grad, distances);
  return ctx.done(castTo(ctx, result, ctx.resultDType()));
}

/// What pairs i < j hold as a symmetric matrix, with 0 on its diagonal.
Tensor squareOfPairs(Lowering &ctx, const Tensor &pairs, OpFoldResult rows) {
  IndexMath m{ctx.b, ctx.loc};
  Value count = m.value(ctx.sizeOf(pairs, 0)), n = m.value(rows);
  Tensor padded =
      pad(ctx, pairs, {m.constant(0)}, {m.constant(1)}, Scalar::ofFloat(ctx.b.getContext(), 0.0));
  return gather(ctx, {rows, rows}, pairs.dtype, {}, [&](GatherBody &body, ValueRange) {
    OpBuilder &b = body.b;
    Location loc = body.loc;
    Value i = body.position(0), j = body.position(1), one = body.constant(1);
    Value low = arith::MinSIOp::create(b, loc, i, j), high = arith::MaxSIOp::create(b, loc, i, j);
    Value next = arith::AddIOp::create(b, loc, low, one);
    // Before row `low` lie low n - low (low + 1) / 2 pairs.
    Value triangle = arith::ShRSIOp::create(b, loc, arith::MulIOp::create(b, loc, low, next), one);
    Value before = arith::SubIOp::create(b, loc, arith::MulIOp::create(b, loc, low, n), triangle);
    Value place = arith::AddIOp::create(b, loc, before, arith::SubIOp::create(b, loc, high, next));
    Value isSame = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, i, j);
    return body.read(padded, Value(arith::SelectOp::create(b, loc, isSame, count, place)));
  });
}

LogicalResult lowerPdistBackward(Lowering &ctx) {
  Tensor self = ctx.tensor("self"), grad = ctx.tensor("grad"), distances = ctx.tensor("pdist");
  if (!ctx.needsRank(self, 2, "the tensor") || !ctx.needsRank(grad, 1, "the gradient") ||
      !ctx.needsRank(distances, 1, "the distances"))
    return failure();
  OpFoldResult rows = ctx.sizeOf(self, 0);
  Tensor result = gradientOfRows(ctx, self, self, squareOfPairs(ctx, grad, rows),
                                 squareOfPairs(ctx, distances, rows));
  return ctx.done(castTo(ctx, result, ctx.resultDType()));
}

} // namespace

Family distancesFamily() {
  static constexpr LoweringRow rows[] = {
      {"torch.aten.cdist", lowerCdist},
      {"torch.aten._cdist_forward", lowerCdist},
      {"torch.aten._euclidean_dist", lowerCdist},
      {"torch.aten._cdist_backward", lowerCdistBackward},
      {"torch.aten.pdist", lowerPdist},
      {"torch.aten._pdist_forward", lowerPdist},
      {"torch.aten._pdist_backward", lowerPdistBackward},
  };
  return {"Distances", rows};
}

} // namespace tw::lower
