// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes along one dimension at positions that are data: scatter and its reductions, index_add,
// index_copy, index_fill, index_reduce, put. Where positions repeat without a reduction, the last
// write in row-major order stays. Sums and products of f16 and bf16 are rounded once.
#include "TorchToGraph/Builders/Elementwise/Pointwise.h"
#include "TorchToGraph/Builders/Index.h"
#include "TorchToGraph/Builders/Reshape.h"
#include "TorchToGraph/Families.h"
#include "TorchToGraph/Indexing/Along.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using tw::graph::Combine;

namespace tw::lower {

//===----------------------------------------------------------------------===//
// Reductions by name
//===----------------------------------------------------------------------===//

enum class Reduction { Sum, Prod, Mean, Max, Min };

static std::optional<Reduction> reductionNamed(Lowering &ctx) {
  static constexpr std::pair<StringRef, Reduction> names[] = {
      {"sum", Reduction::Sum},       {"add", Reduction::Sum},   {"prod", Reduction::Prod},
      {"multiply", Reduction::Prod}, {"mean", Reduction::Mean}, {"amax", Reduction::Max},
      {"amin", Reduction::Min}};
  std::string given = ctx.string("reduce");
  for (auto [name, reduction] : names)
    if (name == given)
      return reduction;
  ctx.refuse("reduce is '" + given + "', but must be sum, prod, mean, amax or amin");
  return std::nullopt;
}

static Combine combineOf(Reduction reduction) {
  switch (reduction) {
  case Reduction::Sum:
  case Reduction::Mean:
    return Combine::Add;
  case Reduction::Prod:
    return Combine::Mul;
  case Reduction::Max:
    return Combine::Max;
  case Reduction::Min:
    return Combine::Min;
  }
  return Combine::Add;
}

/// The number that changes nothing.
static Value neutral(const Element &e, Reduction reduction) {
  switch (reduction) {
  case Reduction::Sum:
  case Reduction::Mean:
    return e.constant(0);
  case Reduction::Prod:
    return e.constant(1);
  case Reduction::Max:
    return e.lowest();
  case Reduction::Min:
    return e.highest();
  }
  return e.constant(0);
}

/// Writes `source` (a tensor or a number) at the positions that an operator means.
using WriteFn = llvm::function_ref<Tensor(const Tensor &into, const Operand &source, Combine)>;

/// What all reductions share: without `includeSelf` what was at the positions written to does not
/// count; a mean divides by how many values met there.
static Tensor reduceAt(Lowering &ctx, const Tensor &self, const Operand &source,
                       Reduction reduction, bool includeSelf, WriteFn write) {
  MLIRContext *context = ctx.b.getContext();
  auto sizes = ctx.sizesOf(self);
  Tensor start = castTo(ctx, self, opmath(self.dtype));
  if (!includeSelf) {
    Tensor untouched = ctx.filled(sizes, DType::Bool, Scalar::ofBool(context, true));
    untouched = write(untouched, Scalar::ofBool(context, false), Combine::Set);
    start = pointwiseTyped(ctx, {{untouched, DType::Bool}, {start, start.dtype}}, start.dtype,
                           [&](OpBuilder &b, Location loc, ValueRange x) {
                             Element e(b, loc, start.dtype);
                             return e.select(x[0], x[1], neutral(e, reduction));
                           });
  }
  Tensor result = write(start, source, combineOf(reduction));
  if (reduction != Reduction::Mean)
    return castTo(ctx, result, self.dtype);
  Tensor count = ctx.filled(sizes, DType::I64, Scalar::ofInt(context, includeSelf ? 1 : 0));
  count = write(count, Scalar::ofInt(context, 1), Combine::Add);
  return pointwiseTyped(ctx, {{result, start.dtype}, {count, DType::I64}}, self.dtype,
                        [&](OpBuilder &b, Location loc, ValueRange x) {
                          Element e(b, loc, start.dtype);
                          Element ints = e.as(DType::I64);
                          Value n = e.cast(ints.max(x[1], ints.constant(1)), DType::I64);
                          Value mean = isFloat(start.dtype) ? e.div(x[0], n) : e.floorDiv(x[0], n);
                          return e.as(self.dtype).cast(mean, start.dtype);
                        });
}

//===----------------------------------------------------------------------===//
// scatter
//===----------------------------------------------------------------------===//

static LogicalResult lowerScatter(Lowering &ctx) {
  Tensor self = ctx.tensor("self"), index = ctx.tensor("index");
  int64_t dim = ctx.dim("dim", self.rank());
  const Operand &source = ctx.arg(ctx.has("src") ? "src" : "value");
  if (!source.tensor() && !source.scalar())
    return ctx.refuse("the source must be a tensor or a number");
  Combine combine = Combine::Set;
  if (ctx.has("reduce"))
    if (auto reduction = reductionNamed(ctx))
      combine = combineOf(*reduction);
  return ctx.done(scatterAlong(ctx, self, dim, index, source, combine));
}

static LogicalResult lowerScatterAdd(Lowering &ctx) {
  Tensor self = ctx.tensor("self"), index = ctx.tensor("index");
  int64_t dim = ctx.dim("dim", self.rank());
  return ctx.done(scatterAlong(ctx, self, dim, index, ctx.tensor("src"), Combine::Add));
}

static LogicalResult lowerScatterReduce(Lowering &ctx) {
  Tensor self = ctx.tensor("self"), index = ctx.tensor("index"), source = ctx.tensor("src");
  int64_t dim = ctx.dim("dim", self.rank());
  auto reduction = reductionNamed(ctx);
  if (ctx.hasRefused())
    return failure();
  auto write = [&](const Tensor &into, const Operand &values, Combine combine) {
    return scatterAlong(ctx, into, dim, index, values, combine);
  };
  return ctx.done(reduceAt(ctx, self, source, *reduction, ctx.flag("include_self", true), write));
}

/// grad at the positions from which gather, max, median, ... took their values.
static LogicalResult lowerGatherBackward(Lowering &ctx) {
  Tensor grad = ctx.tensor("grad"), self = ctx.tensor("self"), index = ctx.tensor("index");
  int64_t dim = ctx.dim("dim", self.rank());
  Tensor start = zeros(ctx, ctx.sizesOf(self), grad.dtype);
  return ctx.done(scatterAlong(ctx, start, dim, index, grad, Combine::Add));
}

static LogicalResult lowerSelectingBackward(Lowering &ctx) {
  Tensor grad = ctx.tensor("grad"), index = ctx.tensor("indices");
  auto sizes = ctx.sizes("sizes");
  int64_t dim = ctx.dim("dim", sizes.size());
  if (ctx.hasRefused())
    return failure();
  if (!ctx.flag("keepdim") && !sizes.empty()) {
    grad = unsqueeze(ctx, grad, dim);
    index = unsqueeze(ctx, index, dim);
  }
  return ctx.done(scatterAlong(ctx, zeros(ctx, sizes, grad.dtype), dim, index, grad, Combine::Add));
}

static LogicalResult lowerRunningExtremeBackward(Lowering &ctx) {
  Tensor grad = ctx.tensor("grad"), input = ctx.tensor("input"), index = ctx.tensor("indices");
  int64_t dim = ctx.dim("dim", input.rank());
  Tensor start = zeros(ctx, ctx.sizesOf(input), grad.dtype);
  return ctx.done(scatterAlong(ctx, start, dim, index, grad, Combine::Add));
}

//===----------------------------------------------------------------------===//
// index_add, index_copy, ...: a vector of positions along one dimension
//===----------------------------------------------------------------------===//

namespace {
/// self[..., index, ...] as a place to write to.
struct Rows {
  Tensor self, index; // at least vectors
  int64_t dim;
  Value bound;
};
} // namespace

static std::optional<Rows> rowsOf(Lowering &ctx) {
  Tensor self = ctx.tensor("self"), index = ctx.tensor("index");
  int64_t dim = ctx.dim("dim", self.rank());
  if (index.rank() > 1 || isFloat(index.dtype) || index.dtype == DType::Bool)
    ctx.refuse("index must be a vector of integers");
  if (ctx.hasRefused())
    return std::nullopt;
  self = atLeastVector(ctx, self);
  return Rows{self, atLeastVector(ctx, index), dim,
              IndexMath{ctx.b, ctx.loc}.value(ctx.sizeOf(self, dim))};
}

/// Writes `source`, scaled by `scale` when that is not 1, to the rows of `into`.
static Tensor writeRows(Lowering &ctx, const Rows &rows, const Tensor &into, const Operand &source,
                        Combine combine, const Scalar &scale) {
  auto space = ctx.sizesOf(rows.self);
  space[rows.dim] = ctx.sizeOf(rows.index, 0);
  bool wide = combine == Combine::Add || combine == Combine::Mul;
  DType dtype = wide ? opmath(into.dtype) : into.dtype;
  SmallVector<PlacedInput> inputs = {{rows.index, rows.dim}};
  std::optional<Tensor> values;
  if (auto tensor = source.tensor()) {
    values = atLeastVector(ctx, *tensor);
    if (!ctx.needsRank(*values, rows.self.rank(), "the source"))
      return into;
    for (auto [have, want] : llvm::zip_equal(ctx.sizesOf(*values), space))
      ctx.requireEqual(have, want);
    inputs.push_back({*values, 0});
  } else {
    inputs.push_back({ctx.filled(space, dtype, *source.scalar()), 0});
    values = inputs.back().tensor;
  }
  requireNonEmpty(ctx, ctx.sizeOf(rows.self, rows.dim), space, rows.dim);
  bool isScaled = scale.constantNumber() != 1;
  auto body = [&](ScatterBody &body, ValueRange x) {
    Element e(body.b, body.loc, dtype);
    SmallVector<Value> at = positions(body, rows.self.rank());
    at[rows.dim] = body.safeIndex(x[0], rows.index.dtype, rows.bound, rows.dim, false);
    Value value = e.cast(x[1], values->dtype);
    if (isScaled)
      value = e.mul(value, scale.element(body.b, body.loc, dtype));
    return Update{at, value};
  };
  return wide ? scatterWide(ctx, into, combine, space, inputs, body)
              : scatter(ctx, into, combine, space, inputs, body);
}

/// index_add, index_copy.
template <Combine combine>
static LogicalResult lowerIndexWrite(Lowering &ctx) {
  Tensor source = ctx.tensor("source");
  Scalar alpha = ctx.scalar("alpha", 1);
  auto rows = rowsOf(ctx);
  if (!rows)
    return failure();
  Tensor result = writeRows(ctx, *rows, rows->self, source, combine, alpha);
  return ctx.done(withRankOf(ctx, result, ctx.tensor("self")));
}

static LogicalResult lowerIndexReduce(Lowering &ctx) {
  Tensor source = ctx.tensor("source");
  auto reduction = reductionNamed(ctx);
  auto rows = rowsOf(ctx);
  if (!rows || ctx.hasRefused())
    return failure();
  Scalar one = Scalar::ofInt(ctx.b.getContext(), 1);
  auto write = [&](const Tensor &into, const Operand &values, Combine combine) {
    return writeRows(ctx, *rows, into, values, combine, one);
  };
  Tensor result =
      reduceAt(ctx, rows->self, source, *reduction, ctx.flag("include_self", true), write);
  return ctx.done(withRankOf(ctx, result, ctx.tensor("self")));
}

/// The rows to fill are marked first, then all elements are chosen at once. Indices wrap.
static LogicalResult lowerIndexFill(Lowering &ctx) {
  const Operand &value = ctx.arg("value");
  auto rows = rowsOf(ctx);
  if (!rows)
    return failure();
  MLIRContext *context = ctx.b.getContext();
  auto sizes = ctx.sizesOf(rows->self);
  auto count = ctx.sizesOf(rows->index);
  requireNonEmpty(ctx, sizes[rows->dim], count, rows->dim);
  Tensor marked = scatter(
      ctx, ctx.filled(sizes[rows->dim], DType::Bool, Scalar::ofBool(context, false)), Combine::Set,
      count, PlacedInput{rows->index, 0}, [&](ScatterBody &body, ValueRange x) {
        Value at = body.safeIndex(x[0], rows->index.dtype, rows->bound, rows->dim);
        return Update{{at}, Element(body.b, body.loc, DType::Bool).constant(1)};
      });
  SmallVector<OpFoldResult> aligned(rows->self.rank() - rows->dim, ctx.b.getIndexAttr(1));
  aligned[0] = sizes[rows->dim];
  Tensor result = select(ctx, reshape(ctx, marked, aligned), value, rows->self, rows->self.dtype);
  return ctx.done(withRankOf(ctx, result, ctx.tensor("self")));
}

/// Writes to positions in the flat tensor.
static LogicalResult lowerPut(Lowering &ctx) {
  Tensor self = ctx.tensor("self"), index = ctx.tensor("index"), source = ctx.tensor("source");
  if (ctx.hasRefused())
    return failure();
  auto flatten1 = [&](const Tensor &x) {
    return flatten(ctx, x, 0, std::max<int64_t>(x.rank(), 1) - 1);
  };
  Tensor flat = flatten1(self), at = flatten1(index), values = flatten1(source);
  ctx.requireEqual(ctx.sizeOf(at, 0), ctx.sizeOf(values, 0));
  auto space = ctx.sizesOf(at);
  requireNonEmpty(ctx, ctx.sizeOf(flat, 0), space, 0);
  Value bound = IndexMath{ctx.b, ctx.loc}.value(ctx.sizeOf(flat, 0));
  bool add = ctx.flag("accumulate");
  DType dtype = add ? opmath(self.dtype) : self.dtype;
  auto body = [&](ScatterBody &body, ValueRange x) {
    return Update{{body.safeIndex(x[0], index.dtype, bound, 0)},
                  Element(body.b, body.loc, dtype).cast(x[1], source.dtype)};
  };
  SmallVector<PlacedInput> inputs = {{at, 0}, {values, 0}};
  Tensor result = add ? scatterWide(ctx, flat, Combine::Add, space, inputs, body)
                      : scatter(ctx, flat, Combine::Set, space, inputs, body);
  return ctx.done(reshape(ctx, result, ctx.sizesOf(self)));
}

/// The gradient of index_select.
static LogicalResult lowerIndexSelectBackward(Lowering &ctx) {
  Tensor grad = ctx.tensor("grad"), index = ctx.tensor("index");
  auto sizes = ctx.sizes("self_sizes");
  int64_t dim = ctx.dim("dim", sizes.size());
  if (ctx.hasRefused())
    return failure();
  if (sizes.empty())
    return ctx.done(grad);
  Tensor self = zeros(ctx, sizes, grad.dtype);
  Rows rows{self, atLeastVector(ctx, index), dim, IndexMath{ctx.b, ctx.loc}.value(sizes[dim])};
  return ctx.done(
      writeRows(ctx, rows, self, grad, Combine::Add, Scalar::ofInt(ctx.b.getContext(), 1)));
}

Family scatteringFamily() {
  static constexpr LoweringRow rows[] = {
      {"torch.aten.scatter.src", lowerScatter},
      {"torch.aten.scatter.value", lowerScatter},
      {"torch.aten.scatter.reduce", lowerScatter},
      {"torch.aten.scatter.value_reduce", lowerScatter},
      {"torch.aten.scatter_add", lowerScatterAdd},
      {"torch.aten.scatter_reduce.two", lowerScatterReduce},
      {"torch.aten.gather_backward", lowerGatherBackward},
      {"torch.aten.value_selecting_reduction_backward", lowerSelectingBackward},
      {"torch.aten.cummaxmin_backward", lowerRunningExtremeBackward},
      {"torch.aten.index_add", lowerIndexWrite<Combine::Add>},
      {"torch.aten.index_copy", lowerIndexWrite<Combine::Set>},
      {"torch.aten.index_reduce", lowerIndexReduce},
      {"torch.aten.index_fill.int_Scalar", lowerIndexFill},
      {"torch.aten.index_fill.int_Tensor", lowerIndexFill},
      {"torch.aten.index_select_backward", lowerIndexSelectBackward},
      {"torch.aten.put", lowerPut},
  };
  return {"Scattering", rows};
}

} // namespace tw::lower
