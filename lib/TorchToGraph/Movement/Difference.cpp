// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Neighbours along a dimension: differences, the trapezoidal rule; and powers side by side.
#include "Support/Counted.h"
#include "TorchToGraph/Builders/Bounds.h"
#include "TorchToGraph/Builders/Elementwise/Pointwise.h"
#include "TorchToGraph/Builders/Index.h"
#include "TorchToGraph/Builders/Move.h"
#include "TorchToGraph/Builders/Reduction/Reduce.h"
#include "TorchToGraph/Builders/Reduction/Scan.h"
#include "TorchToGraph/Builders/Reshape.h"
#include "TorchToGraph/Families.h"
#include <fmt/format.h>

using namespace mlir;

namespace tw::lower {

using SizeList = SmallVector<OpFoldResult>;

namespace {

/// All elements but the last, and all but the first: each with its right neighbour.
struct Neighbours {
  Tensor left, right;
};

} // namespace

static Neighbours neighbours(Lowering &ctx, const Tensor &tensor, int64_t dim) {
  IndexMath math{ctx.b, ctx.loc};
  OpFoldResult one = math.constant(1);
  OpFoldResult count = greater(ctx, math.sub(ctx.sizeOf(tensor, dim), one), math.constant(0));
  OpFoldResult start = smaller(ctx, one, ctx.sizeOf(tensor, dim));
  return {slice(ctx, tensor, dim, math.constant(0), count), slice(ctx, tensor, dim, start, count)};
}

//===----------------------------------------------------------------------===//
// diff
//===----------------------------------------------------------------------===//

/// `tensor` between what the arguments prepend and append say.
static Tensor extended(Lowering &ctx, const Tensor &tensor, int64_t dim) {
  SmallVector<Tensor> parts;
  auto add = [&](const std::optional<Tensor> &part) {
    if (!part)
      return;
    if (part->rank() != tensor.rank()) {
      ctx.refuse(fmt::format("what is joined to a tensor of {} has {}",
                             counted(tensor.rank(), "dimension"), part->rank()));
      return;
    }
    for (int64_t i = 0; i < tensor.rank(); ++i)
      if (i != dim)
        requireSame(ctx, ctx.sizeOf(tensor, i), ctx.sizeOf(*part, i),
                    "sizes %lld and %lld of what is joined must be equal");
    parts.push_back(castTo(ctx, *part, tensor.dtype));
  };
  add(ctx.optTensor("prepend"));
  parts.push_back(tensor);
  add(ctx.optTensor("append"));
  return ctx.hasRefused() ? tensor : concat(ctx, parts, dim);
}

static LogicalResult lowerDiff(Lowering &ctx) {
  Tensor self = ctx.tensor("self");
  int64_t times = ctx.integer("n", 1), dim = ctx.dim("dim", self.rank(), -1);
  constexpr int64_t maxTimes = 256;
  if (self.rank() == 0 || times < 0 || times > maxTimes)
    return ctx.refuse(fmt::format("at least 1 dimension and between 0 and {} differences are "
                                  "needed, not {} and {}",
                                  maxTimes, self.rank(), times));
  self = castTo(ctx, self, ctx.resultDType());
  if (times > 0)
    self = extended(ctx, self, dim);
  if (ctx.hasRefused())
    return failure();
  for (int64_t i = 0; i < times; ++i) {
    Neighbours pair = neighbours(ctx, self, dim);
    self = pointwise(ctx, {pair.right, pair.left}, self.dtype, [](Element &e, ValueRange x) {
      return e.dtype == DType::Bool ? e.exclusive(x[0], x[1]) : e.sub(x[0], x[1]);
    });
  }
  return ctx.done(self);
}

//===----------------------------------------------------------------------===//
// The trapezoidal rule
//===----------------------------------------------------------------------===//

/// The distance between neighbours: the argument dx, or the differences of x (a vector stands for
/// the same positions everywhere).
static Operand distance(Lowering &ctx, const Tensor &y, int64_t dim, DType compute) {
  if (!ctx.arg("x").tensor())
    return ctx.scalar("dx", 1);
  Tensor x = ctx.tensor("x");
  if (x.rank() == 0 || x.rank() > y.rank()) {
    ctx.refuse(fmt::format("x has {} and y {}", counted(x.rank(), "dimension"), y.rank()));
    return ctx.scalar("dx", 1);
  }
  int64_t along = x.rank() == 1 ? 0 : dim - (y.rank() - x.rank());
  if (along < 0) {
    ctx.refuse(fmt::format("x of {} does not reach dimension {} of y",
                           counted(x.rank(), "dimension"), dim));
    return ctx.scalar("dx", 1);
  }
  Neighbours pair = neighbours(ctx, castTo(ctx, x, compute), along);
  Tensor steps = pointwise(ctx, {pair.right, pair.left}, compute,
                           [](Element &e, ValueRange v) { return e.sub(v[0], v[1]); });
  for (int64_t i = dim + 1; x.rank() == 1 && i < y.rank(); ++i)
    steps = unsqueeze(ctx, steps, steps.rank());
  return steps;
}

namespace {
struct Areas {
  Tensor tensor;
  int64_t dim;
};
} // namespace

/// The areas between neighbours along `dim`, times two; empty when the operator is refused.
static std::optional<Areas> areas(Lowering &ctx, DType compute) {
  Tensor y = ctx.tensor("y");
  int64_t dim = ctx.dim("dim", y.rank(), -1);
  if (y.rank() == 0) {
    (void)ctx.refuse("a tensor of at least 1 dimension is needed, not 0");
    return std::nullopt;
  }
  Operand steps = distance(ctx, y, dim, compute);
  Neighbours pair = neighbours(ctx, y, dim);
  Tensor twice = pointwise(
      ctx, {pair.left, pair.right, steps}, compute,
      [](Element &e, ValueRange v) { return e.mul(e.add(v[0], v[1]), v[2]); }, compute);
  return ctx.hasRefused() ? std::nullopt : std::optional(Areas{twice, dim});
}

static Tensor halved(Lowering &ctx, const Tensor &tensor) {
  return pointwise(ctx, tensor, ctx.resultDType(),
                   [](Element &e, ValueRange v) { return e.mul(v[0], e.constant(0.5)); });
}

static LogicalResult lowerTrapezoid(Lowering &ctx) {
  DType compute = opmath(ctx.resultDType());
  auto twice = areas(ctx, compute);
  if (!twice)
    return failure();
  return ctx.done(halved(ctx, reduceSum(ctx, {twice->tensor, {twice->dim}}, compute)));
}

static LogicalResult lowerCumulativeTrapezoid(Lowering &ctx) {
  DType compute = opmath(ctx.resultDType());
  auto twice = areas(ctx, compute);
  if (!twice)
    return failure();
  Value zero = Element(ctx.b, ctx.loc, compute).constant(0);
  auto sums =
      scan(ctx, twice->tensor, twice->dim, compute, zero,
           [&](OpBuilder &b, Location loc, ValueRange states, ValueRange elements) {
             return SmallVector<Value>{Element(b, loc, compute).add(states[0], elements[0])};
           });
  return ctx.done(halved(ctx, sums.front()));
}

//===----------------------------------------------------------------------===//
// vander
//===----------------------------------------------------------------------===//

/// Powers N-1, ..., 1, 0 of the elements of a vector as columns; `increasing` reverses them.
static LogicalResult lowerVander(Lowering &ctx) {
  Tensor x = ctx.tensor("x");
  if (!ctx.needsRank(x, 1, "the tensor"))
    return failure();
  auto rows = constantOf(ctx.sizeOf(x, 0));
  if (!ctx.has("N") && !rows)
    return ctx.refuse("the number of powers must be known at compile time");
  int64_t count = ctx.has("N") ? ctx.integer("N") : *rows;
  constexpr int64_t maxPowers = 256;
  if (count < 0 || count > maxPowers)
    return ctx.refuse(
        fmt::format("between 0 and {} powers are supported, not {}", maxPowers, count));
  DType dtype = ctx.resultDType();
  SizeList sizes{ctx.sizeOf(x, 0), ctx.b.getIndexAttr(count)};
  if (count == 0)
    return ctx.done(ctx.filled(sizes, dtype, Scalar::ofInt(ctx.b.getContext(), 0)));
  Tensor column = unsqueeze(ctx, castTo(ctx, x, dtype), 1);
  Tensor power = ctx.filled(ctx.sizesOf(column), dtype, Scalar::ofInt(ctx.b.getContext(), 1));
  SmallVector<Tensor> powers{power};
  for (int64_t i = 1; i < count; ++i) {
    power = pointwise(ctx, {power, column}, dtype,
                      [](Element &e, ValueRange v) { return e.mul(v[0], v[1]); });
    powers.push_back(power);
  }
  if (!ctx.flag("increasing"))
    std::reverse(powers.begin(), powers.end());
  return ctx.done(concat(ctx, powers, 1));
}

Family differenceFamily() {
  static constexpr LoweringRow rows[] = {
      {"torch.aten.diff", lowerDiff},
      {"torch.aten.trapezoid.x", lowerTrapezoid},
      {"torch.aten.trapezoid.dx", lowerTrapezoid},
      {"torch.aten.trapz.x", lowerTrapezoid},
      {"torch.aten.trapz.dx", lowerTrapezoid},
      {"torch.aten.cumulative_trapezoid.x", lowerCumulativeTrapezoid},
      {"torch.aten.cumulative_trapezoid.dx", lowerCumulativeTrapezoid},
      {"torch.aten.vander", lowerVander},
  };
  return {"Neighbours", rows};
}

} // namespace tw::lower
