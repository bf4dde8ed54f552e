// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// im2col and col2im: windows of images as columns of a matrix, and their sums
// back into images.
#include "Support/Counted.h"
#include "TorchToGraph/Builders/Bounds.h"
#include "TorchToGraph/Builders/Elementwise/Pointwise.h"
#include "TorchToGraph/Builders/Index.h"
#include "TorchToGraph/Builders/Indexing/Gather.h"
#include "TorchToGraph/Builders/Indexing/Scatter.h"
#include "TorchToGraph/Builders/Move.h"
#include "TorchToGraph/Builders/Reshape.h"
#include "TorchToGraph/Families.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include <fmt/format.h>

using namespace mlir;

namespace tw::lower {

using SizeList = SmallVector<OpFoldResult>;

namespace {

/// Windows over the two last dimensions of images.
struct Blocks {
  SmallVector<int64_t> kernel, dilation, padding, stride;
  SizeList counts; // of windows in each dimension

  SizeList pads(OpBuilder &b) const {
    OpFoldResult none = b.getIndexAttr(0);
    return {none, none, b.getIndexAttr(padding[0]), b.getIndexAttr(padding[1])};
  }
};

} // namespace

/// The arguments kernel_size, dilation, padding and stride for images of
/// `height` and `width`.
static Blocks readBlocks(Lowering &ctx, OpFoldResult height, OpFoldResult width) {
  IndexMath math{ctx.b, ctx.loc};
  Blocks blocks{ctx.perDimension("kernel_size", 2, 1),
                ctx.perDimension("dilation", 2, 1),
                ctx.perDimension("padding", 2, 0),
                ctx.perDimension("stride", 2, 1),
                {}};
  for (int i = 0; i < 2; ++i) {
    constexpr int64_t most = int64_t(1) << 31; // keeps products from overflowing
    for (int64_t value : {blocks.kernel[i], blocks.dilation[i], blocks.stride[i]})
      if (value < 1 || value > most)
        ctx.refuse(fmt::format("kernel_size, dilation and stride must be between 1 and {}, not {}",
                               most, value));
    if (blocks.padding[i] < 0 || blocks.padding[i] > most)
      ctx.refuse(fmt::format("padding must be between 0 and {}, not {}", most, blocks.padding[i]));
    if (ctx.hasRefused())
      return blocks;
    OpFoldResult padded = math.add(i == 0 ? height : width, math.constant(2 * blocks.padding[i]));
    OpFoldResult reach = math.constant((blocks.kernel[i] - 1) * blocks.dilation[i] + 1);
    requireAtMost(ctx, reach, padded,
                  "a window that reaches over %lld does not fit an image of size %lld");
    blocks.counts.push_back(math.add(
        math.floorDiv(math.sub(padded, reach), math.constant(blocks.stride[i])), math.constant(1)));
  }
  return blocks;
}

/// window * stride + place * dilation, in the padded image.
static Value imagePosition(OpBuilder &b, Location loc, const Blocks &blocks, int i, Value window,
                           Value place) {
  auto times = [&](Value x, int64_t factor) -> Value {
    return arith::MulIOp::create(b, loc, x, arith::ConstantIndexOp::create(b, loc, factor));
  };
  return arith::AddIOp::create(b, loc, times(window, blocks.stride[i]),
                               times(place, blocks.dilation[i]));
}

/// {batch, channels, kernel, windows}: the columns with every dimension apart.
static SizeList spreadSizes(Lowering &ctx, const Blocks &blocks, OpFoldResult batch,
                            OpFoldResult channels) {
  IndexMath math{ctx.b, ctx.loc};
  return {batch,
          channels,
          math.constant(blocks.kernel[0]),
          math.constant(blocks.kernel[1]),
          blocks.counts[0],
          blocks.counts[1]};
}

/// `tensor` of `rank` with a batch in front, one of 1 when it has none.
static std::optional<Tensor> batched(Lowering &ctx, const Tensor &tensor, int64_t rank) {
  if (tensor.rank() == rank)
    return tensor;
  if (tensor.rank() + 1 == rank)
    return unsqueeze(ctx, tensor, 0);
  ctx.refuse(fmt::format("a tensor of {} or {} is needed, not {}", rank - 1,
                         counted(rank, "dimension"), tensor.rank()));
  return std::nullopt;
}

static LogicalResult lowerIm2Col(Lowering &ctx) {
  Tensor self = ctx.tensor("self");
  auto images = batched(ctx, self, 4);
  if (!images || ctx.hasRefused())
    return failure();
  SizeList sizes = ctx.sizesOf(*images);
  Blocks blocks = readBlocks(ctx, sizes[2], sizes[3]);
  if (ctx.hasRefused())
    return failure();
  SizeList pads = blocks.pads(ctx.b);
  Tensor padded = pad(ctx, *images, pads, pads, Scalar::ofInt(ctx.b.getContext(), 0));
  Tensor spread =
      gather(ctx, spreadSizes(ctx, blocks, sizes[0], sizes[1]), self.dtype, {},
             [&](GatherBody &body, ValueRange) {
               SmallVector<Value> at{body.position(0), body.position(1)};
               for (int i = 0; i < 2; ++i)
                 at.push_back(imagePosition(body.b, body.loc, blocks, i, body.position(4 + i),
                                            body.position(2 + i)));
               return body.read(padded, at);
             });
  Tensor columns = flatten(ctx, flatten(ctx, spread, 4, 5), 1, 3);
  return ctx.done(self.rank() == 4 ? columns : squeeze(ctx, columns, 0));
}

static LogicalResult lowerCol2Im(Lowering &ctx) {
  Tensor self = ctx.tensor("self");
  auto columns = batched(ctx, self, 3);
  SizeList image = ctx.sizes("output_size");
  if (image.size() != 2)
    return ctx.refuse(
        fmt::format("output_size has {}, but 2 are needed", counted(image.size(), "value")));
  if (!columns || ctx.hasRefused())
    return failure();
  requireSizes(ctx, image);
  Blocks blocks = readBlocks(ctx, image[0], image[1]);
  if (ctx.hasRefused())
    return failure();
  IndexMath math{ctx.b, ctx.loc};
  SizeList sizes = ctx.sizesOf(*columns);
  OpFoldResult area = math.constant(blocks.kernel[0] * blocks.kernel[1]);
  OpFoldResult channels = math.floorDiv(sizes[1], area);
  requireSame(ctx, math.mul(channels, area), sizes[1],
              "columns of windows must have %lld elements, not %lld");
  requireSame(ctx, math.mul(blocks.counts[0], blocks.counts[1]), sizes[2],
              "there are %lld windows, but %lld columns");
  if (ctx.hasRefused())
    return failure();
  SizeList spread = spreadSizes(ctx, blocks, sizes[0], channels);
  Tensor source = reshape(ctx, *columns, spread);
  SizeList padded{sizes[0], channels};
  for (int i = 0; i < 2; ++i)
    padded.push_back(math.add(image[i], math.constant(2 * blocks.padding[i])));
  Tensor sum = scatterWide(
      ctx, zeros(ctx, padded, self.dtype), graph::Combine::Add, spread, {{source, 0}},
      [&](ScatterBody &body, ValueRange x) {
        SmallVector<Value> at{body.position(0), body.position(1)};
        for (int i = 0; i < 2; ++i)
          at.push_back(imagePosition(body.b, body.loc, blocks, i, body.position(4 + i),
                                     body.position(2 + i)));
        return Update{at, Element(body.b, body.loc, opmath(self.dtype)).cast(x[0], self.dtype)};
      });
  for (int i = 0; i < 2; ++i)
    sum = slice(ctx, sum, 2 + i, math.constant(blocks.padding[i]), image[i]);
  return ctx.done(self.rank() == 3 ? sum : squeeze(ctx, sum, 0));
}

Family columnsFamily() {
  static constexpr LoweringRow rows[] = {
      {"torch.aten.im2col", lowerIm2Col},
      {"torch.aten.col2im", lowerCol2Im},
  };
  return {"Images and columns", rows};
}

} // namespace tw::lower
