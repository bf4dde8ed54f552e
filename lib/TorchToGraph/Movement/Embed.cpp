// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A tensor with a part of it replaced, and gradients of taking that part: zeros around.
#include "Support/Counted.h"
#include "TorchToGraph/Builders/Bounds.h"
#include "TorchToGraph/Builders/Elementwise/Pointwise.h"
#include "TorchToGraph/Builders/Index.h"
#include "TorchToGraph/Builders/Move.h"
#include "TorchToGraph/Builders/Reshape.h"
#include "TorchToGraph/Families.h"
#include <fmt/format.h>

using namespace mlir;

namespace tw::lower {

using SizeList = SmallVector<OpFoldResult>;

/// Refuses a source that is not as large as the part of `sizes` it goes to.
static void requireFits(Lowering &ctx, const Tensor &source, SizeList sizes, int64_t dim,
                        OpFoldResult length) {
  if (source.rank() != int64_t(sizes.size())) {
    ctx.refuse(fmt::format("the part has {}, but what goes there has {}",
                           counted(sizes.size(), "dimension"), source.rank()));
    return;
  }
  sizes[dim] = length;
  for (auto [part, have] : llvm::zip_equal(sizes, ctx.sizesOf(source)))
    requireSame(ctx, part, have, "a part of size %lld cannot be replaced by one of %lld");
}

//===----------------------------------------------------------------------===//
// Replacing a part
//===----------------------------------------------------------------------===//

static LogicalResult lowerSliceScatter(Lowering &ctx) {
  auto [self, dim] = selfAndDim(ctx);
  Tensor source = castTo(ctx, ctx.tensor("src"), self.dtype);
  if (ctx.hasRefused())
    return failure();
  SizeList sizes = ctx.sizesOf(self);
  Range range = rangeArgument(ctx, sizes[dim]);
  if (ctx.hasRefused())
    return failure();
  requireFits(ctx, source, sizes, dim, range.length);
  if (ctx.hasRefused())
    return failure();
  return ctx.done(insertSlice(ctx, source, self, dim, range.start, range.step));
}

static LogicalResult lowerSelectScatter(Lowering &ctx) {
  auto [self, dim] = selfAndDim(ctx);
  Tensor source = castTo(ctx, ctx.tensor("src"), self.dtype);
  OpFoldResult index = positionArgument(ctx, "index");
  if (ctx.hasRefused())
    return failure();
  SizeList sizes = ctx.sizesOf(self);
  index = checkedIndex(ctx, index, sizes[dim], dim);
  if (source.rank() + 1 != self.rank())
    return ctx.refuse(
        fmt::format("one position of a tensor of {} has {}, but what goes there has {}",
                    counted(self.rank(), "dimension"), self.rank() - 1, source.rank()));
  source = unsqueeze(ctx, source, dim);
  requireFits(ctx, source, sizes, dim, ctx.b.getIndexAttr(1));
  if (ctx.hasRefused())
    return failure();
  return ctx.done(insertSlice(ctx, source, self, dim, index));
}

/// The source in the dtype and, expanded, the sizes of self.
static LogicalResult lowerCopy(Lowering &ctx) {
  Tensor self = ctx.tensor("self");
  Tensor source = castTo(ctx, ctx.tensor("src"), self.dtype);
  SizeList have = ctx.sizesOf(source), sizes = ctx.sizesOf(self);
  for (int64_t i = 1; i <= std::min(self.rank(), source.rank()); ++i)
    if (OpFoldResult size = have[source.rank() - i]; constantOf(size) != 1)
      requireSame(ctx, size, sizes[self.rank() - i],
                  "a dimension of size %lld cannot be copied to one of %lld");
  if (ctx.hasRefused())
    return failure();
  return ctx.done(broadcastTo(ctx, source, sizes));
}

//===----------------------------------------------------------------------===//
// Gradients of taking a part
//===----------------------------------------------------------------------===//

/// Zeros of `sizes` with `gradient` at the range of `dim`.
static LogicalResult embedInZeros(Lowering &ctx, const Tensor &gradient, const SizeList &sizes,
                                  int64_t dim, const Range &range) {
  requireFits(ctx, gradient, sizes, dim, range.length);
  if (ctx.hasRefused())
    return failure();
  IndexMath math{ctx.b, ctx.loc};
  Scalar zero = Scalar::ofInt(ctx.b.getContext(), 0);
  if (range.step != 1)
    return ctx.done(insertSlice(ctx, gradient, ctx.filled(sizes, gradient.dtype, zero), dim,
                                range.start, range.step));
  SizeList low(sizes.size(), math.constant(0)), high = low;
  low[dim] = range.start;
  high[dim] = math.sub(sizes[dim], math.add(range.start, range.length));
  return ctx.done(pad(ctx, gradient, low, high, zero));
}

static LogicalResult lowerSliceBackward(Lowering &ctx) {
  Tensor gradient = ctx.tensor("grad_output");
  SizeList sizes = agreedSizes(ctx, ctx.sizes("input_sizes"));
  int64_t dim = ctx.dim("dim", sizes.size());
  if (sizes.empty())
    return ctx.refuse("a tensor without dimensions has no parts");
  Range range = rangeArgument(ctx, sizes[dim]);
  if (ctx.hasRefused())
    return failure();
  return embedInZeros(ctx, gradient, sizes, dim, range);
}

static LogicalResult lowerSelectBackward(Lowering &ctx) {
  Tensor gradient = ctx.tensor("grad_output");
  SizeList sizes = agreedSizes(ctx, ctx.sizes("input_sizes"));
  int64_t dim = ctx.dim("dim", sizes.size());
  if (int64_t(sizes.size()) != gradient.rank() + 1)
    return ctx.refuse(fmt::format("a gradient of {} is needed, not {}",
                                  counted(int64_t(sizes.size()) - 1, "dimension"),
                                  gradient.rank()));
  OpFoldResult index = checkedIndex(ctx, ctx.size("index"), sizes[dim], dim);
  if (ctx.hasRefused())
    return failure();
  return embedInZeros(ctx, unsqueeze(ctx, gradient, dim), sizes, dim,
                      {index, ctx.b.getIndexAttr(1)});
}

Family embedFamily() {
  static constexpr LoweringRow rows[] = {
      {"torch.aten.slice_scatter", lowerSliceScatter},
      {"torch.aten.select_scatter", lowerSelectScatter},
      {"torch.aten.copy", lowerCopy},
      {"torch.aten.slice_backward", lowerSliceBackward},
      {"torch.aten.select_backward", lowerSelectBackward},
  };
  return {"Replaced parts", rows};
}

} // namespace tw::lower
