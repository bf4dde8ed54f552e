// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Convolutions of any rank become one tw.conv in the accumulation dtype; bias and rounding follow
// as one elementwise op. Gradients: with respect to the input a convolution again (transposed where
// the forward one was not), to the weight a contraction over the padded input.
#include "IR/Graph/Graph.h"
#include "Support/Counted.h"
#include "TorchToGraph/Builders/Contract.h"
#include "TorchToGraph/Builders/Elementwise/Pointwise.h"
#include "TorchToGraph/Builders/Index.h"
#include "TorchToGraph/Builders/Move.h"
#include "TorchToGraph/Builders/Reduction/Reduce.h"
#include "TorchToGraph/Builders/Reshape.h"
#include "TorchToGraph/Families.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;

namespace tw::lower {
namespace {

/// How the window moves; one value a spatial dimension.
struct Geometry {
  SmallVector<int64_t> stride, paddingLow, paddingHigh, dilation, outputPadding;
  int64_t groups = 1;
  bool transposed = false;

  int64_t spatial() const { return stride.size(); }
};

Geometry readGeometry(Lowering &ctx, int64_t spatial, bool transposed) {
  Geometry g;
  g.stride = ctx.perDimension("stride", spatial, 1);
  g.dilation = ctx.perDimension("dilation", spatial, 1);
  g.outputPadding = ctx.perDimension("output_padding", spatial, 0);
  g.groups = ctx.integer("groups", 1);
  g.transposed = transposed;
  for (int64_t value : g.stride)
    if (value < 1)
      (void)ctx.refuse("stride must be positive, but is " + Twine(value));
  return g;
}

void readPadding(Lowering &ctx, Geometry &g, const Tensor &weight) {
  if (!ctx.arg("padding").text()) {
    g.paddingLow = g.paddingHigh = ctx.perDimension("padding", g.spatial(), 0);
    return;
  }
  std::string mode = ctx.string("padding");
  for (int64_t d = 0; d < g.spatial(); ++d) {
    int64_t total = mode == "same" ? g.dilation[d] * (weight.size(d + 2) - 1) : 0;
    g.paddingLow.push_back(total / 2);
    g.paddingHigh.push_back(total - total / 2);
  }
}

/// The sizes of the result of a convolution.
SmallVector<OpFoldResult> outputSizes(Lowering &ctx, const Geometry &g, const Tensor &input,
                                      const Tensor &weight) {
  IndexMath m{ctx.b, ctx.loc};
  SmallVector<OpFoldResult> in = ctx.sizesOf(input), window = ctx.sizesOf(weight), out;
  out.push_back(in[0]);
  out.push_back(g.transposed ? m.mul(window[1], m.constant(g.groups)) : window[0]);
  for (int64_t d = 0; d < g.spatial(); ++d) {
    OpFoldResult reach = m.mul(m.sub(window[d + 2], m.constant(1)), m.constant(g.dilation[d]));
    OpFoldResult padding = m.constant(g.paddingLow[d] + g.paddingHigh[d]);
    OpFoldResult stride = m.constant(g.stride[d]), one = m.constant(1);
    if (g.transposed) {
      OpFoldResult grown = m.add(m.mul(m.sub(in[d + 2], one), stride), m.add(reach, one));
      out.push_back(m.add(m.sub(grown, padding), m.constant(g.outputPadding[d])));
    } else {
      OpFoldResult room = m.sub(m.add(in[d + 2], padding), m.add(reach, one));
      out.push_back(m.add(m.floorDiv(room, stride), one));
    }
  }
  return out;
}

/// tw.conv into a tensor of zeros of `sizes`, in the accumulation dtype.
Tensor convolve(Lowering &ctx, const Geometry &g, const Tensor &input, const Tensor &weight,
                ArrayRef<OpFoldResult> sizes) {
  DType dtype = contractDType(input.dtype);
  Tensor zeros = ctx.filled(sizes, dtype, Scalar::ofInt(ctx.b.getContext(), 0));
  auto op =
      graph::ConvOp::create(ctx.b, ctx.loc, zeros.type(), input.value, weight.value, zeros.value,
                            g.stride, g.paddingLow, g.dilation, g.groups, g.transposed);
  return {op.getResult(), dtype};
}

/// Adds the bias of each channel and rounds to the result's dtype.
Tensor finish(Lowering &ctx, const Tensor &sum, std::optional<Tensor> bias, int64_t spatial) {
  if (!bias)
    return castTo(ctx, sum, ctx.resultDType());
  Tensor channel = *bias;
  for (int64_t d = 0; d < spatial; ++d)
    channel = unsqueeze(ctx, channel, channel.rank());
  return pointwise(
      ctx, {sum, channel}, ctx.resultDType(),
      [](Element &e, ValueRange x) { return e.add(x[0], x[1]); }, sum.dtype);
}

LogicalResult lower(Lowering &ctx, bool transposed) {
  Tensor input = ctx.tensor("input"), weight = ctx.tensor("weight");
  if (ctx.hasRefused())
    return failure();
  int64_t spatial = weight.rank() - 2;
  if (spatial < 1)
    return ctx.refuse("the weight must have at least 3 dimensions, but has " +
                      Twine(weight.rank()));
  bool batched = input.rank() == weight.rank();
  if (!batched && input.rank() != weight.rank() - 1)
    return ctx.refuse("the input has " + counted(input.rank(), "dimension") + " and the weight " +
                      Twine(weight.rank()));
  Geometry g = readGeometry(ctx, spatial, transposed);
  readPadding(ctx, g, weight);
  if (ctx.hasRefused())
    return failure();
  if (!batched)
    input = unsqueeze(ctx, input, 0);
  Tensor sum = convolve(ctx, g, input, weight, outputSizes(ctx, g, input, weight));
  Tensor result = finish(ctx, sum, ctx.optTensor("bias"), spatial);
  return ctx.done(batched ? result : squeeze(ctx, result, 0));
}

LogicalResult lowerConv(Lowering &ctx) { return lower(ctx, false); }
LogicalResult lowerTransposedConv(Lowering &ctx) { return lower(ctx, true); }
LogicalResult lowerConvolution(Lowering &ctx) { return lower(ctx, ctx.flag("transposed")); }

/// Splits dimension 1, the channels, into [groups, channels / groups].
Tensor splitGroups(Lowering &ctx, const Tensor &tensor, int64_t groups) {
  IndexMath m{ctx.b, ctx.loc};
  SmallVector<OpFoldResult> sizes = ctx.sizesOf(tensor);
  sizes[1] = m.floorDiv(sizes[1], m.constant(groups));
  sizes.insert(sizes.begin() + 1, m.constant(groups));
  return reshape(ctx, tensor, sizes);
}

/// gradient[g, o, c, k...] = sum over n, y... of small[n, g, o, y...] * large[n, g, c, y * stride +
/// k * dilation - padding]: `small` has the convolution's output side, `large` its input side.
Tensor weightGradient(Lowering &ctx, const Geometry &geometry, Tensor small, Tensor large,
                      ArrayRef<OpFoldResult> window) {
  int64_t spatial = geometry.spatial();
  IndexMath m{ctx.b, ctx.loc};
  SmallVector<OpFoldResult> low(2, m.constant(0)), high(2, m.constant(0));
  SmallVector<OpFoldResult> smallSizes = ctx.sizesOf(small), largeSizes = ctx.sizesOf(large);
  for (int64_t d = 0; d < spatial; ++d) {
    OpFoldResult one = m.constant(1), padding = m.constant(geometry.paddingLow[d]);
    OpFoldResult last = m.add(m.mul(m.sub(smallSizes[d + 2], one), m.constant(geometry.stride[d])),
                              m.mul(m.sub(window[d], one), m.constant(geometry.dilation[d])));
    OpFoldResult missing = m.sub(m.add(last, one), m.add(largeSizes[d + 2], padding));
    low.push_back(padding);
    high.push_back(m.max(missing, m.constant(0)));
  }
  large = pad(ctx, large, low, high, Scalar::ofInt(ctx.b.getContext(), 0));
  small = splitGroups(ctx, small, geometry.groups);
  large = splitGroups(ctx, large, geometry.groups);

  // Loops: g, k..., o, c, n, y...; the result is a matrix for each tap.
  MLIRContext *context = ctx.b.getContext();
  auto d = [&](int64_t i) { return getAffineDimExpr(i, context); };
  int64_t loops = 4 + 2 * spatial, o = 1 + spatial, c = 2 + spatial, n = 3 + spatial;
  SmallVector<AffineExpr> smallMap{d(n), d(0), d(o)}, largeMap{d(n), d(0), d(c)};
  for (int64_t i = 0; i < spatial; ++i) {
    smallMap.push_back(d(n + 1 + i));
    largeMap.push_back(d(n + 1 + i) * geometry.stride[i] + d(1 + i) * geometry.dilation[i]);
  }
  SmallVector<AffineExpr> outMap;
  for (int64_t loop = 0; loop < n; ++loop)
    outMap.push_back(d(loop));
  SmallVector<AffineMap> maps;
  for (ArrayRef<AffineExpr> results : {ArrayRef(smallMap), ArrayRef(largeMap), ArrayRef(outMap)})
    maps.push_back(AffineMap::get(loops, 0, results, context));
  SmallVector<utils::IteratorType> iterators(3 + spatial, utils::IteratorType::parallel);
  iterators.append(1 + spatial, utils::IteratorType::reduction);

  DType dtype = contractDType(small.dtype);
  SmallVector<OpFoldResult> sizes(n);
  sizes[0] = m.constant(geometry.groups);
  llvm::copy(window, sizes.begin() + 1);
  sizes[c] = ctx.sizesOf(large)[2];
  sizes[o] = ctx.sizesOf(small)[2];
  Tensor zeros = ctx.filled(sizes, dtype, Scalar::ofInt(context, 0));
  auto op = linalg::GenericOp::create(
      ctx.b, ctx.loc, zeros.type(), ValueRange{small.value, large.value}, zeros.value, maps,
      iterators, [&](OpBuilder &b, Location loc, ValueRange x) {
        Element e(b, loc, dtype);
        Value product = e.mul(e.cast(x[0], small.dtype), e.cast(x[1], large.dtype));
        linalg::YieldOp::create(b, loc, e.add(x[2], product));
      });
  SmallVector<int64_t> order = {0, o, c};
  llvm::append_range(order, llvm::seq<int64_t>(1, 1 + spatial));
  return permute(ctx, {op.getResult(0), dtype}, order);
}

LogicalResult lowerConvolutionBackward(Lowering &ctx) {
  Tensor gradient = ctx.tensor("grad_output"), input = ctx.tensor("input"),
         weight = ctx.tensor("weight");
  if (ctx.hasRefused())
    return failure();
  int64_t spatial = weight.rank() - 2;
  Geometry g = readGeometry(ctx, spatial, ctx.flag("transposed"));
  readPadding(ctx, g, weight);
  SmallVector<int64_t> mask = ctx.integers("output_mask");
  if (ctx.hasRefused())
    return failure();
  if (mask.size() != 3 || input.rank() != weight.rank())
    return ctx.refuse("output_mask must have 3 values and the input a batch dimension");

  SmallVector<Operand> results(3);
  if (mask[0]) {
    Geometry back = g;
    back.transposed = !g.transposed;
    Tensor sum = convolve(ctx, back, gradient, weight, ctx.sizesOf(input));
    results[0] = castTo(ctx, sum, input.dtype);
  }
  if (mask[1]) {
    SmallVector<OpFoldResult> sizes = ctx.sizesOf(weight);
    ArrayRef<OpFoldResult> window = ArrayRef(sizes).drop_front(2);
    Tensor sum = g.transposed ? weightGradient(ctx, g, input, gradient, window)
                              : weightGradient(ctx, g, gradient, input, window);
    results[1] = castTo(ctx, reshape(ctx, sum, sizes), weight.dtype);
  }
  if (mask[2]) {
    SmallVector<int64_t> dims = allDims(gradient);
    dims.erase(dims.begin() + 1);
    Tensor sum = reduceSum(ctx, {gradient, dims}, contractDType(gradient.dtype));
    results[2] = castTo(ctx, sum, gradient.dtype);
  }
  return ctx.done(results);
}

} // namespace

Family convolutionFamily() {
  static constexpr LoweringRow rows[] = {
      {"torch.aten.conv1d", lowerConv},
      {"torch.aten.conv1d.padding", lowerConv},
      {"torch.aten.conv2d", lowerConv},
      {"torch.aten.conv2d.padding", lowerConv},
      {"torch.aten.conv3d", lowerConv},
      {"torch.aten.conv3d.padding", lowerConv},
      {"torch.aten._convolution_mode", lowerConv},
      {"torch.aten.conv_transpose1d", lowerTransposedConv},
      {"torch.aten.conv_transpose2d.input", lowerTransposedConv},
      {"torch.aten.conv_transpose3d.input", lowerTransposedConv},
      {"torch.aten.convolution", lowerConvolution},
      {"torch.aten._convolution", lowerConvolution},
      {"torch.aten.convolution_backward", lowerConvolutionBackward},
  };
  return {"Convolution", rows};
}

} // namespace tw::lower
