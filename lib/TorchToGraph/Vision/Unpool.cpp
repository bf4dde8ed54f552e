// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The reverse of max pooling with indices: each value back to the place it came
// from.
#include "Support/Counted.h"
#include "TorchToGraph/Builders/Bounds.h"
#include "TorchToGraph/Builders/Index.h"
#include "TorchToGraph/Builders/Indexing/Scatter.h"
#include "TorchToGraph/Builders/Reshape.h"
#include "TorchToGraph/Families.h"
#include <fmt/format.h>

using namespace mlir;

namespace tw::lower {

using SizeList = SmallVector<OpFoldResult>;

/// Zeros of output_size with each value at its index in the flat `spatial` last
/// dimensions.
template <int spatial>
static LogicalResult lowerUnpool(Lowering &ctx) {
  Tensor self = ctx.tensor("self"), indices = ctx.tensor("indices");
  SizeList output = ctx.sizes("output_size");
  int64_t rank = self.rank(),
          batch = rank - spatial; // dimensions before the spatial ones
  if (int64_t(output.size()) != spatial || (batch != 1 && batch != 2))
    return ctx.refuse(fmt::format("{} and a tensor of {} or {} are needed, not {} and {}",
                                  counted(spatial, "output size"), spatial + 1,
                                  counted(spatial + 2, "dimension"), output.size(), rank));
  if (!ctx.needsRank(indices, rank, "indices"))
    return failure();
  requireSizes(ctx, output);
  SizeList sizes = ctx.sizesOf(self), have = ctx.sizesOf(indices);
  for (auto [size, other] : llvm::zip_equal(sizes, have))
    requireSame(ctx, size, other, "values of size %lld need as many indices, not %lld");
  if (ctx.hasRefused())
    return failure();
  IndexMath math{ctx.b, ctx.loc};
  SizeList images(ArrayRef(sizes).take_front(batch)), result = images;
  result.append(output.begin(), output.end());
  OpFoldResult places = math.product(output);
  SizeList flatIn{math.product(images), math.product(ArrayRef(sizes).drop_front(batch))};
  Tensor values = reshape(ctx, self, flatIn), targets = reshape(ctx, indices, flatIn);
  requireNonEmpty(ctx, places, flatIn, 1);
  Value bound = math.value(places);
  if (ctx.hasRefused())
    return failure();
  Tensor written =
      scatter(ctx, zeros(ctx, {flatIn[0], places}, self.dtype), graph::Combine::Set, flatIn,
              {{values, 0}, {targets, 0}}, [&](ScatterBody &body, ValueRange x) {
                Value target = body.safeIndex(x[1], indices.dtype, bound, 1, false);
                return Update{{body.position(0), target}, x[0]};
              });
  return ctx.done(reshape(ctx, written, ctx.refined(result)));
}

Family unpoolFamily() {
  static constexpr LoweringRow rows[] = {
      {"torch.aten.max_unpool2d", lowerUnpool<2>},
      {"torch.aten.max_unpool3d", lowerUnpool<3>},
  };
  return {"Unpooling", rows};
}

} // namespace tw::lower
