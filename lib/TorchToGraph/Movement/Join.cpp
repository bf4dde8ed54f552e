// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Several tensors as one: cat and stack in their variants, grids and products of coordinates.
#include "Support/Counted.h"
#include "TorchToGraph/Builders/Bounds.h"
#include "TorchToGraph/Builders/Elementwise/Pointwise.h"
#include "TorchToGraph/Builders/Index.h"
#include "TorchToGraph/Builders/Move.h"
#include "TorchToGraph/Builders/Reshape.h"
#include "TorchToGraph/Families.h"
#include <fmt/format.h>

using namespace mlir;

namespace tw::lower {

using SizeList = SmallVector<OpFoldResult>;

//===----------------------------------------------------------------------===//
// cat and stack
//===----------------------------------------------------------------------===//

/// Refuses tensors that differ in rank or in a size other than that of `dim` (-1: in any).
static void requireMatching(Lowering &ctx, ArrayRef<Tensor> tensors, int64_t dim) {
  SizeList first = ctx.sizesOf(tensors.front());
  for (auto [i, tensor] : llvm::enumerate(tensors)) {
    SizeList sizes = ctx.sizesOf(tensor);
    if (sizes.size() != first.size()) {
      ctx.refuse(fmt::format("tensor 0 has {}, but tensor {} has {}",
                             counted(first.size(), "dimension"), i, sizes.size()));
      return;
    }
    for (int64_t d = 0; d < int64_t(sizes.size()); ++d)
      if (d != dim)
        requireSame(ctx, first[d], sizes[d],
                    fmt::format("dimension {} of tensor 0 has size %lld, but that of tensor {} has "
                                "size %lld",
                                d, i));
  }
}

/// The tensors in the dtype of the result, one after the other.
static LogicalResult join(Lowering &ctx, SmallVector<Tensor> tensors, int64_t dim) {
  if (tensors.empty())
    return ctx.refuse("at least one tensor is needed");
  requireMatching(ctx, tensors, dim);
  DType dtype = ctx.resultDType();
  if (ctx.hasRefused())
    return failure();
  for (Tensor &tensor : tensors)
    tensor = castTo(ctx, tensor, dtype);
  return ctx.done(concat(ctx, tensors, dim));
}

/// As always in PyTorch, vectors without elements are left out whatever the others' ranks.
static bool isLegacyEmpty(const Tensor &tensor) {
  return tensor.rank() == 1 && tensor.size(0) == 0;
}

static LogicalResult lowerCat(Lowering &ctx) {
  SmallVector<Tensor> tensors = ctx.tensors("tensors");
  if (!llvm::all_of(tensors, isLegacyEmpty))
    llvm::erase_if(tensors, isLegacyEmpty);
  if (tensors.empty())
    return ctx.refuse("at least one tensor is needed");
  if (tensors.front().rank() == 0)
    return ctx.refuse("tensors without dimensions cannot be joined");
  return join(ctx, tensors, ctx.dim("dim", tensors.front().rank()));
}

static LogicalResult lowerStack(Lowering &ctx) {
  SmallVector<Tensor> tensors = ctx.tensors("tensors");
  if (tensors.empty())
    return ctx.refuse("at least one tensor is needed");
  requireMatching(ctx, tensors, -1);
  int64_t dim = ctx.dim("dim", tensors.front().rank() + 1);
  if (ctx.hasRefused())
    return failure();
  for (Tensor &tensor : tensors)
    tensor = unsqueeze(ctx, tensor, dim);
  return join(ctx, tensors, dim);
}

/// Each tensor's "dim", padded with zeros to "num_chunks" equal chunks, becomes a dimension of the
/// chunks, before one of all that they hold; these are joined.
static LogicalResult lowerChunkCat(Lowering &ctx) {
  SmallVector<Tensor> tensors = ctx.tensors("tensors");
  int64_t chunks = ctx.integer("num_chunks");
  if (tensors.empty() || chunks < 1)
    return ctx.refuse("at least one tensor and one chunk are needed");
  int64_t dim = ctx.dim("dim", tensors.front().rank());
  if (ctx.hasRefused())
    return failure();
  IndexMath m{ctx.b, ctx.loc};
  for (Tensor &tensor : tensors) {
    if (tensor.rank() <= dim)
      return ctx.refuse("a tensor has " + counted(tensor.rank(), "dimension") +
                        ", but is split along dimension " + std::to_string(dim));
    SizeList sizes = ctx.sizesOf(tensor), low(sizes.size(), m.constant(0)), high = low;
    OpFoldResult each = m.ceilDiv(sizes[dim], m.constant(chunks));
    high[dim] = m.sub(m.mul(each, m.constant(chunks)), sizes[dim]);
    tensor = pad(ctx, tensor, low, high, Scalar::ofInt(ctx.b.getContext(), 0));
    SizeList split(sizes.begin(), sizes.begin() + dim);
    split.append({m.constant(chunks), m.mul(each, m.product(ArrayRef(sizes).drop_front(dim + 1)))});
    tensor = reshape(ctx, tensor, split);
  }
  return join(ctx, tensors, dim + 1);
}

/// Unit dimensions in front, up to `rank`.
static Tensor padRank(Lowering &ctx, Tensor tensor, int64_t rank) {
  while (tensor.rank() < rank)
    tensor = unsqueeze(ctx, tensor, 0);
  return tensor;
}

static LogicalResult lowerHstack(Lowering &ctx) {
  SmallVector<Tensor> tensors = ctx.tensors("tensors");
  for (Tensor &tensor : tensors)
    tensor = padRank(ctx, tensor, 1);
  return join(ctx, tensors, tensors.empty() || tensors.front().rank() == 1 ? 0 : 1);
}

static LogicalResult lowerVstack(Lowering &ctx) {
  SmallVector<Tensor> tensors = ctx.tensors("tensors");
  for (Tensor &tensor : tensors)
    tensor = padRank(ctx, tensor, 2);
  return join(ctx, tensors, 0);
}

static LogicalResult lowerDstack(Lowering &ctx) {
  SmallVector<Tensor> tensors = ctx.tensors("tensors");
  for (Tensor &tensor : tensors) {
    tensor = padRank(ctx, tensor, 2);
    if (tensor.rank() == 2)
      tensor = unsqueeze(ctx, tensor, 2);
  }
  return join(ctx, tensors, 2);
}

/// Numbers and vectors are columns.
static LogicalResult lowerColumnStack(Lowering &ctx) {
  SmallVector<Tensor> tensors = ctx.tensors("tensors");
  for (Tensor &tensor : tensors)
    while (tensor.rank() < 2)
      tensor = unsqueeze(ctx, tensor, tensor.rank());
  return join(ctx, tensors, 1);
}

/// Sequences of different lengths, padded to the longest.
static LogicalResult lowerPadSequence(Lowering &ctx) {
  SmallVector<Tensor> sequences = ctx.tensors("sequences");
  bool batchFirst = ctx.flag("batch_first");
  std::string side = ctx.has("padding_side") ? ctx.string("padding_side") : std::string("right");
  if (side != "left" && side != "right")
    return ctx.refuse("padding_side must be 'left' or 'right', not '" + side + "'");
  if (sequences.empty() || llvm::any_of(sequences, [](const Tensor &t) { return t.rank() == 0; }))
    return ctx.refuse("sequences of at least 1 dimension are needed");
  IndexMath math{ctx.b, ctx.loc};
  OpFoldResult longest = math.constant(0);
  for (const Tensor &sequence : sequences)
    longest = greater(ctx, longest, ctx.sizeOf(sequence, 0));
  for (Tensor &sequence : sequences) {
    SizeList low(sequence.rank(), math.constant(0)), high = low;
    (side == "left" ? low : high)[0] = math.sub(longest, ctx.sizeOf(sequence, 0));
    sequence = pad(ctx, sequence, low, high, ctx.scalar("padding_value"));
    sequence = unsqueeze(ctx, sequence, batchFirst ? 0 : 1);
  }
  return join(ctx, sequences, batchFirst ? 0 : 1);
}

//===----------------------------------------------------------------------===//
// Grids
//===----------------------------------------------------------------------===//

/// Vector i varies along dimension i of a grid of them all; numbers count as vectors of one.
static SmallVector<Tensor> grid(Lowering &ctx, ArrayRef<Tensor> vectors) {
  SizeList sizes;
  for (const Tensor &vector : vectors) {
    if (vector.rank() > 1) {
      ctx.refuse(fmt::format("vectors are needed, not a tensor of {}",
                             counted(vector.rank(), "dimension")));
      return {};
    }
    sizes.push_back(vector.rank() ? ctx.sizeOf(vector, 0) : ctx.b.getIndexAttr(1));
  }
  SmallVector<Tensor> results;
  for (auto [i, vector] : llvm::enumerate(vectors)) {
    SizeList alone(vectors.size(), ctx.b.getIndexAttr(1));
    alone[i] = sizes[i];
    results.push_back(broadcastTo(ctx, reshape(ctx, vector, alone), sizes));
  }
  return results;
}

/// `swap`: the first vector varies along the second dimension, and the reverse.
static LogicalResult meshgrid(Lowering &ctx, bool swap) {
  SmallVector<Tensor> vectors = ctx.tensors("tensors");
  swap &= vectors.size() >= 2;
  if (swap)
    std::swap(vectors[0], vectors[1]);
  SmallVector<Tensor> results = grid(ctx, vectors);
  if (ctx.hasRefused())
    return failure();
  if (swap)
    std::swap(results[0], results[1]);
  return ctx.done(Operand(OperandList(results.begin(), results.end())));
}

static LogicalResult lowerMeshgrid(Lowering &ctx) { return meshgrid(ctx, false); }

static LogicalResult lowerMeshgridIndexing(Lowering &ctx) {
  std::string indexing = ctx.string("indexing");
  if (indexing != "ij" && indexing != "xy")
    return ctx.refuse("indexing must be 'ij' or 'xy', not '" + indexing + "'");
  return meshgrid(ctx, indexing == "xy");
}

static LogicalResult lowerCartesianProduct(Lowering &ctx) {
  SmallVector<Tensor> vectors = ctx.tensors("tensors");
  if (vectors.empty())
    return ctx.refuse("at least one tensor is needed");
  if (vectors.size() == 1)
    return ctx.done(vectors.front());
  SmallVector<Tensor> columns = grid(ctx, vectors);
  if (ctx.hasRefused())
    return failure();
  for (Tensor &column : columns)
    column = unsqueeze(ctx, flatten(ctx, column, 0, column.rank() - 1), 1);
  return join(ctx, columns, 1);
}

/// Matrices along a diagonal, zeros around; numbers and vectors are rows.
static LogicalResult lowerBlockDiag(Lowering &ctx) {
  SmallVector<Tensor> blocks = ctx.tensors("tensors");
  DType dtype = ctx.resultDType();
  IndexMath math{ctx.b, ctx.loc};
  OpFoldResult rows = math.constant(0), columns = math.constant(0);
  for (Tensor &block : blocks) {
    if (block.rank() > 2)
      return ctx.refuse(fmt::format("matrices are needed, not a tensor of {}",
                                    counted(block.rank(), "dimension")));
    block = castTo(ctx, padRank(ctx, block, 2), dtype);
    rows = math.add(rows, ctx.sizeOf(block, 0));
    columns = math.add(columns, ctx.sizeOf(block, 1));
  }
  if (blocks.empty() || ctx.hasRefused())
    return ctx.refuse("at least one tensor is needed");
  Scalar zero = Scalar::ofInt(ctx.b.getContext(), 0);
  OpFoldResult left = math.constant(0);
  for (Tensor &block : blocks) { // each a band of rows as wide as the result
    OpFoldResult right = math.add(left, ctx.sizeOf(block, 1));
    block = pad(ctx, block, {math.constant(0), left}, {math.constant(0), math.sub(columns, right)},
                zero);
    left = right;
  }
  return ctx.done(concat(ctx, blocks, 0));
}

Family joinFamily() {
  static constexpr LoweringRow rows[] = {
      {"torch.aten.cat", lowerCat},
      {"torch.aten._cat", lowerCat},
      {"torch.aten._chunk_cat", lowerChunkCat},
      {"torch.aten.concat", lowerCat},
      {"torch.aten.concatenate", lowerCat},
      {"torch.prims.cat", lowerCat},
      {"torch.aten.stack", lowerStack},
      {"torch.aten._stack", lowerStack},
      {"torch.aten.hstack", lowerHstack},
      {"torch.aten.vstack", lowerVstack},
      {"torch.aten.row_stack", lowerVstack},
      {"torch.aten.dstack", lowerDstack},
      {"torch.aten.column_stack", lowerColumnStack},
      {"torch.aten.pad_sequence", lowerPadSequence},
      {"torch.aten.meshgrid", lowerMeshgrid},
      {"torch.aten.meshgrid.indexing", lowerMeshgridIndexing},
      {"torch.aten.cartesian_prod", lowerCartesianProduct},
      {"torch.aten.block_diag", lowerBlockDiag},
  };
  return {"Joining", rows};
}

} // namespace tw::lower
