// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gradients of padding with elements of the tensor: each goes back to the
// element that was read.
#include "Support/Counted.h"
#include "TorchToGraph/Builders/Bounds.h"
#include "TorchToGraph/Builders/Index.h"
#include "TorchToGraph/Builders/Indexing/Scatter.h"
#include "TorchToGraph/Families.h"
#include "TorchToGraph/Movement/Pad.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include <fmt/format.h>

using namespace mlir;

namespace tw::lower {

template <PadMode mode>
static LogicalResult lowerPadBackward(Lowering &ctx) {
  Tensor gradient = ctx.tensor("grad_output"), self = ctx.tensor("self");
  Paddings paddings = readPaddings(ctx, "padding", self.rank());
  if (gradient.rank() != self.rank())
    return ctx.refuse(fmt::format("a gradient of {} is needed, not {}",
                                  counted(self.rank(), "dimension"), gradient.rank()));
  if (ctx.hasRefused())
    return failure();
  auto sizes = ctx.sizesOf(self), have = ctx.sizesOf(gradient);
  for (auto [padded, size] : llvm::zip_equal(paddedSizes(ctx, self, paddings), have))
    requireSame(ctx, padded, size, "a padded size of %lld has a gradient of size %lld");
  checkPaddings(ctx, mode, sizes, paddings);
  if (ctx.hasRefused())
    return failure();
  IndexMath math{ctx.b, ctx.loc};
  SmallVector<Value> lows, bounds;
  for (auto [low, size] : llvm::zip_equal(paddings.low, sizes)) {
    lows.push_back(math.value(low));
    bounds.push_back(math.value(size));
  }
  auto update = [&](ScatterBody &body, ValueRange x) {
    SmallVector<Value> coordinates;
    for (int64_t dim = 0; dim < self.rank(); ++dim) {
      Value at = body.position(dim);
      if (dim >= paddings.first)
        at = sourcePosition(body.b, body.loc, mode,
                            arith::SubIOp::create(body.b, body.loc, at, lows[dim]), bounds[dim]);
      coordinates.push_back(at);
    }
    Element wide(body.b, body.loc, opmath(gradient.dtype));
    return Update{coordinates, wide.cast(x[0], gradient.dtype)};
  };
  return ctx.done(scatterWide(ctx, zeros(ctx, sizes, gradient.dtype), graph::Combine::Add, have,
                              {{gradient, 0}}, update));
}

Family padGradientsFamily() {
  static constexpr LoweringRow rows[] = {
      {"torch.aten.reflection_pad1d_backward", lowerPadBackward<PadMode::Reflect>},
      {"torch.aten.reflection_pad2d_backward", lowerPadBackward<PadMode::Reflect>},
      {"torch.aten.reflection_pad3d_backward", lowerPadBackward<PadMode::Reflect>},
      {"torch.aten.replication_pad1d_backward", lowerPadBackward<PadMode::Replicate>},
      {"torch.aten.replication_pad2d_backward", lowerPadBackward<PadMode::Replicate>},
      {"torch.aten.replication_pad3d_backward", lowerPadBackward<PadMode::Replicate>},
  };
  return {"Gradients of padding", rows};
}

} // namespace tw::lower
