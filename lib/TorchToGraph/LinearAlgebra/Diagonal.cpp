// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Diagonals and triangles of matrices.
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
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include <fmt/format.h>

using namespace mlir;

namespace tw::lower {

using SizeList = SmallVector<OpFoldResult>;

namespace {

/// The elements whose position in dimension `columns` is that in `rows` plus `offset`.
struct Diagonal {
  int64_t rows = 0, columns = 1, offset = 0;
};

} // namespace

/// An offset, kept from making sums overflow.
static int64_t readOffset(Lowering &ctx, StringRef name) {
  constexpr int64_t far = int64_t(1) << 40; // beyond every tensor
  return std::clamp(ctx.integer(name, 0), -far, far);
}

/// The arguments dim1, dim2 and offset for a tensor of `rank`.
static Diagonal readDiagonal(Lowering &ctx, int64_t rank, int64_t dim1 = 0, int64_t dim2 = 1) {
  Diagonal diagonal{ctx.dim("dim1", rank, dim1), ctx.dim("dim2", rank, dim2),
                    readOffset(ctx, "offset")};
  if (rank < 2)
    ctx.refuse(fmt::format("a tensor of at least 2 dimensions is needed, not {}", rank));
  else if (diagonal.rows == diagonal.columns)
    ctx.refuse(fmt::format("dim1 and dim2 are both {}, but must differ", diagonal.rows));
  return diagonal;
}

/// How many elements a diagonal of a tensor of `sizes` has.
static OpFoldResult lengthOf(Lowering &ctx, const Diagonal &diagonal, const SizeList &sizes) {
  IndexMath math{ctx.b, ctx.loc};
  OpFoldResult rows = sizes[diagonal.rows], columns = sizes[diagonal.columns];
  if (diagonal.offset >= 0)
    columns = math.sub(columns, math.constant(diagonal.offset));
  else
    rows = math.add(rows, math.constant(diagonal.offset));
  return greater(ctx, smaller(ctx, rows, columns), math.constant(0));
}

/// The dimensions of a tensor of `rank` other than the diagonal's two.
static SmallVector<int64_t> otherDims(const Diagonal &diagonal, int64_t rank) {
  SmallVector<int64_t> dims;
  for (int64_t i = 0; i < rank; ++i)
    if (i != diagonal.rows && i != diagonal.columns)
      dims.push_back(i);
  return dims;
}

/// The diagonal as the last dimension after the others.
static Tensor readDiagonal(Lowering &ctx, const Tensor &self, const Diagonal &diagonal) {
  SizeList from = ctx.sizesOf(self), sizes;
  SmallVector<int64_t> others = otherDims(diagonal, self.rank());
  for (int64_t dim : others)
    sizes.push_back(from[dim]);
  sizes.push_back(lengthOf(ctx, diagonal, from));
  return gather(ctx, agreedSizes(ctx, sizes), self.dtype, {}, [&](GatherBody &body, ValueRange) {
    SmallVector<Value> coordinates(self.rank());
    for (auto [i, dim] : llvm::enumerate(others))
      coordinates[dim] = body.position(i);
    Value place = body.position(others.size());
    auto shifted = [&](int64_t by) -> Value {
      return by <= 0
                 ? place
                 : arith::AddIOp::create(body.b, body.loc, place, body.constant(by)).getResult();
    };
    coordinates[diagonal.rows] = shifted(-diagonal.offset);
    coordinates[diagonal.columns] = shifted(diagonal.offset);
    return body.read(self, coordinates);
  });
}

/// Whether the current position of a structured op lies where column - row `predicate` offset.
static Value compareToDiagonal(OpBuilder &b, Location loc, const Diagonal &diagonal, Value offset,
                               arith::CmpIPredicate predicate) {
  Value row = linalg::IndexOp::create(b, loc, diagonal.rows);
  Value column = linalg::IndexOp::create(b, loc, diagonal.columns);
  Value distance = arith::SubIOp::create(b, loc, column, row);
  return arith::CmpIOp::create(b, loc, predicate, distance, offset);
}

/// `into` with its diagonal replaced by `source`: one elementwise operation, for which the source
/// is padded to one element a row.
static Tensor writeDiagonal(Lowering &ctx, const Tensor &into, const Tensor &source,
                            const Diagonal &diagonal) {
  IndexMath math{ctx.b, ctx.loc};
  SizeList sizes = ctx.sizesOf(into);
  SmallVector<int64_t> order = otherDims(diagonal, into.rank());
  if (int64_t(order.size()) + 1 != source.rank()) {
    ctx.refuse(fmt::format("the diagonal has {}, but what is written to it {}",
                           counted(order.size() + 1, "dimension"), source.rank()));
    return into;
  }
  SizeList have = ctx.sizesOf(source), low(source.rank(), math.constant(0)), high = low;
  for (auto [i, dim] : llvm::enumerate(order))
    requireSame(ctx, sizes[dim], have[i],
                "a diagonal of a dimension of size %lld cannot be written from one of %lld");
  OpFoldResult length = lengthOf(ctx, diagonal, sizes);
  requireSame(ctx, length, have.back(), "a diagonal of %lld elements cannot be written from %lld");
  if (ctx.hasRefused())
    return into;
  OpFoldResult rows = sizes[diagonal.rows];
  low.back() = smaller(ctx, math.constant(std::max<int64_t>(-diagonal.offset, 0)), rows);
  high.back() = math.sub(math.sub(rows, low.back()), length);
  Tensor column = pad(ctx, source, low, high, Scalar::ofInt(ctx.b.getContext(), 0));
  column = unsqueeze(ctx, column, source.rank()); // others..., row, 1
  order.append({diagonal.rows, diagonal.columns});
  SmallVector<int64_t> inverse(order.size());
  for (auto [i, dim] : llvm::enumerate(order))
    inverse[dim] = i;
  column = permute(ctx, column, inverse);
  Value offset = arith::ConstantIndexOp::create(ctx.b, ctx.loc, diagonal.offset);
  return pointwiseMany(ctx, {into, column}, into.dtype,
                       [&](OpBuilder &b, Location loc, ValueRange x) {
                         Value on =
                             compareToDiagonal(b, loc, diagonal, offset, arith::CmpIPredicate::eq);
                         return SmallVector<Value>{
                             arith::SelectOp::create(b, loc, on, x[1], x[0]).getResult()};
                       })
      .front();
}

static Tensor zerosOf(Lowering &ctx, ArrayRef<OpFoldResult> sizes, DType dtype) {
  return ctx.filled(sizes, dtype, Scalar::ofInt(ctx.b.getContext(), 0));
}

//===----------------------------------------------------------------------===//
// Operators on diagonals
//===----------------------------------------------------------------------===//

static LogicalResult lowerDiagonal(Lowering &ctx) {
  Tensor self = ctx.tensor("self");
  Diagonal diagonal = readDiagonal(ctx, self.rank());
  return ctx.hasRefused() ? failure() : ctx.done(readDiagonal(ctx, self, diagonal));
}

static LogicalResult lowerLinalgDiagonal(Lowering &ctx) {
  Tensor self = ctx.tensor("A");
  Diagonal diagonal = readDiagonal(ctx, self.rank(), -2, -1);
  return ctx.hasRefused() ? failure() : ctx.done(readDiagonal(ctx, self, diagonal));
}

static LogicalResult lowerTrace(Lowering &ctx) {
  Tensor self = ctx.tensor("self");
  if (!ctx.needsRank(self, 2, "the tensor"))
    return failure();
  SizeList sizes = ctx.sizesOf(self);
  Tensor along =
      gather(ctx, lengthOf(ctx, {}, sizes), self.dtype, {}, [&](GatherBody &body, ValueRange) {
        return body.read(self, {body.position(0), body.position(0)});
      });
  DType dtype = ctx.resultDType();
  return ctx.done(castTo(ctx, reduceSum(ctx, {along, {0}}, accumulator(dtype)), dtype));
}

/// A square matrix with the last dimension as a diagonal, in two new dimensions at the end.
static Tensor embed(Lowering &ctx, const Tensor &self, int64_t offset) {
  IndexMath math{ctx.b, ctx.loc};
  SizeList sizes = ctx.sizesOf(self);
  OpFoldResult side = math.add(sizes.back(), math.constant(std::abs(offset)));
  sizes.back() = side;
  sizes.push_back(side);
  return writeDiagonal(ctx, zerosOf(ctx, sizes, self.dtype), self,
                       {self.rank() - 1, self.rank(), offset});
}

static LogicalResult lowerDiagEmbed(Lowering &ctx) {
  Tensor self = ctx.tensor("self");
  if (self.rank() == 0)
    return ctx.refuse("a tensor of at least 1 dimension is needed, not 0");
  Diagonal diagonal = readDiagonal(ctx, self.rank() + 1, -2, -1);
  if (ctx.hasRefused())
    return failure();
  Tensor embedded = embed(ctx, self, diagonal.offset);
  if (ctx.hasRefused())
    return failure();
  SmallVector<int64_t> order(embedded.rank());
  for (auto [i, dim] : llvm::enumerate(otherDims(diagonal, embedded.rank())))
    order[dim] = i;
  order[diagonal.rows] = self.rank() - 1;
  order[diagonal.columns] = self.rank();
  return ctx.done(permute(ctx, embedded, order));
}

/// A matrix of a vector, or a vector of a matrix.
static LogicalResult lowerDiag(Lowering &ctx) {
  Tensor self = ctx.tensor("self");
  int64_t offset = readOffset(ctx, "diagonal");
  if (self.rank() != 1 && self.rank() != 2)
    return ctx.refuse(fmt::format("a tensor of 1 or 2 dimensions is needed, not {}", self.rank()));
  if (ctx.hasRefused())
    return failure();
  return ctx.done(self.rank() == 1 ? embed(ctx, self, offset)
                                   : readDiagonal(ctx, self, {0, 1, offset}));
}

static LogicalResult lowerDiagFlat(Lowering &ctx) {
  Tensor self = ctx.tensor("self");
  int64_t offset = readOffset(ctx, "offset");
  Tensor flat = flatten(ctx, self, 0, std::max<int64_t>(self.rank() - 1, 0));
  return ctx.hasRefused() ? failure() : ctx.done(embed(ctx, flat, offset));
}

static LogicalResult lowerDiagonalScatter(Lowering &ctx) {
  Tensor self = ctx.tensor("self"), source = castTo(ctx, ctx.tensor("src"), self.dtype);
  Diagonal diagonal = readDiagonal(ctx, self.rank());
  return ctx.hasRefused() ? failure() : ctx.done(writeDiagonal(ctx, self, source, diagonal));
}

static LogicalResult lowerDiagonalBackward(Lowering &ctx) {
  Tensor gradient = ctx.tensor("grad_output");
  SizeList sizes = ctx.sizes("input_sizes");
  Diagonal diagonal = readDiagonal(ctx, sizes.size());
  if (ctx.hasRefused())
    return failure();
  Tensor into = zerosOf(ctx, agreedSizes(ctx, sizes), gradient.dtype);
  return ctx.done(writeDiagonal(ctx, into, gradient, diagonal));
}

static LogicalResult lowerTraceBackward(Lowering &ctx) {
  Tensor gradient = ctx.tensor("grad");
  SizeList sizes = ctx.sizes("sizes");
  if (sizes.size() != 2 || gradient.rank() != 0)
    return ctx.refuse(
        fmt::format("a matrix's sizes and a gradient without dimensions are needed, not {} and {}",
                    counted(sizes.size(), "size"), counted(gradient.rank(), "dimension")));
  Tensor along = broadcastTo(ctx, gradient, lengthOf(ctx, {}, sizes));
  Tensor into = zerosOf(ctx, agreedSizes(ctx, sizes), gradient.dtype);
  return ctx.hasRefused() ? failure() : ctx.done(writeDiagonal(ctx, into, along, {}));
}

//===----------------------------------------------------------------------===//
// Triangles
//===----------------------------------------------------------------------===//

/// Zeros on the other side of the diagonal.
template <bool lower>
static LogicalResult lowerTriangle(Lowering &ctx) {
  Tensor self = ctx.tensor("self");
  if (self.rank() < 2)
    return ctx.refuse(
        fmt::format("a tensor of at least 2 dimensions is needed, not {}", self.rank()));
  OpFoldResult given = ctx.has("diagonal") ? ctx.size("diagonal") : ctx.b.getIndexAttr(0);
  if (ctx.hasRefused())
    return failure();
  Value offset = IndexMath{ctx.b, ctx.loc}.value(given);
  Diagonal last{self.rank() - 2, self.rank() - 1};
  auto predicate = lower ? arith::CmpIPredicate::sle : arith::CmpIPredicate::sge;
  return ctx.done(
      pointwiseMany(ctx, self, self.dtype, [&](OpBuilder &b, Location loc, ValueRange x) {
        Value inside = compareToDiagonal(b, loc, last, offset, predicate);
        Value zero = Element(b, loc, self.dtype).constant(0);
        return SmallVector<Value>{arith::SelectOp::create(b, loc, inside, x[0], zero).getResult()};
      }).front());
}

Family diagonalFamily() {
  static constexpr LoweringRow rows[] = {
      {"torch.aten.diagonal", lowerDiagonal},
      {"torch.aten.diagonal_copy", lowerDiagonal},
      {"torch.aten.linalg_diagonal", lowerLinalgDiagonal},
      {"torch.aten.diag", lowerDiag},
      {"torch.aten.diagflat", lowerDiagFlat},
      {"torch.aten.diag_embed", lowerDiagEmbed},
      {"torch.aten.diagonal_scatter", lowerDiagonalScatter},
      {"torch.aten.diagonal_backward", lowerDiagonalBackward},
      {"torch.aten.trace", lowerTrace},
      {"torch.aten.trace_backward", lowerTraceBackward},
      {"torch.aten.tril", lowerTriangle<true>},
      {"torch.aten.triu", lowerTriangle<false>},
  };
  return {"Diagonals and triangles", rows};
}

} // namespace tw::lower
