// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// self[i, :, j] = values: index_put with positions, and with a mask, which becomes a choice
// between old and new elements.
#include "TorchToGraph/Builders/Elementwise/Pointwise.h"
#include "TorchToGraph/Builders/Index.h"
#include "TorchToGraph/Builders/Indexing/Scatter.h"
#include "TorchToGraph/Builders/Move.h"
#include "TorchToGraph/Builders/Reduction/Scan.h"
#include "TorchToGraph/Builders/Reshape.h"
#include "TorchToGraph/Families.h"
#include "TorchToGraph/Indexing/IndexList.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using tw::graph::Combine;

namespace tw::lower {

/// old + new, or new.
static Tensor meet(Lowering &ctx, const Tensor &self, const Operand &values, bool accumulate,
                   const Operand &mask) {
  Operand written = values;
  if (accumulate)
    written = pointwise(ctx, {self, values}, self.dtype,
                        [](Element &e, ValueRange x) { return e.add(x[0], x[1]); });
  return select(ctx, mask, written, self, self.dtype);
}

//===----------------------------------------------------------------------===//
// Masks
//===----------------------------------------------------------------------===//

/// For each element of the mask how many true ones come before it in row-major order (i64).
static Tensor countBefore(Lowering &ctx, const Tensor &mask) {
  Tensor flat = flatten(ctx, mask, 0, std::max<int64_t>(mask.rank(), 1) - 1);
  Value start = Element(ctx.b, ctx.loc, DType::I64).constant(-1);
  Tensor counts = scan(ctx, flat, 0, DType::I64, start,
                       [&](OpBuilder &b, Location loc, ValueRange state, ValueRange x) {
                         Element e(b, loc, DType::I64);
                         Value one = e.cast(e.as(mask.dtype).isNonZero(x[0]), DType::Bool);
                         return SmallVector<Value>{e.add(state[0], one)};
                       })
                      .front();
  return reshape(ctx, counts, ctx.sizesOf(mask));
}

/// Elements of self where the mask is false; values[..., n, ...] where it is true for the n-th
/// time. The mask covers the dimensions of self from `first` on, n is that dimension of `values`.
static Tensor takeMasked(Lowering &ctx, const Tensor &self, const Tensor &mask, int64_t first,
                         const Tensor &values, bool accumulate) {
  Tensor count = countBefore(ctx, mask);
  int64_t covered = mask.rank();
  Value bound = IndexMath{ctx.b, ctx.loc}.value(ctx.sizeOf(values, first));
  auto body = [&](GatherBody &body, ValueRange x) -> Value {
    OpBuilder &b = body.b;
    Element e(b, body.loc, self.dtype);
    Value isSet = e.as(mask.dtype).isNonZero(x[1]);
    // Only where there is something to read: an empty `values` is never touched.
    auto branch = scf::IfOp::create(b, body.loc, ctx.type(self.dtype), isSet, true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    SmallVector<Value> at;
    for (int64_t d = 0; d < values.rank(); ++d)
      at.push_back(d == first ? body.safeIndex(x[2], DType::I64, bound, d, false)
                              : body.position(d < first ? d : d + covered - 1));
    Value value = e.cast(body.read(values, at), values.dtype);
    if (accumulate) {
      Element wide = e.as(opmath(self.dtype));
      value =
          e.cast(wide.add(wide.cast(x[0], self.dtype), wide.cast(value, self.dtype)), wide.dtype);
    }
    scf::YieldOp::create(b, body.loc, value);
    b.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(b, body.loc, x[0]);
    return branch.getResult(0);
  };
  SmallVector<PlacedInput> inputs = {{self, 0}, {mask, first}, {count, first}};
  return gatherPlaced(ctx, ctx.sizesOf(self), self.dtype, inputs, body);
}

/// self[:, mask] = values. Values that do not differ from one true element to the next, numbers
/// above all, need no counting.
static LogicalResult putMask(Lowering &ctx, const Tensor &self, Tensor mask, int64_t first,
                             const Tensor &values, bool accumulate) {
  int64_t after = self.rank() - first - mask.rank();
  if (after < 0)
    return ctx.refuse("the mask has more dimensions than the tensor");
  auto sizes = ctx.sizesOf(self), maskSizes = ctx.sizesOf(mask);
  for (int64_t d = 0; d < mask.rank(); ++d)
    ctx.requireEqual(maskSizes[d], sizes[first + d]);
  if (values.rank() > first + 1 + after)
    return ctx.refuse("the values have more dimensions than the elements they replace");
  // The values with all dimensions: those before the mask's, one for its true elements, the rest.
  auto valueSizes = ctx.sizesOf(values);
  valueSizes.insert(valueSizes.begin(), first + 1 + after - values.rank(), ctx.b.getIndexAttr(1));
  if (constantOf(valueSizes[first]) == 1) {
    SmallVector<OpFoldResult> aligned(valueSizes);
    aligned[first] = ctx.b.getIndexAttr(1);
    aligned.erase(aligned.begin() + first);
    aligned.insert(aligned.begin() + first, mask.rank(), ctx.b.getIndexAttr(1));
    maskSizes.append(after, ctx.b.getIndexAttr(1));
    return ctx.done(
        meet(ctx, self, reshape(ctx, values, aligned), accumulate, reshape(ctx, mask, maskSizes)));
  }
  SmallVector<OpFoldResult> full(sizes);
  full.erase(full.begin() + first, full.begin() + first + mask.rank());
  full.insert(full.begin() + first, valueSizes[first]);
  Tensor repeated = broadcastTo(ctx, reshape(ctx, values, valueSizes), full);
  return ctx.done(takeMasked(ctx, self, mask, first, repeated, accumulate));
}

/// The values in order where the mask is true.
static LogicalResult lowerMaskedScatter(Lowering &ctx) {
  Tensor self = ctx.tensor("self"), mask = ctx.tensor("mask"), source = ctx.tensor("source");
  if (ctx.hasRefused())
    return failure();
  auto sizes = broadcastSizes(ctx, {self, mask});
  Tensor flat = flatten(ctx, source, 0, std::max<int64_t>(source.rank(), 1) - 1);
  return ctx.done(takeMasked(ctx, broadcastTo(ctx, self, sizes), broadcastTo(ctx, mask, sizes), 0,
                             flat, false));
}

/// The gradient of masked_scatter's source: the elements under the mask, then zeros.
static LogicalResult lowerMaskedScatterBackward(Lowering &ctx) {
  Tensor grad = ctx.tensor("grad_output"), mask = ctx.tensor("mask");
  auto sizes = ctx.sizes("sizes");
  if (ctx.hasRefused())
    return failure();
  mask = broadcastTo(ctx, mask, ctx.sizesOf(grad));
  IndexMath math{ctx.b, ctx.loc};
  OpFoldResult length = math.product(sizes);
  auto space = ctx.sizesOf(grad);
  requireNonEmpty(ctx, length, space, 0);
  Value bound = math.value(length);
  SmallVector<PlacedInput> inputs = {{grad, 0}, {mask, 0}, {countBefore(ctx, mask), 0}};
  auto body = [&](ScatterBody &body, ValueRange x) {
    Element e(body.b, body.loc, grad.dtype);
    Element ints = e.as(DType::I64);
    Value isSet = e.as(mask.dtype).isNonZero(x[1]);
    Value at = ints.select(isSet, x[2], ints.constant(0)); // adds 0 where the mask is false
    return Update{{body.safeIndex(at, DType::I64, bound, 0, false)},
                  e.select(isSet, x[0], e.constant(0))};
  };
  Tensor result = scatter(ctx, zeros(ctx, length, grad.dtype), Combine::Add, space, inputs, body);
  return ctx.done(reshape(ctx, result, sizes));
}

/// The positions of the first `size` elements that are not zero, one row each; rows beyond their
/// number are `fill_value`. Elements that are zero, or too many, write to one more row.
static LogicalResult lowerNonZeroStatic(Lowering &ctx) {
  Tensor self = ctx.tensor("self");
  OpFoldResult size = ctx.size("size");
  Scalar fill = ctx.scalar("fill_value", -1);
  if (ctx.hasRefused())
    return failure();
  IndexMath math{ctx.b, ctx.loc};
  OpFoldResult spare = math.add(size, math.constant(1)), rank = math.constant(self.rank());
  Value last = arith::IndexCastOp::create(ctx.b, ctx.loc, ctx.b.getI64Type(), math.value(size));
  Value rows = math.value(spare);
  auto space = ctx.sizesOf(self);
  space.push_back(rank);
  // The dimension whose coordinate a row holds.
  Tensor dims = gather(ctx, rank, DType::I64, {}, [](GatherBody &body, ValueRange) -> Value {
    return arith::IndexCastOp::create(body.b, body.loc, body.b.getI64Type(), body.position(0));
  });
  SmallVector<PlacedInput> inputs = {{self, 0}, {countBefore(ctx, self), 0}, {dims, self.rank()}};
  auto body = [&](ScatterBody &body, ValueRange x) {
    Element e(body.b, body.loc, DType::I64);
    Value row = e.select(e.as(self.dtype).isNonZero(x[0]), e.min(x[1], last), last);
    Value coordinate = e.constant(0);
    for (int64_t d = 0; d < self.rank(); ++d) {
      Value here =
          arith::IndexCastOp::create(body.b, body.loc, body.b.getI64Type(), body.position(d));
      coordinate = e.select(e.eq(x[2], e.constant(d)), here, coordinate);
    }
    return Update{{body.safeIndex(row, DType::I64, rows, 0, false), body.position(self.rank())},
                  coordinate};
  };
  Tensor start = ctx.filled({spare, rank}, DType::I64, fill);
  Tensor all = scatter(ctx, start, Combine::Set, space, inputs, body);
  return ctx.done(slice(ctx, all, 0, math.constant(0), size));
}

//===----------------------------------------------------------------------===//
// Positions
//===----------------------------------------------------------------------===//

/// The values in the space of the indices; leading dimensions of size 1 too many are dropped.
static std::optional<PlacedInput> placeValues(Lowering &ctx, Tensor values,
                                              ArrayRef<OpFoldResult> space) {
  int64_t rank = space.size();
  while (values.rank() > rank && values.size(0) == 1)
    values = squeeze(ctx, values, 0);
  if (values.rank() > rank) {
    ctx.refuse("the values have more dimensions than the elements they replace");
    return std::nullopt;
  }
  int64_t first = rank - values.rank();
  for (auto [d, size] : llvm::enumerate(ctx.sizesOf(values)))
    if (constantOf(size) != 1)
      ctx.requireEqual(size, space[first + d]);
  return PlacedInput{values, first};
}

static LogicalResult putAt(Lowering &ctx, const IndexList &list, const Tensor &values,
                           bool accumulate, const std::optional<Tensor> &mask = std::nullopt) {
  const Tensor &self = list.self;
  auto placed = placeValues(ctx, values, list.space);
  if (!placed)
    return failure();
  SmallVector<PlacedInput> inputs = list.inputs();
  size_t count = inputs.size();
  if (mask)
    inputs.push_back({*mask, int64_t(list.space.size()) - mask->rank()});
  inputs.push_back(*placed);
  DType dtype = accumulate ? opmath(self.dtype) : self.dtype;
  auto body = [&](ScatterBody &body, ValueRange x) {
    Element e(body.b, body.loc, dtype);
    Value value = e.cast(x.back(), values.dtype);
    if (mask)
      value = e.select(e.as(mask->dtype).isNonZero(x[count]), value, e.constant(0));
    return Update{list.coordinates(body, x), value};
  };
  return ctx.done(accumulate ? scatterWide(ctx, self, Combine::Add, list.space, inputs, body)
                             : scatter(ctx, self, Combine::Set, list.space, inputs, body));
}

static LogicalResult lowerIndexPut(Lowering &ctx) {
  Tensor self = ctx.tensor("self"), values = ctx.tensor("values");
  bool accumulate = ctx.flag("accumulate");
  auto given = ctx.optTensors("indices");
  if (ctx.hasRefused())
    return failure();
  auto isGiven = [](const std::optional<Tensor> &index) { return index.has_value(); };
  auto first = llvm::find_if(given, isGiven);
  if (first != given.end() && isMask(**first) && llvm::count_if(given, isGiven) == 1)
    return putMask(ctx, self, **first, first - given.begin(), values, accumulate);
  IndexList list = indexList(ctx, self);
  if (ctx.hasRefused())
    return failure();
  if (first != given.end())
    return putAt(ctx, list, values, accumulate);
  Scalar all = Scalar::ofBool(ctx.b.getContext(), true);
  return ctx.done(meet(ctx, self, values, accumulate, all));
}

/// Adds the values where the mask is true; indices are clamped.
static LogicalResult lowerMaskedIndexPut(Lowering &ctx) {
  Tensor self = ctx.tensor("self"), mask = ctx.tensor("mask"), values = ctx.tensor("values");
  IndexList list = indexList(ctx, self);
  if (ctx.hasRefused())
    return failure();
  list.clamps = true;
  if (mask.rank() > int64_t(list.space.size()))
    return ctx.refuse("the mask has more dimensions than the values");
  return putAt(ctx, list, values, true, mask);
}

Family indexPutFamily() {
  static constexpr LoweringRow rows[] = {
      {"torch.aten.index_put", lowerIndexPut},
      {"torch.aten.index_put.hacked_twin", lowerIndexPut},
      {"torch.aten._unsafe_index_put", lowerIndexPut},
      {"torch.aten._unsafe_index_put.hacked_twin", lowerIndexPut},
      {"torch.aten._index_put_impl", lowerIndexPut},
      {"torch.aten._unsafe_masked_index_put_accumulate", lowerMaskedIndexPut},
      {"torch.aten.index_put_", lowerIndexPut},
      {"torch.aten._index_put_impl_", lowerIndexPut},
      {"torch.aten.nonzero_static", lowerNonZeroStatic},
      {"torch.aten.masked_scatter", lowerMaskedScatter},
      {"torch.aten.masked_scatter_backward", lowerMaskedScatterBackward},
  };
  return {"Writing by index", rows};
}

} // namespace tw::lower
