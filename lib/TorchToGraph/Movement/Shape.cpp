// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The same elements in another shape: views, unit dimensions, permutations, expansion.
#include "Support/Counted.h"
#include "TorchToGraph/Builders/Bounds.h"
#include "TorchToGraph/Builders/Elementwise/Pointwise.h"
#include "TorchToGraph/Builders/Index.h"
#include "TorchToGraph/Builders/Move.h"
#include "TorchToGraph/Builders/Reduction/Reduce.h"
#include "TorchToGraph/Builders/Reshape.h"
#include "TorchToGraph/Families.h"
#include <fmt/format.h>

using namespace mlir;

namespace tw::lower {

using SizeList = SmallVector<OpFoldResult>;

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

/// self with the sizes of an argument, of which one may be -1.
static LogicalResult viewAs(Lowering &ctx, StringRef argument) {
  Tensor self = ctx.tensor("self");
  SizeList sizes = resolveSizes(ctx, self, ctx.sizes(argument));
  if (ctx.hasRefused())
    return failure();
  return ctx.done(reshape(ctx, self, ctx.refined(sizes)));
}

static LogicalResult lowerView(Lowering &ctx) { return viewAs(ctx, "size"); }
static LogicalResult lowerReshape(Lowering &ctx) { return viewAs(ctx, "shape"); }

static LogicalResult lowerPrimsReshape(Lowering &ctx) {
  auto self = ctx.arg(0u).tensor();
  if (!self)
    return ctx.refuse("its first argument must be a tensor");
  return ctx.done(reshape(ctx, *self, ctx.refined(ctx.sizes("shape"))));
}

static LogicalResult lowerViewAs(Lowering &ctx) {
  Tensor self = ctx.tensor("self"), other = ctx.tensor("other");
  return ctx.done(reshape(ctx, self, ctx.refined(ctx.sizesOf(other))));
}

static LogicalResult lowerRavel(Lowering &ctx) {
  Tensor self = ctx.tensor("self");
  return ctx.done(flatten(ctx, self, 0, std::max<int64_t>(self.rank() - 1, 0)));
}

static LogicalResult lowerFlatten(Lowering &ctx) {
  Tensor self = ctx.tensor("self");
  int64_t first = ctx.dim("start_dim", self.rank(), 0), last = ctx.dim("end_dim", self.rank(), -1);
  if (first > last)
    return ctx.refuse(fmt::format("start_dim {} comes after end_dim {}", first, last));
  return ctx.done(flatten(ctx, self, first, last));
}

/// As flatten, of dimensions that are not counted from the end.
static LogicalResult lowerCollapse(Lowering &ctx) {
  Tensor self = ctx.tensor("a");
  int64_t first = ctx.dim("start", self.rank()), last = ctx.dim("end", self.rank());
  if (first > last)
    return ctx.refuse(fmt::format("start {} comes after end {}", first, last));
  return ctx.done(flatten(ctx, self, first, last));
}

static LogicalResult lowerUnflatten(Lowering &ctx) {
  Tensor self = ctx.tensor("self");
  int64_t dim = ctx.dim("dim", self.rank());
  SizeList parts = ctx.sizes("sizes");
  if (ctx.hasRefused())
    return failure();
  if (self.rank() == 0)
    return ctx.refuse("a tensor without dimensions has none to unflatten");
  SizeList sizes = ctx.sizesOf(self);
  parts = resolveSizes(ctx, sizes[dim], parts);
  sizes.erase(sizes.begin() + dim);
  sizes.insert(sizes.begin() + dim, parts.begin(), parts.end());
  if (ctx.hasRefused())
    return failure();
  return ctx.done(reshape(ctx, self, ctx.refined(sizes)));
}

//===----------------------------------------------------------------------===//
// Unit dimensions
//===----------------------------------------------------------------------===//

static LogicalResult lowerUnsqueeze(Lowering &ctx) {
  Tensor self = ctx.tensor("self");
  return ctx.done(unsqueeze(ctx, self, ctx.dim("dim", self.rank() + 1)));
}

/// Drops those of `candidates` that have size 1. Of a size not known the program says, by its
/// result's rank, whether it is 1; when it is not, or the program does not say, another size is
/// required: the result has one rank.
static LogicalResult squeezeDims(Lowering &ctx, const Tensor &self, ArrayRef<int64_t> candidates) {
  auto shape = ctx.knownShape();
  SizeList sizes = ctx.sizesOf(self);
  SmallVector<int64_t> dropped, open;
  for (int64_t dim : candidates)
    if (constantOf(sizes[dim]) == 1)
      dropped.push_back(dim);
    else if (!constantOf(sizes[dim]))
      open.push_back(dim);
  if (!shape || self.rank() - int64_t(dropped.size()) <= int64_t(shape->size()))
    for (int64_t dim : open)
      requireDifferent(ctx, sizes[dim], ctx.b.getIndexAttr(1),
                       "a dimension of size %lld would be squeezed; this program works for sizes "
                       "other than %lld");
  else
    for (int64_t dim : open) {
      requireSame(ctx, sizes[dim], ctx.b.getIndexAttr(1),
                  "a dimension of size %lld cannot be squeezed: it must be %lld");
      dropped.push_back(dim);
    }
  return ctx.done(dropUnitDims(ctx, self, dropped));
}

static LogicalResult lowerSqueeze(Lowering &ctx) {
  Tensor self = ctx.tensor("self");
  return squeezeDims(ctx, self, allDims(self));
}

static LogicalResult lowerSqueezeDim(Lowering &ctx) {
  Tensor self = ctx.tensor("self");
  int64_t dim = ctx.dim("dim", self.rank());
  return squeezeDims(ctx, self, self.rank() ? ArrayRef(dim) : ArrayRef<int64_t>());
}

static LogicalResult lowerSqueezeDims(Lowering &ctx) {
  Tensor self = ctx.tensor("self");
  bool none = ctx.integers("dim").empty();
  return squeezeDims(ctx, self, none ? SmallVector<int64_t>() : ctx.dims("dim", self.rank()));
}

static LogicalResult lowerPrimsSqueeze(Lowering &ctx) {
  Tensor self = ctx.tensor("a");
  bool none = ctx.integers("dimensions").empty();
  return squeezeDims(ctx, self,
                     none ? SmallVector<int64_t>() : ctx.dims("dimensions", self.rank()));
}

/// Unit dimensions around a tensor of fewer than `rank` dimensions, where PyTorch puts them.
static Tensor atLeast(Lowering &ctx, const Tensor &tensor, int64_t rank) {
  SmallVector<int64_t> added;
  if (rank == 3 && tensor.rank() == 1)
    added = {0, 2};
  else if (rank == 3 && tensor.rank() == 2)
    added = {2};
  else
    for (int64_t i = 0; i + tensor.rank() < rank; ++i)
      added.push_back(i);
  return insertUnitDims(ctx, tensor, added);
}

template <int rank>
static LogicalResult lowerAtLeast(Lowering &ctx) {
  if (ctx.arg(0u).tensor())
    return ctx.done(atLeast(ctx, ctx.tensor("self"), rank));
  OperandList results;
  for (const Tensor &tensor : ctx.tensors("tensors"))
    results.push_back(atLeast(ctx, tensor, rank));
  return ctx.done(Operand(std::move(results)));
}

//===----------------------------------------------------------------------===//
// Order of dimensions
//===----------------------------------------------------------------------===//

/// The argument's dimensions, wrapped, in their order; refuses repeated ones.
static SmallVector<int64_t> distinctDims(Lowering &ctx, StringRef name, int64_t rank) {
  SmallVector<int64_t> dims = ctx.integers(name);
  for (int64_t &dim : dims) {
    if (dim < -rank || dim >= rank) {
      ctx.refuse(fmt::format("argument '{}' holds {}, but the tensor has {}", name.str(), dim,
                             counted(rank, "dimension")));
      dim = 0;
    }
    dim += dim < 0 ? rank : 0;
  }
  for (int64_t dim : dims)
    if (llvm::count(dims, dim) > 1)
      ctx.refuse(fmt::format("argument '{}' holds dimension {} twice", name.str(), dim));
  return dims;
}

static LogicalResult lowerPermute(Lowering &ctx) {
  auto self = ctx.arg(0u).tensor();
  if (!self)
    return ctx.refuse("its first argument must be a tensor");
  StringRef name = ctx.has("permutation") ? "permutation" : "dims";
  auto permutation = distinctDims(ctx, name, self->rank());
  if (int64_t(permutation.size()) != self->rank())
    return ctx.refuse(fmt::format("{} {} given, but the tensor has {}",
                                  counted(permutation.size(), "dimension"),
                                  oneOrMany(permutation.size(), "is", "are"), self->rank()));
  if (ctx.hasRefused())
    return failure();
  return ctx.done(permute(ctx, *self, permutation));
}

static LogicalResult swapDims(Lowering &ctx, StringRef first, StringRef second) {
  Tensor self = ctx.tensor("self");
  int64_t a = ctx.dim(first, self.rank()), b = ctx.dim(second, self.rank());
  return ctx.done(transpose(ctx, self, a, b));
}

static LogicalResult lowerTranspose(Lowering &ctx) { return swapDims(ctx, "dim0", "dim1"); }
static LogicalResult lowerSwapAxes(Lowering &ctx) { return swapDims(ctx, "axis0", "axis1"); }

static LogicalResult lowerT(Lowering &ctx) {
  Tensor self = ctx.tensor("self");
  if (self.rank() > 2)
    return ctx.refuse(
        fmt::format("a tensor of at most 2 dimensions is needed, not {}", self.rank()));
  return ctx.done(transpose(ctx, self, 0, std::max<int64_t>(self.rank() - 1, 0)));
}

/// x.T: all dimensions in reverse.
static LogicalResult lowerReverse(Lowering &ctx) {
  Tensor self = ctx.tensor("self");
  auto dims = allDims(self);
  std::reverse(dims.begin(), dims.end());
  return ctx.done(permute(ctx, self, dims));
}

static LogicalResult lowerMatrixTranspose(Lowering &ctx) {
  Tensor self = ctx.tensor("self");
  if (self.rank() == 1)
    return ctx.refuse("a tensor of at least 2 dimensions is needed, not 1");
  return ctx.done(self.rank() ? transpose(ctx, self, self.rank() - 2, self.rank() - 1) : self);
}

static LogicalResult lowerMoveDim(Lowering &ctx) {
  Tensor self = ctx.tensor("self");
  auto from = distinctDims(ctx, "source", self.rank());
  auto to = distinctDims(ctx, "destination", self.rank());
  if (from.size() != to.size())
    return ctx.refuse(
        fmt::format("{} source dimensions cannot move to {} destinations", from.size(), to.size()));
  if (ctx.hasRefused())
    return failure();
  SmallVector<int64_t> permutation(self.rank(), -1);
  for (auto [source, destination] : llvm::zip_equal(from, to))
    permutation[destination] = source;
  int64_t next = 0;
  for (int64_t &dim : permutation) {
    while (llvm::is_contained(from, next))
      ++next;
    if (dim < 0)
      dim = next++;
  }
  return ctx.done(permute(ctx, self, permutation));
}

//===----------------------------------------------------------------------===//
// Expansion
//===----------------------------------------------------------------------===//

/// self repeated along its dimensions of size 1 and along new ones in front; -1 keeps a size.
static LogicalResult expandTo(Lowering &ctx, const Tensor &self, SizeList wanted) {
  SizeList have = ctx.sizesOf(self);
  if (wanted.size() < have.size())
    return ctx.refuse(fmt::format("a tensor of {} cannot be expanded to {}",
                                  counted(have.size(), "dimension"), wanted.size()));
  size_t added = wanted.size() - have.size();
  for (auto [i, size] : llvm::enumerate(wanted)) {
    OpFoldResult old = i < added ? ctx.b.getIndexAttr(1) : have[i - added];
    if (constantOf(size) == -1 && i >= added)
      size = old;
    if (constantOf(old) == 1)
      requireSizes(ctx, size);
    else
      requireSame(ctx, old, size, "a dimension of size %lld cannot be expanded to %lld");
    if (constantOf(old) && constantOf(old) != 1)
      size = old;
  }
  if (ctx.hasRefused())
    return failure();
  return ctx.done(broadcastTo(ctx, self, ctx.refined(wanted)));
}

static LogicalResult lowerExpand(Lowering &ctx) {
  return expandTo(ctx, ctx.tensor("self"), ctx.sizes("size"));
}

static LogicalResult lowerExpandAs(Lowering &ctx) {
  return expandTo(ctx, ctx.tensor("self"), ctx.sizesOf(ctx.tensor("other")));
}

static LogicalResult lowerBroadcastTensors(Lowering &ctx) {
  SmallVector<Tensor> tensors = ctx.tensors("tensors");
  SizeList sizes = broadcastSizes(ctx, tensors);
  if (ctx.hasRefused())
    return failure();
  OperandList results;
  for (const Tensor &tensor : tensors)
    results.push_back(broadcastTo(ctx, tensor, sizes));
  return ctx.done(Operand(std::move(results)));
}

/// prims.broadcast_in_dim: dimension i of the tensor becomes dimension broadcast_dimensions[i].
static LogicalResult lowerBroadcastInDim(Lowering &ctx) {
  Tensor self = ctx.tensor("a");
  SizeList shape = ctx.sizes("shape"), have = ctx.sizesOf(self);
  auto places = distinctDims(ctx, "broadcast_dimensions", shape.size());
  if (int64_t(places.size()) != self.rank() || !llvm::is_sorted(places))
    return ctx.refuse(
        fmt::format("{} ascending dimensions are needed, one for each of the tensor", self.rank()));
  if (ctx.hasRefused())
    return failure();
  SizeList spread(shape.size(), ctx.b.getIndexAttr(1));
  for (auto [place, size] : llvm::zip_equal(places, have))
    spread[place] = size;
  return expandTo(ctx, reshape(ctx, self, spread), shape);
}

/// The sum of self over the dimensions along which a tensor of `size` was expanded to it.
static LogicalResult lowerSumToSize(Lowering &ctx) {
  Tensor self = ctx.tensor("self");
  SizeList have = ctx.sizesOf(self), wanted = ctx.sizes("size");
  if (wanted.size() > have.size())
    return ctx.refuse(fmt::format("a tensor of {} cannot be summed to {}",
                                  counted(have.size(), "dimension"), wanted.size()));
  int64_t added = have.size() - wanted.size();
  SmallVector<int64_t> dims;
  for (int64_t i = 0; i < self.rank(); ++i) {
    bool isOne = i >= added && constantOf(wanted[i - added]) == 1;
    if (i < added || (isOne && constantOf(have[i]) != 1))
      dims.push_back(i);
    else
      requireSame(ctx, have[i], wanted[i - added],
                  "a dimension of size %lld cannot be summed to %lld");
  }
  DType dtype = ctx.resultDType();
  if (ctx.hasRefused())
    return failure();
  Tensor sum = self;
  if (!dims.empty())
    sum = castTo(ctx, reduceSum(ctx, {self, dims, true}, accumulator(self.dtype)), dtype);
  return ctx.done(reshape(ctx, sum, ctx.refined(wanted)));
}

Family shapeFamily() {
  static constexpr LoweringRow rows[] = {
      {"torch.aten.view", lowerView},
      {"torch.aten.view_copy", lowerView},
      {"torch.aten._unsafe_view", lowerView},
      {"torch.aten._reshape_alias", lowerView},
      {"torch.aten._reshape_alias_copy", lowerView},
      {"torch.aten._reshape_copy", lowerView},
      {"torch.aten.reshape", lowerReshape},
      {"torch.aten.view_as", lowerViewAs},
      {"torch.aten.reshape_as", lowerViewAs},
      {"torch.prims.reshape", lowerPrimsReshape},
      {"torch.aten.ravel", lowerRavel},
      {"torch.aten.flatten.using_ints", lowerFlatten},
      {"torch.aten.unflatten.int", lowerUnflatten},
      {"torch.aten.unsqueeze", lowerUnsqueeze},
      {"torch.aten.unsqueeze_copy", lowerUnsqueeze},
      {"torch.aten.squeeze", lowerSqueeze},
      {"torch.aten.squeeze_copy", lowerSqueeze},
      {"torch.aten.squeeze.dim", lowerSqueezeDim},
      {"torch.aten.squeeze_copy.dim", lowerSqueezeDim},
      {"torch.aten.squeeze.dims", lowerSqueezeDims},
      {"torch.aten.squeeze_copy.dims", lowerSqueezeDims},
      {"torch.prims.squeeze", lowerPrimsSqueeze},
      {"torch.prims.collapse", lowerCollapse},
      {"torch.prims.collapse_view", lowerCollapse},
      {"torch.aten.atleast_1d", lowerAtLeast<1>},
      {"torch.aten.atleast_2d", lowerAtLeast<2>},
      {"torch.aten.atleast_3d", lowerAtLeast<3>},
      {"torch.aten.atleast_1d.Sequence", lowerAtLeast<1>},
      {"torch.aten.atleast_2d.Sequence", lowerAtLeast<2>},
      {"torch.aten.atleast_3d.Sequence", lowerAtLeast<3>},
      {"torch.aten.permute", lowerPermute},
      {"torch.aten.permute_copy", lowerPermute},
      {"torch.prims.transpose", lowerPermute},
      {"torch.aten.transpose.int", lowerTranspose},
      {"torch.aten.transpose_copy.int", lowerTranspose},
      {"torch.aten.swapdims", lowerTranspose},
      {"torch.aten.swapaxes", lowerSwapAxes},
      {"torch.aten.t", lowerT},
      {"torch.aten.t_copy", lowerT},
      {"torch.aten.numpy_T", lowerReverse},
      {"torch.aten.mT", lowerMatrixTranspose},
      {"torch.aten.mH", lowerMatrixTranspose},
      {"torch.aten.matrix_H", lowerMatrixTranspose},
      {"torch.aten.adjoint", lowerMatrixTranspose},
      {"torch.aten.movedim.int", lowerMoveDim},
      {"torch.aten.movedim.intlist", lowerMoveDim},
      {"torch.aten.moveaxis.int", lowerMoveDim},
      {"torch.aten.moveaxis.intlist", lowerMoveDim},
      {"torch.aten.expand", lowerExpand},
      {"torch.aten.expand_copy", lowerExpand},
      {"torch.aten.broadcast_to", lowerExpand},
      {"torch.aten.expand_as", lowerExpandAs},
      {"torch.aten.broadcast_tensors", lowerBroadcastTensors},
      {"torch.prims.broadcast_in_dim", lowerBroadcastInDim},
      {"torch.aten.sum_to_size", lowerSumToSize},
  };
  return {"Shapes", rows};
}

} // namespace tw::lower
