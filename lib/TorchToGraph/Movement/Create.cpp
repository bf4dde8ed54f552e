// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensors made from sizes and numbers. "Empty" ones are zeros, so that results never depend on what
// memory held.
#include "TorchToGraph/Builders/Elementwise/Pointwise.h"
#include "TorchToGraph/Builders/Elementwise/Scalars.h"
#include "TorchToGraph/Builders/Index.h"
#include "TorchToGraph/Builders/Indexing/Gather.h"
#include "TorchToGraph/Families.h"
#include "TorchToGraph/Movement/Spaced.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <cmath>

using namespace mlir;

namespace tw::lower {

using SizeList = SmallVector<OpFoldResult>;

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

/// The sizes: an argument "size" ("shape" in prims), or those of the tensor to be like.
static SizeList wantedSizes(Lowering &ctx) {
  if (ctx.has("size"))
    return ctx.refined(ctx.sizes("size"));
  if (ctx.has("shape"))
    return ctx.refined(ctx.sizes("shape"));
  auto like = ctx.arg(0u).tensor();
  if (!like) {
    ctx.refuse("it needs a list of sizes or a tensor");
    return {};
  }
  return ctx.sizesOf(*like);
}

static LogicalResult fill(Lowering &ctx, const Scalar &value) {
  SizeList sizes = wantedSizes(ctx);
  if (ctx.hasRefused())
    return failure();
  return ctx.done(ctx.filled(sizes, ctx.resultDType(), value));
}

static LogicalResult lowerZeros(Lowering &ctx) {
  return fill(ctx, Scalar::ofInt(ctx.b.getContext(), 0));
}

static LogicalResult lowerOnes(Lowering &ctx) {
  return fill(ctx, Scalar::ofInt(ctx.b.getContext(), 1));
}

static LogicalResult lowerFull(Lowering &ctx) { return fill(ctx, ctx.scalar("fill_value")); }

static LogicalResult lowerFill(Lowering &ctx) {
  if (ctx.arg("value").scalar())
    return fill(ctx, ctx.scalar("value"));
  Tensor value = castTo(ctx, ctx.tensor("value"), ctx.resultDType());
  return ctx.done(broadcastTo(ctx, value, wantedSizes(ctx)));
}

/// A number as a tensor without dimensions.
static LogicalResult lowerScalarTensor(Lowering &ctx) {
  auto value = ctx.arg(0u).scalar();
  if (!value)
    return ctx.refuse("its argument must be a number");
  return ctx.done(ctx.filled({}, ctx.resultDType(), *value));
}

//===----------------------------------------------------------------------===//
// Sequences
//===----------------------------------------------------------------------===//

/// The position as an element of `dtype`.
static Value positionAs(const GatherBody &body, DType dtype, int64_t dim) {
  Value index =
      arith::IndexCastOp::create(body.b, body.loc, body.b.getI64Type(), body.position(dim));
  return Element(body.b, body.loc, dtype).cast(index, DType::I64);
}

/// ceil((end - start) / step) of ints; what the program says where it knows.
static SizeList arangeSizes(Lowering &ctx, const Scalar &start, const Scalar &end,
                            const Scalar &step) {
  auto shape = ctx.knownShape();
  if (shape && shape->size() == 1 && !ShapedType::isDynamic(shape->front()))
    return {ctx.b.getIndexAttr(shape->front())};
  bool ints = !start.isFloat() && !end.isFloat() && !step.isFloat();
  bool fromData = start.fromData || end.fromData || step.fromData;
  if (!ints || fromData || step.constantInt() == 0) {
    ctx.refuse("its length must follow from ints that do not depend on the data, with a step that "
               "is not 0");
    return {ctx.b.getIndexAttr(0)};
  }
  IndexMath math{ctx.b, ctx.loc};
  OpFoldResult span = math.sub(end.value, start.value);
  // ceil(a / b) = -floor(-a / b), for negative steps too.
  OpFoldResult negated = math.floorDiv(math.sub(math.constant(0), span), step.value);
  return {math.max(math.sub(math.constant(0), negated), math.constant(0))};
}

/// start + i * step, computed in f64 or i64.
static LogicalResult arange(Lowering &ctx, const Scalar &start, const SizeList &sizes,
                            const Scalar &step) {
  DType dtype = ctx.resultDType();
  bool floats = isFloat(dtype) || start.isFloat() || step.isFloat();
  DType wide = floats ? DType::F64 : DType::I64;
  if (ctx.hasRefused())
    return failure();
  return ctx.done(gather(ctx, sizes, dtype, {}, [&](GatherBody &body, ValueRange) {
    Element e(body.b, body.loc, wide);
    Value offset = e.mul(positionAs(body, wide, 0), step.element(body.b, body.loc, wide));
    return e.as(dtype).cast(e.add(start.element(body.b, body.loc, wide), offset), wide);
  }));
}

static LogicalResult lowerArange(Lowering &ctx) {
  Scalar start = ctx.scalar("start", 0), end = ctx.scalar("end"), step = ctx.scalar("step", 1);
  return arange(ctx, start, arangeSizes(ctx, start, end, step), step);
}

static LogicalResult lowerIota(Lowering &ctx) {
  return arange(ctx, ctx.scalar("start", 0), ctx.refined(ctx.size("length")),
                ctx.scalar("step", 1));
}

static LogicalResult spaced(Lowering &ctx, std::optional<double> base) {
  int64_t steps = ctx.integer("steps");
  DType dtype = ctx.resultDType();
  for (StringRef end : {"start", "end"})
    if (!ctx.arg(end).scalar())
      (void)ctx.tensor(end);
  if (ctx.hasRefused())
    return failure();
  return ctx.done(spaced(ctx, ctx.arg("start"), ctx.arg("end"), steps, dtype, base));
}

static LogicalResult lowerLinspace(Lowering &ctx) { return spaced(ctx, std::nullopt); }
static LogicalResult lowerLogspace(Lowering &ctx) { return spaced(ctx, ctx.number("base", 10)); }

//===----------------------------------------------------------------------===//
// Matrices
//===----------------------------------------------------------------------===//

static LogicalResult lowerEye(Lowering &ctx) {
  OpFoldResult rows = ctx.size("n"), columns = ctx.has("m") ? ctx.size("m") : rows;
  DType dtype = ctx.resultDType();
  if (ctx.hasRefused())
    return failure();
  return ctx.done(
      gather(ctx, ctx.refined({rows, columns}), dtype, {}, [&](GatherBody &body, ValueRange) {
        Value onDiagonal = arith::CmpIOp::create(body.b, body.loc, arith::CmpIPredicate::eq,
                                                 body.position(0), body.position(1));
        return Element(body.b, body.loc, dtype).cast(onDiagonal, DType::Bool);
      }));
}

/// The coordinates of a triangle, row by row: known at compile time.
template <bool lower>
static LogicalResult lowerTriangle(Lowering &ctx) {
  int64_t rows = ctx.integer("row"), columns = ctx.integer("col"), offset = ctx.integer("offset");
  constexpr int64_t maxElements = 1 << 24;
  DType dtype = ctx.resultDType();
  if (rows < 0 || columns < 0 || rows * columns > maxElements || !isInteger(dtype))
    return ctx.refuse("the triangle is too large or its dtype is not an integer");
  SmallVector<int64_t> values[2];
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c)
      if (lower ? c - r <= offset : c - r >= offset)
        values[0].push_back(r), values[1].push_back(c);
  SmallVector<APInt> all;
  for (auto &half : values)
    for (int64_t value : half)
      all.push_back(APInt(8 * info(dtype).bytes, uint64_t(value), true, true));
  auto type = RankedTensorType::get({2, int64_t(values[0].size())}, ctx.type(dtype));
  auto constant = arith::ConstantOp::create(ctx.b, ctx.loc, DenseElementsAttr::get(type, all));
  return ctx.done(Tensor{constant, dtype});
}

Family createFamily() {
  static constexpr LoweringRow rows[] = {
      {"torch.aten.zeros", lowerZeros},
      {"torch.aten.zeros_like", lowerZeros},
      {"torch.aten.new_zeros", lowerZeros},
      {"torch.aten.zero", lowerZeros},
      {"torch.aten._efficientzerotensor", lowerZeros},
      {"torch.aten.empty.memory_format", lowerZeros},
      {"torch.aten.empty_like", lowerZeros},
      {"torch.aten.empty_strided", lowerZeros},
      {"torch.aten.empty_permuted", lowerZeros},
      {"torch.aten.new_empty", lowerZeros},
      {"torch.aten.new_empty_strided", lowerZeros},
      {"torch.prims.empty", lowerZeros},
      {"torch.prims.empty_strided", lowerZeros},
      {"torch.prims.empty_permuted", lowerZeros},
      {"torch.aten.ones", lowerOnes},
      {"torch.aten.ones_like", lowerOnes},
      {"torch.aten.new_ones", lowerOnes},
      {"torch.aten.full", lowerFull},
      {"torch.aten.full_like", lowerFull},
      {"torch.aten.new_full", lowerFull},
      {"torch.prims.full", lowerFull},
      {"torch.prims.full_like", lowerFull},
      {"torch.aten.fill.Scalar", lowerFill},
      {"torch.aten.fill.Tensor", lowerFill},
      {"torch.aten.scalar_tensor", lowerScalarTensor},
      {"torch.prims.scalar_tensor", lowerScalarTensor},
      {"torch.aten.tensor.int", lowerScalarTensor},
      {"torch.aten.tensor.float", lowerScalarTensor},
      {"torch.aten.tensor.bool", lowerScalarTensor},
      {"torch.prim.NumToTensor.Scalar", lowerScalarTensor},
      {"torch.aten.arange", lowerArange},
      {"torch.aten.arange.start", lowerArange},
      {"torch.aten.arange.start_step", lowerArange},
      {"torch.prims.iota", lowerIota},
      {"torch.aten.linspace", lowerLinspace},
      {"torch.aten.linspace.Tensor_Tensor", lowerLinspace},
      {"torch.aten.linspace.Tensor_Scalar", lowerLinspace},
      {"torch.aten.linspace.Scalar_Tensor", lowerLinspace},
      {"torch.aten.logspace", lowerLogspace},
      {"torch.aten.logspace.Tensor_Tensor", lowerLogspace},
      {"torch.aten.logspace.Tensor_Scalar", lowerLogspace},
      {"torch.aten.logspace.Scalar_Tensor", lowerLogspace},
      {"torch.aten.eye", lowerEye},
      {"torch.aten.eye.m", lowerEye},
      {"torch.aten.tril_indices", lowerTriangle<true>},
      {"torch.aten.triu_indices", lowerTriangle<false>},
  };
  return {"Creation", rows};
}

} // namespace tw::lower
