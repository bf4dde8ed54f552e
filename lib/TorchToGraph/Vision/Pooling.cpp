// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Max and average pooling over windows (Window.h), plain and adaptive, and their gradients, which
// scatter each output's gradient over its window.
#include "TorchToGraph/Vision/Pooling.h"
#include "IR/Graph/Graph.h"
#include "TorchToGraph/Builders/Elementwise/Pointwise.h"
#include "TorchToGraph/Builders/Index.h"
#include "TorchToGraph/Builders/Indexing/Gather.h"
#include "TorchToGraph/Builders/Reduction/Reduce.h"
#include "TorchToGraph/Builders/Reshape.h"
#include "TorchToGraph/Families.h"
#include "TorchToGraph/Vision/Window.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace tw::lower {
std::pair<Tensor, Tensor> maxOverWindows(Lowering &ctx, const Tensor &input, const Windows &w) {
  Element e(ctx.b, ctx.loc, input.dtype), i64(ctx.b, ctx.loc, DType::I64);
  SmallVector<Tensor> results = reduceWindows(
      ctx, input, w, {input.dtype, DType::I64}, {e.lowest(), i64.constant(-1)},
      [&](OpBuilder &b, Location loc, Value x, Value inside, Value flat, ValueRange acc) {
        Element e(b, loc, input.dtype), i64(b, loc, DType::I64);
        x = e.select(inside, x, e.lowest());
        Value better = e.disjunction(e.gt(x, acc[0]), e.isNan(x));
        // The first place of a window stands for one whose elements are all the lowest.
        Value isFirst = e.conjunction(i64.lt(acc[1], i64.constant(0)), inside);
        return SmallVector<Value>{e.select(better, x, acc[0]),
                                  e.select(e.disjunction(better, isFirst), flat, acc[1])};
      });
  return {results[0], results[1]};
}

namespace {

template <int spatial>
LogicalResult lowerMaxPool(Lowering &ctx) {
  Tensor input = ctx.tensor("self");
  if (ctx.hasRefused())
    return failure();
  Windows w = readWindows(ctx, input, spatial);
  if (ctx.hasRefused())
    return failure();
  auto [values, positions] = maxOverWindows(ctx, input, w);
  if (ctx.op->getNumResults() == 1)
    return ctx.done(values);
  return ctx.done({values, positions});
}

template <int spatial>
LogicalResult lowerAdaptiveMaxPool(Lowering &ctx) {
  Tensor input = ctx.tensor("self");
  if (ctx.hasRefused())
    return failure();
  Windows w = readAdaptiveWindows(ctx, input, spatial);
  if (ctx.hasRefused())
    return failure();
  auto [values, positions] = maxOverWindows(ctx, input, w);
  return ctx.done({values, positions});
}

/// How averages are divided.
struct Divisor {
  bool countPadding = true;       // count_include_pad
  std::optional<int64_t> fixed{}; // divisor_override
};

Divisor readDivisor(Lowering &ctx) {
  Divisor divisor{ctx.flag("count_include_pad", true)};
  if (ctx.has("divisor_override"))
    divisor.fixed = ctx.integer("divisor_override");
  return divisor;
}

/// Whether no window reaches beyond what is counted: then all count for the same.
bool areWhole(const Windows &w, const Divisor &divisor, bool ceilMode) {
  bool isPadded = llvm::any_of(w.padding, [](int64_t size) { return size != 0; });
  return !w.adaptive && !ceilMode && (divisor.countPadding || !isPadded);
}

/// How many places the window at `output` counts for in one dimension (an index).
Value countedPlaces(OpBuilder &b, Location loc, const Windows &w, int64_t dim, Value output,
                    Value inputSize, Value outputSize, bool countPadding) {
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  auto mul = [&](Value x, Value y) -> Value { return arith::MulIOp::create(b, loc, x, y); };
  auto add = [&](Value x, Value y) -> Value { return arith::AddIOp::create(b, loc, x, y); };
  auto sub = [&](Value x, Value y) -> Value { return arith::SubIOp::create(b, loc, x, y); };
  Value begin, end;
  if (w.adaptive) {
    begin = arith::DivUIOp::create(b, loc, mul(output, inputSize), outputSize);
    end = arith::CeilDivUIOp::create(b, loc, mul(add(output, constant(1)), inputSize), outputSize);
  } else {
    Value padding = constant(w.padding[dim]);
    begin = sub(mul(output, constant(w.stride[dim])), padding);
    end = arith::MinSIOp::create(b, loc, add(begin, constant(w.kernel[dim])),
                                 add(inputSize, padding));
    if (!countPadding) {
      begin = arith::MaxSIOp::create(b, loc, begin, constant(0));
      end = arith::MinSIOp::create(b, loc, end, inputSize);
    }
  }
  return sub(end, begin);
}

/// The divisor of every window, in `dtype`, with the sizes [output...].
Tensor divisors(Lowering &ctx, const Windows &w, const Divisor &divisor, DType dtype) {
  IndexMath m{ctx.b, ctx.loc};
  SmallVector<Value> in, out;
  for (int64_t d = 0; d < w.spatial; ++d) {
    in.push_back(m.value(w.inputSizes[d]));
    out.push_back(m.value(w.outputSizes[d]));
  }
  return gather(ctx, w.outputSizes, dtype, {}, [&](GatherBody &body, ValueRange) {
    Value count = body.constant(divisor.fixed.value_or(1));
    if (!divisor.fixed)
      for (int64_t d = 0; d < w.spatial; ++d) {
        Value places = countedPlaces(body.b, body.loc, w, d, body.position(d), in[d], out[d],
                                     divisor.countPadding);
        count = arith::MulIOp::create(body.b, body.loc, count, places);
      }
    Value asInt = arith::IndexCastOp::create(body.b, body.loc, body.b.getI64Type(), count);
    return Element(body.b, body.loc, dtype).cast(asInt, DType::I64);
  });
}

Tensor averageOverWindows(Lowering &ctx, const Tensor &input, const Windows &w,
                          const Divisor &divisor) {
  bool ceilMode = ctx.flag("ceil_mode");
  DType sumType = opmath(input.dtype);
  Element zero(ctx.b, ctx.loc, sumType);
  Tensor sum =
      reduceWindows(ctx, input, w, {sumType}, {zero.constant(0)},
                    [&](OpBuilder &b, Location loc, Value x, Value inside, Value, ValueRange acc) {
                      Element e(b, loc, sumType);
                      Value term = e.select(inside, e.cast(x, input.dtype), e.constant(0));
                      return SmallVector<Value>{e.add(acc[0], term)};
                    })[0];
  if (divisor.fixed || areWhole(w, divisor, ceilMode)) {
    int64_t places = divisor.fixed.value_or(llvm::product_of(w.kernel));
    return pointwise(
        ctx, {sum}, input.dtype,
        [&](Element &e, ValueRange x) { return e.div(x[0], e.constant(double(places))); }, sumType);
  }
  return pointwise(
      ctx, {sum, divisors(ctx, w, divisor, sumType)}, input.dtype,
      [](Element &e, ValueRange x) { return e.div(x[0], x[1]); }, sumType);
}

/// True when adaptive pooling makes one result from each whole image, however large.
bool isGlobal(Lowering &ctx) {
  auto list = ctx.arg("output_size").list();
  return list && llvm::all_of(*list, [](const Operand &size) {
           return size.scalar() && size.scalar()->constantInt() == 1;
         });
}

/// The last `spatial` dimensions of `input`, to be reduced to size 1 each.
ReduceSpace lastDimensions(const Tensor &input, int64_t spatial) {
  auto dims = llvm::seq<int64_t>(input.rank() - spatial, input.rank());
  return {input, llvm::to_vector(dims), /*keepDim=*/true};
}

/// Whether the only window is the whole image, and counts for as many places as it has.
bool isWholeImage(const Windows &w, const Divisor &divisor) {
  bool isPlain = !divisor.fixed && llvm::all_of(w.padding, [](int64_t n) { return n == 0; }) &&
                 llvm::all_of(w.dilation, [](int64_t n) { return n == 1; });
  return isPlain && llvm::equal(w.inputSizes, w.kernel, [](OpFoldResult size, int64_t length) {
           return constantOf(size) == length;
         });
}

template <int spatial>
LogicalResult lowerAveragePool(Lowering &ctx) {
  Tensor input = ctx.tensor("self");
  if (ctx.hasRefused())
    return failure();
  Windows w = readWindows(ctx, input, spatial);
  Divisor divisor = readDivisor(ctx);
  if (ctx.hasRefused())
    return failure();
  if (isWholeImage(w, divisor))
    return ctx.done(
        castTo(ctx, reduceMean(ctx, lastDimensions(input, spatial)), ctx.resultDType()));
  return ctx.done(averageOverWindows(ctx, input, w, divisor));
}

template <int spatial>
LogicalResult lowerAdaptiveAveragePool(Lowering &ctx) {
  Tensor input = ctx.tensor("self");
  if (ctx.hasRefused())
    return failure();
  if (isGlobal(ctx) && input.rank() >= spatial)
    return ctx.done(
        castTo(ctx, reduceMean(ctx, lastDimensions(input, spatial)), ctx.resultDType()));
  Windows w = readAdaptiveWindows(ctx, input, spatial);
  if (ctx.hasRefused())
    return failure();
  return ctx.done(averageOverWindows(ctx, input, w, {}));
}

/// Adds gradient / divisor to every place of each window, in a tensor like `input`.
Tensor spreadOverWindows(Lowering &ctx, const Tensor &gradient, const Tensor &input,
                         const Windows &w, const Divisor &divisor) {
  DType dtype = opmath(gradient.dtype);
  Tensor share = pointwise(
      ctx, {gradient, divisors(ctx, w, divisor, dtype)}, dtype,
      [](Element &e, ValueRange x) { return e.div(x[0], x[1]); }, dtype);
  MLIRContext *context = ctx.b.getContext();
  IndexMath m{ctx.b, ctx.loc};
  int64_t rank = input.rank(), loops = rank + w.spatial, outer = rank - w.spatial;
  SmallVector<Value> in, out;
  for (int64_t d = 0; d < w.spatial; ++d) {
    in.push_back(m.value(w.inputSizes[d]));
    out.push_back(m.value(w.outputSizes[d]));
  }
  Value window = windowShape(ctx, w).value;
  AffineMap shareMap = leadingLoops(context, loops, rank);
  AffineMap windowMap = AffineMap::getMinorIdentityMap(loops, w.spatial, context);
  Tensor zeros = ctx.filled(ctx.sizesOf(input), dtype, Scalar::ofInt(context, 0));
  auto scatter = graph::ScatterOp::create(
      ctx.b, ctx.loc, zeros.type(), ValueRange{share.value, window}, zeros.value,
      ctx.b.getAffineMapArrayAttr({shareMap, windowMap}), graph::Combine::Add, false);
  OpBuilder::InsertionGuard guard(ctx.b);
  Block *block = ctx.b.createBlock(
      &scatter.getBody(), {}, {elementType(context, dtype), ctx.b.getI1Type()}, {ctx.loc, ctx.loc});
  SmallVector<Value> yielded;
  for (int64_t d = 0; d < outer; ++d)
    yielded.push_back(graph::IndexOp::create(ctx.b, ctx.loc, ctx.b.getIndexType(), d));
  Value inside;
  for (int64_t d = 0; d < w.spatial; ++d) {
    Value output = graph::IndexOp::create(ctx.b, ctx.loc, ctx.b.getIndexType(), outer + d);
    Value k = graph::IndexOp::create(ctx.b, ctx.loc, ctx.b.getIndexType(), rank + d);
    WindowPlace p = place(ctx.b, ctx.loc, w, d, output, k, in[d], out[d]);
    yielded.push_back(p.position);
    inside =
        inside ? arith::AndIOp::create(ctx.b, ctx.loc, inside, p.inside).getResult() : p.inside;
  }
  // A place that does not exist adds nothing to some element that does.
  Element e(ctx.b, ctx.loc, dtype);
  yielded.push_back(e.select(inside, block->getArgument(0), e.constant(0)));
  graph::YieldOp::create(ctx.b, ctx.loc, yielded);
  return {scatter.getResult(), dtype};
}

template <int spatial>
LogicalResult lowerAveragePoolBackward(Lowering &ctx) {
  Tensor gradient = ctx.tensor("grad_output"), input = ctx.tensor("self");
  if (ctx.hasRefused())
    return failure();
  Windows w = readWindows(ctx, input, spatial);
  Divisor divisor = readDivisor(ctx);
  if (ctx.hasRefused())
    return failure();
  return ctx.done(castTo(ctx, spreadOverWindows(ctx, gradient, input, w, divisor), input.dtype));
}

template <int spatial>
LogicalResult lowerAdaptiveAveragePoolBackward(Lowering &ctx) {
  Tensor gradient = ctx.tensor("grad_output"), input = ctx.tensor("self");
  if (ctx.hasRefused())
    return failure();
  Windows w;
  w.spatial = spatial;
  w.adaptive = true;
  w.stride.assign(spatial, 1), w.dilation.assign(spatial, 1), w.padding.assign(spatial, 0);
  SmallVector<OpFoldResult> in = ctx.sizesOf(input), out = ctx.sizesOf(gradient);
  w.inputSizes.assign(in.end() - spatial, in.end());
  w.outputSizes.assign(out.end() - spatial, out.end());
  return ctx.done(castTo(ctx, spreadOverWindows(ctx, gradient, input, w, {}), input.dtype));
}

template <int spatial>
LogicalResult lowerMaxPoolBackward(Lowering &ctx) {
  return scatterToMaxima(ctx, spatial);
}

} // namespace

LogicalResult scatterToMaxima(Lowering &ctx, int64_t spatial) {
  Tensor gradient = ctx.tensor("grad_output"), input = ctx.tensor("self"),
         indices = ctx.tensor("indices");
  if (ctx.hasRefused())
    return failure();
  MLIRContext *context = ctx.b.getContext();
  IndexMath m{ctx.b, ctx.loc};
  DType dtype = opmath(gradient.dtype);
  int64_t rank = input.rank(), outer = rank - spatial;
  SmallVector<OpFoldResult> sizes = ctx.sizesOf(input);
  Value places = m.value(m.product(ArrayRef(sizes).take_back(spatial)));
  SmallVector<Value> sizeValues;
  for (OpFoldResult size : ArrayRef(sizes).take_back(spatial))
    sizeValues.push_back(m.value(size));
  Tensor zeros = ctx.filled(sizes, dtype, Scalar::ofInt(context, 0));
  AffineMap identity = AffineMap::getMultiDimIdentityMap(rank, context);
  auto scatter = graph::ScatterOp::create(
      ctx.b, ctx.loc, zeros.type(), ValueRange{gradient.value, indices.value}, zeros.value,
      ctx.b.getAffineMapArrayAttr({identity, identity}), graph::Combine::Add, false);
  OpBuilder::InsertionGuard guard(ctx.b);
  Block *block = ctx.b.createBlock(
      &scatter.getBody(), {}, {ctx.type(gradient.dtype), ctx.b.getI64Type()}, {ctx.loc, ctx.loc});
  Value flat =
      arith::IndexCastOp::create(ctx.b, ctx.loc, ctx.b.getIndexType(), block->getArgument(1));
  flat = graph::CheckIndexOp::create(
      ctx.b, ctx.loc, ctx.b.getIndexType(), flat, places,
      ctx.b.getStringAttr("max_pool: index %lld is outside of the %lld input positions"));
  SmallVector<Value> coordinates(rank);
  for (int64_t d = spatial - 1; d >= 0; --d) {
    coordinates[outer + d] = arith::RemUIOp::create(ctx.b, ctx.loc, flat, sizeValues[d]);
    flat = arith::DivUIOp::create(ctx.b, ctx.loc, flat, sizeValues[d]);
  }
  for (int64_t d = 0; d < outer; ++d)
    coordinates[d] = graph::IndexOp::create(ctx.b, ctx.loc, ctx.b.getIndexType(), d);
  Element e(ctx.b, ctx.loc, dtype);
  coordinates.push_back(e.cast(block->getArgument(0), gradient.dtype));
  graph::YieldOp::create(ctx.b, ctx.loc, coordinates);
  ctx.b.setInsertionPointAfter(scatter);
  return ctx.done(castTo(ctx, {scatter.getResult(), dtype}, input.dtype));
}

Family poolingFamily() {
  static constexpr LoweringRow rows[] = {
      {"torch.aten.max_pool1d", lowerMaxPool<1>},
      {"torch.aten.max_pool1d_with_indices", lowerMaxPool<1>},
      {"torch.aten.max_pool2d", lowerMaxPool<2>},
      {"torch.aten.max_pool2d_with_indices", lowerMaxPool<2>},
      {"torch.aten.max_pool2d_with_indices_backward", lowerMaxPoolBackward<2>},
      {"torch.aten.max_pool3d", lowerMaxPool<3>},
      {"torch.aten.max_pool3d_with_indices", lowerMaxPool<3>},
      {"torch.aten.max_pool3d_with_indices_backward", lowerMaxPoolBackward<3>},
      {"torch.aten.adaptive_max_pool1d", lowerAdaptiveMaxPool<1>},
      {"torch.aten.adaptive_max_pool2d", lowerAdaptiveMaxPool<2>},
      {"torch.aten.adaptive_max_pool3d", lowerAdaptiveMaxPool<3>},
      {"torch.aten.adaptive_max_pool2d_backward", lowerMaxPoolBackward<2>},
      {"torch.aten.adaptive_max_pool3d_backward", lowerMaxPoolBackward<3>},
      {"torch.aten.avg_pool1d", lowerAveragePool<1>},
      {"torch.aten.avg_pool2d", lowerAveragePool<2>},
      {"torch.aten.avg_pool2d_backward", lowerAveragePoolBackward<2>},
      {"torch.aten.avg_pool3d", lowerAveragePool<3>},
      {"torch.aten.avg_pool3d_backward", lowerAveragePoolBackward<3>},
      {"torch.aten.adaptive_avg_pool1d", lowerAdaptiveAveragePool<1>},
      {"torch.aten.adaptive_avg_pool2d", lowerAdaptiveAveragePool<2>},
      {"torch.aten._adaptive_avg_pool2d", lowerAdaptiveAveragePool<2>},
      {"torch.aten._adaptive_avg_pool2d_backward", lowerAdaptiveAveragePoolBackward<2>},
      {"torch.aten.adaptive_avg_pool3d", lowerAdaptiveAveragePool<3>},
      {"torch.aten._adaptive_avg_pool3d", lowerAdaptiveAveragePool<3>},
      {"torch.aten._adaptive_avg_pool3d_backward", lowerAdaptiveAveragePoolBackward<3>},
  };
  return {"Pooling", rows};
}

} // namespace tw::lower
