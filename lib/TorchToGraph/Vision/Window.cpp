// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TorchToGraph/Vision/Window.h"
#include "Support/Counted.h"
#include "TorchToGraph/Builders/Elementwise/Pointwise.h"
#include "TorchToGraph/Builders/Index.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace tw::lower {

static SmallVector<OpFoldResult> spatialSizes(Lowering &ctx, const Tensor &input, int64_t spatial) {
  SmallVector<OpFoldResult> sizes = ctx.sizesOf(input);
  return SmallVector<OpFoldResult>(ArrayRef(sizes).take_back(spatial));
}

/// PyTorch's rule: with ceil_mode a last window may reach over the end, but must start inside the
/// input or its padding before it.
static OpFoldResult pooledSize(const IndexMath &m, const Windows &w, int64_t d, bool ceilMode) {
  OpFoldResult one = m.constant(1), stride = m.constant(w.stride[d]);
  OpFoldResult in = w.inputSizes[d], padding = m.constant(w.padding[d]);
  OpFoldResult reach = m.constant(w.dilation[d] * (w.kernel[d] - 1) + 1);
  OpFoldResult room = m.sub(m.add(in, m.constant(2 * w.padding[d])), reach);
  if (!ceilMode)
    return m.add(m.floorDiv(room, stride), one);
  OpFoldResult count = m.add(m.ceilDiv(room, stride), one);
  // Drop the last window when it would start at or after the end: (count - 1) * stride >= in + pad.
  OpFoldResult fitting = m.add(m.floorDiv(m.sub(m.add(in, padding), one), stride), one);
  return m.min(count, fitting);
}

Windows readWindows(Lowering &ctx, const Tensor &input, int64_t spatial) {
  Windows w;
  w.spatial = spatial;
  w.kernel = ctx.perDimension("kernel_size", spatial, 1);
  w.stride = ctx.perDimension("stride", spatial, 0);
  w.padding = ctx.perDimension("padding", spatial, 0);
  w.dilation = ctx.perDimension("dilation", spatial, 1);
  if (input.rank() < spatial || ctx.hasRefused()) {
    (void)ctx.refuse("the input has " + counted(input.rank(), "dimension") +
                     ", fewer than the window");
    return w;
  }
  IndexMath m{ctx.b, ctx.loc};
  w.inputSizes = spatialSizes(ctx, input, spatial);
  for (int64_t d = 0; d < spatial; ++d) {
    if (w.stride[d] == 0)
      w.stride[d] = w.kernel[d];
    if (w.kernel[d] < 1 || w.stride[d] < 1 || w.dilation[d] < 1) {
      (void)ctx.refuse("kernel_size, stride and dilation must be positive");
      return w;
    }
    w.outputSizes.push_back(pooledSize(m, w, d, ctx.flag("ceil_mode")));
  }
  return w;
}

/// The largest of the windows [floor(o * in / out), ceil((o + 1) * in / out)).
static int64_t largestAdaptiveWindow(int64_t in, int64_t out) {
  int64_t largest = 1;
  for (int64_t o = 0; o < out; ++o)
    largest = std::max(largest, ((o + 1) * in + out - 1) / out - o * in / out);
  return largest;
}

/// Where each output size divides its input's, windows are as long as the steps between them.
static void makePlain(Windows &w) {
  SmallVector<int64_t> lengths;
  for (auto [input, output] : llvm::zip(w.inputSizes, w.outputSizes)) {
    auto in = constantOf(input), out = constantOf(output);
    if (!in || !out || *in < 1 || *out < 1 || *in % *out != 0)
      return;
    lengths.push_back(*in / *out);
  }
  w.adaptive = false;
  w.kernel = lengths;
  w.stride = lengths;
}

Windows readAdaptiveWindows(Lowering &ctx, const Tensor &input, int64_t spatial) {
  Windows w;
  w.spatial = spatial;
  w.adaptive = true;
  w.dilation.assign(spatial, 1);
  w.stride.assign(spatial, 1);
  w.padding.assign(spatial, 0);
  const OperandList *asked = ctx.arg("output_size").list();
  if (input.rank() < spatial || ctx.hasRefused()) {
    (void)ctx.refuse("the input has " + counted(input.rank(), "dimension") +
                     ", fewer than the window");
    return w;
  }
  w.inputSizes = spatialSizes(ctx, input, spatial);
  w.outputSizes = w.inputSizes;
  if (asked && (int64_t(asked->size()) == spatial || asked->size() == 1)) {
    for (int64_t d = 0; d < spatial; ++d) {
      const Operand &size = (*asked)[asked->size() == 1 ? 0 : d];
      if (const Scalar *scalar = size.scalar())
        w.outputSizes[d] = scalar->value;
    }
  } else if (const Scalar *scalar = ctx.arg("output_size").scalar()) {
    w.outputSizes.assign(spatial, scalar->value);
  }
  makePlain(w);
  return w;
}

SmallVector<OpFoldResult> windowSizes(Lowering &ctx, const Windows &w) {
  IndexMath m{ctx.b, ctx.loc};
  SmallVector<OpFoldResult> sizes;
  for (int64_t d = 0; d < w.spatial; ++d) {
    if (!w.adaptive) {
      sizes.push_back(m.constant(w.kernel[d]));
      continue;
    }
    auto in = constantOf(w.inputSizes[d]), out = constantOf(w.outputSizes[d]);
    if (in && out)
      sizes.push_back(m.constant(largestAdaptiveWindow(*in, *out)));
    else if (out == 1)
      sizes.push_back(w.inputSizes[d]);
    else
      sizes.push_back(
          m.add(m.ceilDiv(w.inputSizes[d], m.max(w.outputSizes[d], m.constant(1))), m.constant(1)));
  }
  return sizes;
}

Tensor windowShape(Lowering &ctx, const Windows &w) {
  return ctx.empty(windowSizes(ctx, w), DType::Bool);
}

WindowPlace place(OpBuilder &b, Location loc, const Windows &w, int64_t dim, Value output, Value k,
                  Value inputSize, Value outputSize, Value start) {
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  auto less = [&](Value x, Value y) -> Value {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, x, y);
  };
  Value zero = constant(0), one = constant(1), position, limit = inputSize;
  if (w.adaptive) {
    Value begin = arith::DivUIOp::create(b, loc, arith::MulIOp::create(b, loc, output, inputSize),
                                         outputSize);
    Value next = arith::AddIOp::create(b, loc, output, one);
    limit = arith::CeilDivUIOp::create(b, loc, arith::MulIOp::create(b, loc, next, inputSize),
                                       outputSize);
    position = arith::AddIOp::create(b, loc, begin, k);
  } else {
    if (!start)
      start = arith::SubIOp::create(b, loc,
                                    arith::MulIOp::create(b, loc, output, constant(w.stride[dim])),
                                    constant(w.padding[dim]));
    position = arith::AddIOp::create(b, loc, start,
                                     arith::MulIOp::create(b, loc, k, constant(w.dilation[dim])));
  }
  Value notBefore = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, position, zero);
  Value inside = arith::AndIOp::create(b, loc, notBefore, less(position, limit));
  return {arith::SelectOp::create(b, loc, inside, position, zero), inside};
}

SmallVector<OpFoldResult> pooledSizes(Lowering &ctx, const Tensor &input, const Windows &w) {
  SmallVector<OpFoldResult> sizes = ctx.sizesOf(input);
  llvm::copy(w.outputSizes, sizes.end() - w.spatial);
  return sizes;
}

/// The element at the window's current place, whether it exists, and its flat spatial position.
static std::tuple<Value, Value, Value> readPlace(OpBuilder &b, Location loc, const Tensor &input,
                                                 const Windows &w, ArrayRef<Value> inputSizes,
                                                 ArrayRef<Value> outputSizes) {
  int64_t outer = input.rank() - w.spatial;
  SmallVector<Value> coordinates;
  for (int64_t d = 0; d < outer; ++d)
    coordinates.push_back(linalg::IndexOp::create(b, loc, d));
  auto startAt = [&, images = coordinates](int64_t d, Value output) -> Value {
    if (w.starts.empty())
      return {};
    SmallVector<Value> at(images);
    at.push_back(output);
    Value start = tensor::ExtractOp::create(b, loc, w.starts[d].value, at);
    return arith::IndexCastOp::create(b, loc, b.getIndexType(), start);
  };
  Value inside, flat;
  for (int64_t d = 0; d < w.spatial; ++d) {
    Value output = linalg::IndexOp::create(b, loc, outer + d);
    Value k = linalg::IndexOp::create(b, loc, input.rank() + d);
    WindowPlace p =
        place(b, loc, w, d, output, k, inputSizes[d], outputSizes[d], startAt(d, output));
    coordinates.push_back(p.position);
    inside = inside ? arith::AndIOp::create(b, loc, inside, p.inside).getResult() : p.inside;
    flat = flat ? arith::AddIOp::create(b, loc, arith::MulIOp::create(b, loc, flat, inputSizes[d]),
                                        p.position)
                      .getResult()
                : p.position;
  }
  Value element = tensor::ExtractOp::create(b, loc, input.value, coordinates);
  return {element, inside, arith::IndexCastOp::create(b, loc, b.getI64Type(), flat)};
}

SmallVector<Tensor> reduceWindows(Lowering &ctx, const Tensor &input, const Windows &w,
                                  ArrayRef<DType> accumulators, ArrayRef<Value> initial,
                                  WindowFn body) {
  MLIRContext *context = ctx.b.getContext();
  IndexMath m{ctx.b, ctx.loc};
  int64_t rank = input.rank(), loops = rank + w.spatial;
  SmallVector<OpFoldResult> sizes = pooledSizes(ctx, input, w);
  SmallVector<Value> outs, inputSizes, outputSizes;
  SmallVector<Type> types;
  for (auto [dtype, start] : llvm::zip(accumulators, initial)) {
    Tensor empty = ctx.empty(sizes, dtype);
    outs.push_back(linalg::FillOp::create(ctx.b, ctx.loc, start, empty.value).getResult(0));
    types.push_back(empty.value.getType());
  }
  for (int64_t d = 0; d < w.spatial; ++d) {
    inputSizes.push_back(m.value(w.inputSizes[d]));
    outputSizes.push_back(m.value(w.outputSizes[d]));
  }
  Value window = windowShape(ctx, w).value;
  AffineMap windowMap = AffineMap::getMinorIdentityMap(loops, w.spatial, context);
  AffineMap outMap = leadingLoops(context, loops, rank);
  SmallVector<AffineMap> maps(1 + outs.size(), outMap);
  maps[0] = windowMap;
  SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
  iterators.append(w.spatial, utils::IteratorType::reduction);
  auto op = linalg::GenericOp::create(
      ctx.b, ctx.loc, types, window, outs, maps, iterators,
      [&](OpBuilder &b, Location loc, ValueRange x) {
        auto [element, inside, flat] = readPlace(b, loc, input, w, inputSizes, outputSizes);
        linalg::YieldOp::create(b, loc, body(b, loc, element, inside, flat, x.drop_front()));
      });
  SmallVector<Tensor> results;
  for (auto [value, dtype] : llvm::zip(op.getResults(), accumulators))
    results.push_back({value, dtype});
  return results;
}

} // namespace tw::lower
