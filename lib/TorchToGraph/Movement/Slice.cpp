// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parts of a tensor: slices, single positions, splits into several parts.
#include "Support/Counted.h"
#include "TorchToGraph/Builders/Bounds.h"
#include "TorchToGraph/Builders/Index.h"
#include "TorchToGraph/Builders/Move.h"
#include "TorchToGraph/Builders/Reshape.h"
#include "TorchToGraph/Families.h"
#include <fmt/format.h>

using namespace mlir;

namespace tw::lower {

using SizeList = SmallVector<OpFoldResult>;

static LogicalResult lowerSlice(Lowering &ctx) {
  auto [self, dim] = selfAndDim(ctx);
  if (ctx.hasRefused())
    return failure();
  Range range = rangeArgument(ctx, ctx.sizeOf(self, dim));
  if (ctx.hasRefused())
    return failure();
  auto shape = ctx.knownShape();
  if (shape && int64_t(shape->size()) == self.rank() && !ShapedType::isDynamic((*shape)[dim])) {
    OpFoldResult known = ctx.b.getIndexAttr((*shape)[dim]);
    requireSame(ctx, range.length, known, "a slice has %lld elements, but the program says %lld");
    range.length = known;
  }
  if (ctx.hasRefused())
    return failure();
  return ctx.done(slice(ctx, self, dim, range.start, range.length, range.step));
}

static LogicalResult lowerNarrow(Lowering &ctx) {
  auto [self, dim] = selfAndDim(ctx);
  OpFoldResult start = positionArgument(ctx, "start"), length = ctx.size("length");
  if (ctx.hasRefused())
    return failure();
  IndexMath math{ctx.b, ctx.loc};
  OpFoldResult size = ctx.sizeOf(self, dim);
  start = wrappedIndex(ctx, start, size); // the very end is allowed: nothing is taken then
  requireAtMost(ctx, math.constant(0), start, "start must be at least %lld, not %lld");
  requireSizes(ctx, length);
  requireAtMost(ctx, math.add(start, length), size,
                "start + length is %lld, but the dimension has size %lld");
  if (ctx.hasRefused())
    return failure();
  return ctx.done(slice(ctx, self, dim, start, length));
}

static Tensor selectAt(Lowering &ctx, const Tensor &self, int64_t dim, OpFoldResult index) {
  return squeeze(ctx, slice(ctx, self, dim, index, ctx.b.getIndexAttr(1)), dim);
}

static LogicalResult lowerSelect(Lowering &ctx) {
  auto [self, dim] = selfAndDim(ctx);
  OpFoldResult index = positionArgument(ctx, "index");
  if (ctx.hasRefused())
    return failure();
  index = checkedIndex(ctx, index, ctx.sizeOf(self, dim), dim);
  if (ctx.hasRefused())
    return failure();
  return ctx.done(selectAt(ctx, self, dim, index));
}

//===----------------------------------------------------------------------===//
// Splits
//===----------------------------------------------------------------------===//

/// How many tensors the program takes of the list that the operator returns.
static std::optional<int64_t> partsTaken(Lowering &ctx) {
  for (Operation *user : ctx.op->getResult(0).getUsers())
    if (operatorName(user) == "torch.prim.ListUnpack")
      return user->getNumResults();
  return std::nullopt;
}

/// Parts of these lengths, one after the other; together they must be the whole dimension.
static LogicalResult splitInto(Lowering &ctx, const Tensor &self, int64_t dim,
                               ArrayRef<OpFoldResult> lengths) {
  IndexMath math{ctx.b, ctx.loc};
  OpFoldResult total = math.constant(0);
  for (OpFoldResult length : lengths) {
    requireSizes(ctx, length);
    total = math.add(total, length);
  }
  requireSame(ctx, total, ctx.sizeOf(self, dim),
              "parts of %lld elements in all do not make a dimension of size %lld");
  if (ctx.hasRefused())
    return failure();
  OperandList parts;
  OpFoldResult start = math.constant(0);
  for (OpFoldResult length : lengths) {
    parts.push_back(slice(ctx, self, dim, start, length));
    start = math.add(start, length);
  }
  return ctx.done(Operand(std::move(parts)));
}

/// Parts of `length`, the last one shorter.
static LogicalResult splitEvery(Lowering &ctx, const Tensor &self, int64_t dim,
                                OpFoldResult length) {
  IndexMath math{ctx.b, ctx.loc};
  OpFoldResult size = ctx.sizeOf(self, dim);
  auto count = constantOf(greater(ctx, math.ceilDiv(size, length), math.constant(1)));
  if (!count)
    count = partsTaken(ctx);
  if (!count)
    return ctx.refuse("the number of parts must be known at compile time");
  constexpr int64_t maxParts = 65536;
  if (*count > maxParts)
    return ctx.refuse(fmt::format("{} are more than the {} that are supported",
                                  counted(*count, "part"), maxParts));
  SizeList lengths(*count - 1, length);
  OpFoldResult before = math.mul(math.constant(*count - 1), length);
  lengths.push_back(math.sub(size, before));
  requireAtMost(ctx, lengths.back(), length,
                "the last part has %lld elements, but parts have at most %lld");
  return splitInto(ctx, self, dim, lengths);
}

static LogicalResult lowerSplit(Lowering &ctx) {
  auto [self, dim] = selfAndDim(ctx);
  OpFoldResult length = ctx.size("split_size");
  if (ctx.hasRefused())
    return failure();
  OpFoldResult size = ctx.sizeOf(self, dim);
  if (constantOf(length) == 0 && constantOf(size) == 0)
    return splitInto(ctx, self, dim, length);
  requireAtMost(ctx, ctx.b.getIndexAttr(1), length, "split_size must be at least %lld, not %lld");
  if (ctx.hasRefused())
    return failure();
  return splitEvery(ctx, self, dim, length);
}

static LogicalResult lowerChunk(Lowering &ctx) {
  auto [self, dim] = selfAndDim(ctx);
  int64_t chunks = ctx.integer("chunks");
  if (chunks < 1)
    return ctx.refuse(fmt::format("chunks must be at least 1, not {}", chunks));
  if (ctx.hasRefused())
    return failure();
  IndexMath math{ctx.b, ctx.loc};
  OpFoldResult size = ctx.sizeOf(self, dim);
  if (constantOf(size) == 0) // PyTorch gives that many empty parts
    return splitInto(ctx, self, dim, SizeList(chunks, math.constant(0)));
  OpFoldResult length = math.ceilDiv(size, math.constant(chunks));
  return splitEvery(ctx, self, dim, greater(ctx, length, math.constant(1)));
}

static LogicalResult splitSizes(Lowering &ctx, StringRef argument) {
  auto [self, dim] = selfAndDim(ctx);
  SizeList lengths = ctx.sizes(argument);
  if (ctx.hasRefused())
    return failure();
  return splitInto(ctx, self, dim, lengths);
}

static LogicalResult lowerSplitSizes(Lowering &ctx) { return splitSizes(ctx, "split_sizes"); }
static LogicalResult lowerSplitSize(Lowering &ctx) { return splitSizes(ctx, "split_size"); }

/// `count` parts whose sizes differ by at most one.
static LogicalResult splitEvenly(Lowering &ctx, const Tensor &self, int64_t dim, int64_t count) {
  constexpr int64_t maxParts = 65536;
  if (count < 1 || count > maxParts)
    return ctx.refuse(
        fmt::format("the number of parts must be between 1 and {}, not {}", maxParts, count));
  IndexMath math{ctx.b, ctx.loc};
  OpFoldResult size = ctx.sizeOf(self, dim), sections = math.constant(count);
  OpFoldResult each = math.floorDiv(size, sections), longer = math.remainder(size, sections);
  OperandList parts;
  OpFoldResult start = math.constant(0);
  for (int64_t i = 0; i < count; ++i) {
    OpFoldResult next =
        math.add(math.mul(math.constant(i + 1), each), math.min(math.constant(i + 1), longer));
    parts.push_back(slice(ctx, self, dim, start, math.sub(next, start)));
    start = next;
  }
  return ctx.done(Operand(std::move(parts)));
}

/// Parts that end at the given positions, and the rest.
static LogicalResult splitAt(Lowering &ctx, const Tensor &self, int64_t dim,
                             ArrayRef<OpFoldResult> ends) {
  OpFoldResult size = ctx.sizeOf(self, dim), start = ctx.b.getIndexAttr(0);
  OperandList parts;
  SizeList all(ends);
  all.push_back(size);
  for (OpFoldResult end : all) {
    Range range = pythonRange(ctx, size, start, end);
    parts.push_back(slice(ctx, self, dim, range.start, range.length));
    start = end;
  }
  return ctx.done(Operand(std::move(parts)));
}

static LogicalResult lowerTensorSplit(Lowering &ctx) {
  auto [self, dim] = selfAndDim(ctx);
  int64_t sections = ctx.integer("sections");
  return ctx.hasRefused() ? failure() : splitEvenly(ctx, self, dim, sections);
}

static LogicalResult lowerTensorSplitAt(Lowering &ctx) {
  auto [self, dim] = selfAndDim(ctx);
  SizeList ends = ctx.sizes("indices");
  return ctx.hasRefused() ? failure() : splitAt(ctx, self, dim, ends);
}

/// The dimension of hsplit (1, or 0 of a vector), vsplit (0) and dsplit (2).
template <int wanted>
static std::pair<Tensor, int64_t> splitDim(Lowering &ctx) {
  Tensor self = ctx.tensor("self");
  int64_t least = wanted == 0 ? 2 : wanted == 2 ? 3 : 1;
  if (self.rank() < least)
    ctx.refuse(fmt::format("a tensor of at least {} is needed, not {}", counted(least, "dimension"),
                           self.rank()));
  return {self, wanted == 1 && self.rank() == 1 ? 0 : wanted};
}

template <int wanted>
static LogicalResult lowerDirectionSplit(Lowering &ctx) {
  auto [self, dim] = splitDim<wanted>(ctx);
  int64_t sections = ctx.integer("sections");
  if (ctx.hasRefused())
    return failure();
  auto size = constantOf(ctx.sizeOf(self, dim));
  if (size && sections > 0 && *size % sections != 0)
    return ctx.refuse(
        fmt::format("a dimension of size {} cannot be split into {} equal parts", *size, sections));
  return splitEvenly(ctx, self, dim, sections);
}

template <int wanted>
static LogicalResult lowerDirectionSplitAt(Lowering &ctx) {
  auto [self, dim] = splitDim<wanted>(ctx);
  SizeList ends = ctx.sizes("indices");
  return ctx.hasRefused() ? failure() : splitAt(ctx, self, dim, ends);
}

static LogicalResult lowerUnbind(Lowering &ctx) {
  auto [self, dim] = selfAndDim(ctx);
  if (ctx.hasRefused())
    return failure();
  OpFoldResult size = ctx.sizeOf(self, dim);
  auto count = constantOf(size) ? constantOf(size) : partsTaken(ctx);
  if (!count)
    return ctx.refuse("the number of parts must be known at compile time");
  requireSame(ctx, size, ctx.b.getIndexAttr(*count),
              "a dimension of size %lld is taken apart into %lld");
  OperandList parts;
  for (int64_t i = 0; i < *count; ++i)
    parts.push_back(selectAt(ctx, self, dim, ctx.b.getIndexAttr(i)));
  return ctx.done(Operand(std::move(parts)));
}

Family sliceFamily() {
  static constexpr LoweringRow rows[] = {
      {"torch.aten.slice.Tensor", lowerSlice},
      {"torch.aten.slice_copy.Tensor", lowerSlice},
      {"torch.aten.narrow", lowerNarrow},
      {"torch.aten.narrow_copy", lowerNarrow},
      {"torch.aten.select.int", lowerSelect},
      {"torch.aten.select_copy.int", lowerSelect},
      {"torch.aten.split.Tensor", lowerSplit},
      {"torch.aten.split_copy.Tensor", lowerSplit},
      {"torch.aten.unsafe_split.Tensor", lowerSplit},
      {"torch.aten.split", lowerSplitSizes},
      {"torch.aten.split.sizes", lowerSplitSize},
      {"torch.aten.split_with_sizes", lowerSplitSizes},
      {"torch.aten.split_with_sizes_copy", lowerSplitSizes},
      {"torch.aten.unsafe_split_with_sizes", lowerSplitSizes},
      {"torch.aten.chunk", lowerChunk},
      {"torch.aten.unsafe_chunk", lowerChunk},
      {"torch.aten.tensor_split.sections", lowerTensorSplit},
      {"torch.aten.tensor_split.indices", lowerTensorSplitAt},
      {"torch.aten.hsplit.int", lowerDirectionSplit<1>},
      {"torch.aten.vsplit.int", lowerDirectionSplit<0>},
      {"torch.aten.dsplit.int", lowerDirectionSplit<2>},
      {"torch.aten.hsplit.array", lowerDirectionSplitAt<1>},
      {"torch.aten.vsplit.array", lowerDirectionSplitAt<0>},
      {"torch.aten.dsplit.array", lowerDirectionSplitAt<2>},
      {"torch.aten.unbind.int", lowerUnbind},
      {"torch.aten.unbind_copy.int", lowerUnbind},
  };
  return {"Slices and splits", rows};
}

} // namespace tw::lower
