// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Views by strides and by windows: as_strided, unfold, view as another dtype,
// and their reverses.
#include "Support/Counted.h"
#include "TorchToGraph/Builders/Bounds.h"
#include "TorchToGraph/Builders/Elementwise/Pointwise.h"
#include "TorchToGraph/Builders/Index.h"
#include "TorchToGraph/Builders/Indexing/Gather.h"
#include "TorchToGraph/Builders/Indexing/Scatter.h"
#include "TorchToGraph/Builders/Move.h"
#include "TorchToGraph/Builders/Reduction/Reduce.h"
#include "TorchToGraph/Builders/Reshape.h"
#include "TorchToGraph/Families.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include <fmt/format.h>

using namespace mlir;

namespace tw::lower {

using SizeList = SmallVector<OpFoldResult>;

//===----------------------------------------------------------------------===//
// as_strided
//===----------------------------------------------------------------------===//

namespace {

/// Element i, j, ... of a view is element offset + i * strides[0] + j *
/// strides[1] + ... of a contiguous tensor.
struct StridedView {
  SizeList sizes, strides;
  OpFoldResult offset;
};

} // namespace

/// The arguments size, stride and storage_offset; refuses what reaches beyond
/// `elements`.
static StridedView readView(Lowering &ctx, OpFoldResult elements) {
  IndexMath math{ctx.b, ctx.loc};
  StridedView view{ctx.sizes("size"), ctx.sizes("stride"), math.constant(0)};
  if (ctx.has("storage_offset"))
    view.offset = ctx.size("storage_offset");
  if (view.sizes.size() != view.strides.size()) {
    ctx.refuse(fmt::format("{} {} as many strides, not {}", counted(view.sizes.size(), "size"),
                           oneOrMany(view.sizes.size(), "needs", "need"), view.strides.size()));
    return view;
  }
  requireSizes(ctx, view.sizes);
  OpFoldResult zero = math.constant(0), last = view.offset;
  requireAtMost(ctx, zero, last, "storage_offset must be at least %lld, not %lld");
  for (OpFoldResult stride : view.strides)
    requireAtMost(ctx, zero, stride, "a stride must be at least %lld, not %lld");
  if (llvm::any_of(view.sizes, [](OpFoldResult size) { return constantOf(size) == 0; }))
    return view;
  for (auto [size, stride] : llvm::zip_equal(view.sizes, view.strides)) {
    if (constantOf(stride) && constantOf(size) && *constantOf(size) > 1) // no overflow below
      requireAtMost(ctx, stride, elements, "a stride of %lld leaves a tensor of %lld elements");
    last = math.add(last, math.mul(math.sub(size, math.constant(1)), stride));
  }
  requireAtMost(ctx, math.add(last, math.constant(1)), elements,
                "the view reaches element %lld, but the tensor has %lld");
  return view;
}

/// Whether the view is the whole tensor in its order.
static bool isContiguous(Lowering &ctx, const StridedView &view, OpFoldResult elements) {
  IndexMath math{ctx.b, ctx.loc};
  OpFoldResult expected = math.constant(1);
  for (auto [size, stride] :
       llvm::zip_equal(llvm::reverse(view.sizes), llvm::reverse(view.strides))) {
    if (constantOf(size) != 1 && !knownEqual(stride, expected))
      return false;
    expected = math.mul(expected, size);
  }
  return constantOf(view.offset) == 0 && knownEqual(expected, elements);
}

/// The position in the flat tensor of the current position of a body.
template <typename Body>
static Value flatPosition(const Body &body, Value offset, ArrayRef<Value> strides) {
  Value flat = offset;
  for (auto [i, stride] : llvm::enumerate(strides)) {
    Value part = arith::MulIOp::create(body.b, body.loc, body.position(i), stride);
    flat = arith::AddIOp::create(body.b, body.loc, flat, part);
  }
  return flat;
}

static SmallVector<Value> valuesOf(Lowering &ctx, const SizeList &sizes) {
  IndexMath math{ctx.b, ctx.loc};
  return llvm::map_to_vector(sizes, [&](OpFoldResult size) { return math.value(size); });
}

static Tensor flat(Lowering &ctx, const Tensor &tensor) {
  return flatten(ctx, tensor, 0, std::max<int64_t>(tensor.rank() - 1, 0));
}

static LogicalResult lowerAsStrided(Lowering &ctx) {
  auto self = ctx.arg(0u).tensor();
  if (!self)
    return ctx.refuse("its first argument must be a tensor");
  Tensor elements = flat(ctx, *self);
  StridedView view = readView(ctx, ctx.sizeOf(elements, 0));
  if (ctx.hasRefused())
    return failure();
  if (isContiguous(ctx, view, ctx.sizeOf(elements, 0)))
    return ctx.done(reshape(ctx, *self, agreedSizes(ctx, view.sizes)));
  Value offset = IndexMath{ctx.b, ctx.loc}.value(view.offset);
  SmallVector<Value> strides = valuesOf(ctx, view.strides);
  return ctx.done(
      gather(ctx, agreedSizes(ctx, view.sizes), self->dtype, {}, [&](GatherBody &body, ValueRange) {
        return body.read(elements, flatPosition(body, offset, strides));
      }));
}

static LogicalResult lowerAsStridedScatter(Lowering &ctx) {
  Tensor self = ctx.tensor("self"), source = castTo(ctx, ctx.tensor("src"), self.dtype);
  Tensor elements = flat(ctx, self);
  StridedView view = readView(ctx, ctx.sizeOf(elements, 0));
  if (int64_t(view.sizes.size()) != source.rank())
    return ctx.refuse(fmt::format("the view has {}, but what goes there has {}",
                                  counted(view.sizes.size(), "dimension"), source.rank()));
  for (auto [part, have] : llvm::zip_equal(view.sizes, ctx.sizesOf(source)))
    requireSame(ctx, part, have, "a view of size %lld cannot be replaced by one of %lld");
  if (ctx.hasRefused())
    return failure();
  if (isContiguous(ctx, view, ctx.sizeOf(elements, 0)))
    return ctx.done(reshape(ctx, source, ctx.sizesOf(self)));
  if (source.rank() == 0) // an iteration space has dimensions
    source = unsqueeze(ctx, source, 0), view.strides.push_back(ctx.b.getIndexAttr(0));
  Value offset = IndexMath{ctx.b, ctx.loc}.value(view.offset);
  SmallVector<Value> strides = valuesOf(ctx, view.strides);
  Tensor written = scatter(ctx, elements, graph::Combine::Set, ctx.sizesOf(source), {{source, 0}},
                           [&](ScatterBody &body, ValueRange x) {
                             return Update{{flatPosition(body, offset, strides)}, x[0]};
                           });
  return ctx.done(reshape(ctx, written, ctx.sizesOf(self)));
}

//===----------------------------------------------------------------------===//
// Windows along one dimension
//===----------------------------------------------------------------------===//

/// How many windows of `size` fit, `step` apart; refuses those larger than the
/// dimension.
static OpFoldResult windowCount(Lowering &ctx, OpFoldResult whole, int64_t size, int64_t step) {
  IndexMath math{ctx.b, ctx.loc};
  if (size < 0 || step < 1) {
    ctx.refuse(fmt::format("a size of at least 0 and a step of at least 1 are needed, not {} and "
                           "{}",
                           size, step));
    return math.constant(0);
  }
  requireAtMost(ctx, math.constant(size), whole,
                "windows of %lld elements do not fit a dimension of size %lld");
  OpFoldResult steps = math.floorDiv(math.sub(whole, math.constant(size)), math.constant(step));
  return math.add(steps, math.constant(1));
}

/// start * step + place.
static Value windowPosition(OpBuilder &b, Location loc, Value start, Value place, int64_t step) {
  Value factor = arith::ConstantIndexOp::create(b, loc, step);
  Value first = arith::MulIOp::create(b, loc, start, factor);
  return arith::AddIOp::create(b, loc, first, place);
}

static LogicalResult lowerUnfold(Lowering &ctx) {
  Tensor self = ctx.tensor("self");
  int64_t dim = ctx.dim("dimension", self.rank()), size = ctx.integer("size"),
          step = ctx.integer("step");
  if (self.rank() == 0) { // counts as a vector of one
    if (size != 0 && size != 1)
      return ctx.refuse(
          fmt::format("a window of {} does not fit a tensor of one", counted(size, "element")));
    return ctx.done(
        slice(ctx, unsqueeze(ctx, self, 0), 0, ctx.b.getIndexAttr(0), ctx.b.getIndexAttr(size)));
  }
  if (ctx.hasRefused())
    return failure();
  SizeList sizes = ctx.sizesOf(self);
  sizes[dim] = windowCount(ctx, sizes[dim], size, step);
  sizes.push_back(ctx.b.getIndexAttr(size));
  if (ctx.hasRefused())
    return failure();
  return ctx.done(
      gather(ctx, agreedSizes(ctx, sizes), self.dtype, {}, [&](GatherBody &body, ValueRange) {
        SmallVector<Value> coordinates;
        for (int64_t i = 0; i < self.rank(); ++i)
          coordinates.push_back(body.position(i));
        coordinates[dim] =
            windowPosition(body.b, body.loc, coordinates[dim], body.position(self.rank()), step);
        return body.read(self, coordinates);
      }));
}

static LogicalResult lowerUnfoldBackward(Lowering &ctx) {
  Tensor gradient = ctx.tensor("grad_in");
  SizeList sizes = agreedSizes(ctx, ctx.sizes("input_sizes"));
  int64_t rank = sizes.size(), dim = ctx.dim("dim", rank), size = ctx.integer("size"),
          step = ctx.integer("step");
  if (rank == 0 && gradient.rank() == 1) // of a number: its one element, or none
    return ctx.done(
        castTo(ctx, reduceSum(ctx, {gradient, {0}}, opmath(gradient.dtype)), gradient.dtype));
  if (gradient.rank() != rank + 1)
    return ctx.refuse(fmt::format("a gradient of {} is needed, not {}",
                                  counted(rank + 1, "dimension"), gradient.rank()));
  SizeList windows = sizes, have = ctx.sizesOf(gradient);
  windows[dim] = windowCount(ctx, sizes[dim], size, step);
  windows.push_back(ctx.b.getIndexAttr(size));
  for (auto [window, size] : llvm::zip_equal(windows, have))
    requireSame(ctx, window, size, "windows of size %lld have a gradient of size %lld");
  if (ctx.hasRefused())
    return failure();
  return ctx.done(scatterWide(ctx, zeros(ctx, sizes, gradient.dtype), graph::Combine::Add, have,
                              {{gradient, 0}}, [&](ScatterBody &body, ValueRange x) {
                                SmallVector<Value> coordinates;
                                for (int64_t i = 0; i < rank; ++i)
                                  coordinates.push_back(body.position(i));
                                coordinates[dim] = windowPosition(
                                    body.b, body.loc, coordinates[dim], body.position(rank), step);
                                Element wide(body.b, body.loc, opmath(gradient.dtype));
                                return Update{coordinates, wide.cast(x[0], gradient.dtype)};
                              }));
}

//===----------------------------------------------------------------------===//
// Another dtype
//===----------------------------------------------------------------------===//

/// The same bits as elements of another dtype of the same width.
static LogicalResult lowerViewDtype(Lowering &ctx) {
  Tensor self = ctx.tensor("self");
  DType dtype = ctx.resultDType();
  if (info(dtype).bytes != info(self.dtype).bytes)
    return ctx.refuse(
        fmt::format("elements of {} are viewed as elements of {}; only the same width is supported",
                    counted(info(self.dtype).bytes, "byte"), info(dtype).bytes));
  Type from = ctx.type(self.dtype), to = ctx.type(dtype);
  if (from == to)
    return ctx.done(Tensor{self.value, dtype});
  if (self.dtype == DType::Bool || dtype == DType::Bool)
    return ctx.done(castTo(ctx, self, dtype));
  return ctx.done(pointwiseMany(ctx, self, dtype, [&](OpBuilder &b, Location loc, ValueRange x) {
                    return SmallVector<Value>{
                        arith::BitcastOp::create(b, loc, to, x[0]).getResult()};
                  }).front());
}

Family stridedFamily() {
  static constexpr LoweringRow rows[] = {
      {"torch.aten.as_strided", lowerAsStrided},
      {"torch.aten.as_strided_copy", lowerAsStrided},
      {"torch.prims.as_strided", lowerAsStrided},
      {"torch.aten.as_strided_scatter", lowerAsStridedScatter},
      {"torch.prims.as_strided_scatter", lowerAsStridedScatter},
      {"torch.aten.unfold", lowerUnfold},
      {"torch.aten.unfold_copy", lowerUnfold},
      {"torch.aten.unfold_backward", lowerUnfoldBackward},
      {"torch.aten.view.dtype", lowerViewDtype},
      {"torch.aten.view_copy.dtype", lowerViewDtype},
  };
  return {"Strides and windows", rows};
}

} // namespace tw::lower
