// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elements again or in another order: repeat, tile, roll, flip, rotations, shuffled channels.
#include "Support/Counted.h"
#include "TorchToGraph/Builders/Bounds.h"
#include "TorchToGraph/Builders/Elementwise/Pointwise.h"
#include "TorchToGraph/Builders/Index.h"
#include "TorchToGraph/Builders/Indexing/Gather.h"
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
// Repetition
//===----------------------------------------------------------------------===//

/// The whole tensor counts[i] times along dimension i, where counts may name new dimensions in
/// front: expanded by a dimension before each, which the next reshape joins to it.
static LogicalResult repeat(Lowering &ctx, const Tensor &self, SizeList counts) {
  requireSizes(ctx, counts);
  if (ctx.hasRefused())
    return failure();
  IndexMath math{ctx.b, ctx.loc};
  SizeList have(counts.size() - self.rank(), math.constant(1)), alone, expanded, sizes;
  llvm::append_range(have, ctx.sizesOf(self));
  for (auto [count, size] : llvm::zip_equal(counts, have)) {
    if (constantOf(count) != 1) {
      alone.push_back(math.constant(1));
      expanded.push_back(count);
    }
    alone.push_back(size);
    expanded.push_back(size);
    sizes.push_back(math.mul(count, size));
  }
  Tensor repeated = broadcastTo(ctx, reshape(ctx, self, alone), expanded);
  return ctx.done(reshape(ctx, repeated, agreedSizes(ctx, sizes)));
}

static LogicalResult lowerRepeat(Lowering &ctx) {
  Tensor self = ctx.tensor("self");
  SizeList counts = ctx.sizes("repeats");
  if (int64_t(counts.size()) < self.rank())
    return ctx.refuse(
        fmt::format("{} {} given, but the tensor has {}", counted(counts.size(), "repeat"),
                    oneOrMany(counts.size(), "is", "are"), counted(self.rank(), "dimension")));
  return repeat(ctx, self, counts);
}

static LogicalResult lowerTile(Lowering &ctx) {
  Tensor self = ctx.tensor("self");
  SizeList counts = ctx.sizes("dims");
  while (int64_t(counts.size()) < self.rank())
    counts.insert(counts.begin(), ctx.b.getIndexAttr(1));
  return repeat(ctx, self, counts);
}

/// `self` and the dimension to repeat along: flattened when none is given.
static std::pair<Tensor, int64_t> repeatedDim(Lowering &ctx) {
  Tensor self = ctx.tensor("self");
  if (!ctx.has("dim") || self.rank() == 0)
    self = flatten(ctx, self, 0, std::max<int64_t>(self.rank() - 1, 0));
  return {self, ctx.has("dim") ? ctx.dim("dim", self.rank()) : 0};
}

/// Each position of a dimension the same number of times.
static LogicalResult lowerRepeatInterleave(Lowering &ctx) {
  auto [self, dim] = repeatedDim(ctx);
  OpFoldResult count = ctx.size("repeats");
  requireSizes(ctx, count);
  if (ctx.hasRefused())
    return failure();
  SizeList sizes = ctx.sizesOf(self), expanded = sizes;
  sizes[dim] = IndexMath{ctx.b, ctx.loc}.mul(sizes[dim], count);
  expanded.insert(expanded.begin() + dim + 1, count);
  Tensor repeated = broadcastTo(ctx, unsqueeze(ctx, self, dim + 1), expanded);
  return ctx.done(reshape(ctx, repeated, agreedSizes(ctx, sizes)));
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

/// The elements of `self` at positions that `move` changes in `dims`; it takes the position, the
/// dimension's size and which of `dims` it is.
using MoveFn = llvm::function_ref<Value(OpBuilder &, Location, Value, Value size, unsigned)>;
static Tensor moved(Lowering &ctx, const Tensor &self, ArrayRef<int64_t> dims, MoveFn move) {
  IndexMath math{ctx.b, ctx.loc};
  SizeList sizes = ctx.sizesOf(self);
  SmallVector<Value> bounds;
  for (int64_t dim : dims)
    bounds.push_back(math.value(sizes[dim]));
  return gather(ctx, sizes, self.dtype, {}, [&](GatherBody &body, ValueRange) {
    SmallVector<Value> coordinates;
    for (int64_t i = 0; i < self.rank(); ++i)
      coordinates.push_back(body.position(i));
    for (auto [i, dim] : llvm::enumerate(dims))
      coordinates[dim] = move(body.b, body.loc, coordinates[dim], bounds[i], i);
    return body.read(self, coordinates);
  });
}

/// In reverse along `dims`.
static Tensor flip(Lowering &ctx, const Tensor &self, ArrayRef<int64_t> dims) {
  if (dims.empty())
    return self;
  return moved(ctx, self, dims, [](OpBuilder &b, Location loc, Value x, Value size, unsigned) {
    Value one = arith::ConstantIndexOp::create(b, loc, 1);
    Value last = arith::SubIOp::create(b, loc, size, one);
    return arith::SubIOp::create(b, loc, last, x).getResult();
  });
}

static LogicalResult lowerFlip(Lowering &ctx) {
  auto self = ctx.arg(0u).tensor();
  if (!self)
    return ctx.refuse("its first argument must be a tensor");
  SmallVector<int64_t> dims;
  if (!ctx.integers("dims").empty())
    dims = ctx.dims("dims", self->rank());
  if (ctx.hasRefused())
    return failure();
  return ctx.done(flip(ctx, *self, dims));
}

template <int dim>
static LogicalResult lowerFlipDim(Lowering &ctx) {
  Tensor self = ctx.tensor("self");
  if (self.rank() <= dim)
    return ctx.refuse(fmt::format("a tensor of at least {} is needed, not {}",
                                  counted(dim + 1, "dimension"), self.rank()));
  return ctx.done(flip(ctx, self, dim));
}

/// A quarter turn k times, from the first dimension to the second.
static LogicalResult lowerRot90(Lowering &ctx) {
  Tensor self = ctx.tensor("self");
  int64_t turns = ctx.integer("k", 1);
  SmallVector<int64_t> dims = ctx.integers("dims");
  if (dims.empty())
    dims = {0, 1};
  for (int64_t &dim : dims) {
    if (dim < -self.rank() || dim >= self.rank())
      return ctx.refuse(fmt::format("argument 'dims' holds {}, but the tensor has {}", dim,
                                    counted(self.rank(), "dimension")));
    dim += dim < 0 ? self.rank() : 0;
  }
  if (dims.size() != 2 || dims[0] == dims[1])
    return ctx.refuse("two different dimensions are needed");
  switch ((turns % 4 + 4) % 4) {
  case 1:
    return ctx.done(transpose(ctx, flip(ctx, self, dims[1]), dims[0], dims[1]));
  case 2:
    return ctx.done(flip(ctx, self, dims));
  case 3:
    return ctx.done(transpose(ctx, flip(ctx, self, dims[0]), dims[0], dims[1]));
  default:
    return ctx.done(self);
  }
}

/// What moves out at the end of a dimension comes in at its start.
static Tensor roll(Lowering &ctx, const Tensor &self, ArrayRef<int64_t> dims,
                   ArrayRef<OpFoldResult> shifts) {
  IndexMath math{ctx.b, ctx.loc};
  SmallVector<Value> offsets; // in [0, size): where position 0 is read
  for (auto [dim, shift] : llvm::zip_equal(dims, shifts)) {
    OpFoldResult size = greater(ctx, ctx.sizeOf(self, dim), math.constant(1));
    offsets.push_back(math.value(math.remainder(math.sub(math.constant(0), shift), size)));
  }
  return moved(ctx, self, dims, [&](OpBuilder &b, Location loc, Value x, Value size, unsigned i) {
    Value from = arith::AddIOp::create(b, loc, x, offsets[i]);
    Value inside = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, from, size);
    Value wrapped = arith::SubIOp::create(b, loc, from, size);
    return arith::SelectOp::create(b, loc, inside, from, wrapped).getResult();
  });
}

static LogicalResult lowerRoll(Lowering &ctx) {
  Tensor self = ctx.tensor("self");
  SizeList shifts = ctx.sizes("shifts");
  SmallVector<int64_t> dims = ctx.integers("dims");
  if (dims.empty()) {
    if (shifts.size() != 1)
      return ctx.refuse(fmt::format("{} {} as many dims", counted(shifts.size(), "shift"),
                                    oneOrMany(shifts.size(), "needs", "need")));
    if (self.rank() == 0)
      return ctx.done(self);
    Tensor flat = roll(ctx, flatten(ctx, self, 0, self.rank() - 1), 0, shifts);
    return ctx.done(reshape(ctx, flat, ctx.sizesOf(self)));
  }
  if (dims.size() != shifts.size())
    return ctx.refuse(fmt::format("{} {} given for {}", counted(shifts.size(), "shift"),
                                  oneOrMany(shifts.size(), "is", "are"),
                                  counted(dims.size(), "dim")));
  if (self.rank() == 0)
    return ctx.done(self);
  for (auto [dim, shift] : llvm::zip_equal(dims, shifts)) {
    if (dim < -self.rank() || dim >= self.rank())
      return ctx.refuse(fmt::format("argument 'dims' holds {}, but the tensor has {}", dim,
                                    counted(self.rank(), "dimension")));
    self = roll(ctx, self, dim < 0 ? dim + self.rank() : dim, shift);
  }
  return ctx.done(self);
}

//===----------------------------------------------------------------------===//
// Channels and places
//===----------------------------------------------------------------------===//

/// size / factor, which must be whole.
static OpFoldResult part(Lowering &ctx, OpFoldResult size, OpFoldResult factor, StringRef what) {
  IndexMath math{ctx.b, ctx.loc};
  if (auto exact = math.exactDiv(size, factor))
    return *exact;
  OpFoldResult quotient = math.floorDiv(size, factor);
  requireSame(ctx, math.mul(quotient, factor), size,
              what + " must be a multiple of its factor: %lld is not %lld");
  return quotient;
}

/// [..., C r r, H, W] becomes [..., C, H r, W r].
static LogicalResult lowerPixelShuffle(Lowering &ctx) {
  Tensor self = ctx.tensor("self");
  int64_t factor = ctx.integer("upscale_factor"), rank = self.rank();
  if (factor < 1 || factor > 1 << 15 || rank < 3)
    return ctx.refuse(fmt::format("a factor of at least 1 and a tensor of at least 3 dimensions "
                                  "are needed, not {} and {}",
                                  factor, rank));
  IndexMath math{ctx.b, ctx.loc};
  SizeList sizes = ctx.sizesOf(self);
  OpFoldResult r = math.constant(factor), height = sizes[rank - 2], width = sizes[rank - 1];
  SizeList batch(ArrayRef(sizes).take_front(rank - 3));
  OpFoldResult channels =
      part(ctx, sizes[rank - 3], math.constant(factor * factor), "the number of channels");
  SizeList split = batch, joined = batch;
  split.append({channels, r, r, height, width});
  joined.append({channels, math.mul(height, r), math.mul(width, r)});
  if (ctx.hasRefused())
    return failure();
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, rank + 2));
  std::copy_n(std::initializer_list<int64_t>{rank, rank - 2, rank + 1, rank - 1}.begin(), 4,
              order.end() - 4);
  Tensor permuted = permute(ctx, reshape(ctx, self, split), order);
  return ctx.done(reshape(ctx, permuted, agreedSizes(ctx, joined)));
}

/// [..., C, H r, W r] becomes [..., C r r, H, W].
static LogicalResult lowerPixelUnshuffle(Lowering &ctx) {
  Tensor self = ctx.tensor("self");
  int64_t factor = ctx.integer("downscale_factor"), rank = self.rank();
  if (factor < 1 || factor > 1 << 15 || rank < 3)
    return ctx.refuse(fmt::format("a factor of at least 1 and a tensor of at least 3 dimensions "
                                  "are needed, not {} and {}",
                                  factor, rank));
  IndexMath math{ctx.b, ctx.loc};
  SizeList sizes = ctx.sizesOf(self);
  OpFoldResult r = math.constant(factor), channels = sizes[rank - 3];
  OpFoldResult height = part(ctx, sizes[rank - 2], r, "the height");
  OpFoldResult width = part(ctx, sizes[rank - 1], r, "the width");
  SizeList split(ArrayRef(sizes).take_front(rank - 3)), joined = split;
  split.append({channels, height, r, width, r});
  joined.append({math.mul(channels, math.constant(factor * factor)), height, width});
  if (ctx.hasRefused())
    return failure();
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, rank + 2));
  std::copy_n(std::initializer_list<int64_t>{rank - 1, rank + 1, rank - 2, rank}.begin(), 4,
              order.end() - 4);
  Tensor permuted = permute(ctx, reshape(ctx, self, split), order);
  return ctx.done(reshape(ctx, permuted, agreedSizes(ctx, joined)));
}

/// Channels of `groups` groups in turn.
static LogicalResult lowerChannelShuffle(Lowering &ctx) {
  Tensor self = ctx.tensor("self");
  OpFoldResult groups = ctx.size("groups");
  requireAtMost(ctx, ctx.b.getIndexAttr(1), groups, "groups must be at least %lld, not %lld");
  if (self.rank() < 3)
    return ctx.refuse(
        fmt::format("a tensor of at least 3 dimensions is needed, not {}", self.rank()));
  if (ctx.hasRefused())
    return failure();
  SizeList sizes = ctx.sizesOf(self), split = sizes;
  split[1] = part(ctx, sizes[1], groups, "the number of channels");
  split.insert(split.begin() + 1, groups);
  if (ctx.hasRefused())
    return failure();
  Tensor swapped = transpose(ctx, reshape(ctx, self, split), 1, 2);
  return ctx.done(reshape(ctx, swapped, sizes));
}

Family repeatFamily() {
  static constexpr LoweringRow rows[] = {
      {"torch.aten.repeat", lowerRepeat},
      {"torch.aten.tile", lowerTile},
      {"torch.aten.repeat_interleave.self_int", lowerRepeatInterleave},
      {"torch.aten.flip", lowerFlip},
      {"torch.prims.rev", lowerFlip},
      {"torch.aten.fliplr", lowerFlipDim<1>},
      {"torch.aten.flipud", lowerFlipDim<0>},
      {"torch.aten.rot90", lowerRot90},
      {"torch.aten.roll", lowerRoll},
      {"torch.aten.pixel_shuffle", lowerPixelShuffle},
      {"torch.aten.pixel_unshuffle", lowerPixelUnshuffle},
      {"torch.aten.channel_shuffle", lowerChannelShuffle},
      {"torch.aten.native_channel_shuffle", lowerChannelShuffle},
  };
  return {"Repetition and order", rows};
}

} // namespace tw::lower
