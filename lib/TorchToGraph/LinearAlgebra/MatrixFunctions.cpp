// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Norms of matrices and of slices, powers, cross products.
#include "TorchToGraph/Builders/Contract.h"
#include "TorchToGraph/Builders/Index.h"
#include "TorchToGraph/Builders/Indexing/Gather.h"
#include "TorchToGraph/Builders/Reduction/Norm.h"
#include "TorchToGraph/Builders/Reshape.h"
#include "TorchToGraph/Families.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include <cmath>

using namespace mlir;

namespace tw::lower {
namespace {

LogicalResult finish(Lowering &ctx, const Tensor &value) {
  return ctx.done(castTo(ctx, value, ctx.resultDType()));
}

// -- Norms.

/// The dimensions of "dim" in the order given, wrapped; all of them (or `fallback`) when absent.
SmallVector<int64_t> dimsInOrder(Lowering &ctx, int64_t rank, ArrayRef<int64_t> fallback) {
  SmallVector<int64_t> dims = ctx.integers("dim");
  if (dims.empty())
    dims.assign(fallback.begin(), fallback.end());
  for (int64_t &dim : dims) {
    if (dim < -rank || dim >= rank) {
      ctx.refuse("argument 'dim' holds " + Twine(dim) + ", but the tensor has " + Twine(rank) +
                 " dimensions");
      return {};
    }
    dim += dim < 0 ? rank : 0;
  }
  return dims;
}

/// Of matrices: for order +-1 the greatest (smallest) sum of a column's magnitudes, for +-inf of a
/// row's.
LogicalResult matrixNorm(Lowering &ctx, const Tensor &self, ArrayRef<int64_t> dims, double order) {
  bool isOfColumns = std::abs(order) == 1;
  if (!isOfColumns && !std::isinf(order))
    return ctx.refuse("matrix norms of order 2, -2 and 'nuc' need singular values, which are not "
                      "supported");
  Tensor sums = pNorm(ctx, {self, {dims[isOfColumns ? 0 : 1]}, true}, 1);
  ReduceSpace others{sums, {dims[isOfColumns ? 1 : 0]}, true};
  // Of nothing the greatest is 0: no magnitude is less.
  auto greatest = [&] {
    return reduce(
        ctx, others, sums.dtype, [](Element &e) { return e.constant(0); },
        [](Element &e, ValueRange x) { return e.max(x[0], x[1]); });
  };
  Tensor norm = order > 0 ? greatest() : reduceMin(ctx, others);
  if (!ctx.flag("keepdim"))
    norm = dropUnitDims(ctx, norm, dims);
  return finish(ctx, norm);
}

/// linalg_matrix_norm and linalg_norm: vectors, everything, Frobenius, or as above.
LogicalResult lowerLinalgNorm(Lowering &ctx) {
  Tensor self = ctx.tensor("self");
  if (ctx.hasRefused())
    return failure();
  int64_t rank = self.rank();
  bool isMatrix = ctx.name().contains("matrix_norm");
  if (isMatrix && rank < 2)
    return ctx.refuse("the tensor needs at least 2 dimensions");
  SmallVector<int64_t> fallback =
      isMatrix ? SmallVector<int64_t>{rank - 2, rank - 1} : allDims(self);
  SmallVector<int64_t> dims = dimsInOrder(ctx, rank, fallback);
  if (ctx.hasRefused())
    return failure();
  bool isText = ctx.arg("ord").text(), hasOrder = ctx.has("ord");
  bool isFrobenius = isText && (ctx.string("ord") == "fro" || ctx.string("ord").empty());
  if (isText && !isFrobenius)
    return ctx.refuse("matrix norms of order 2, -2 and 'nuc' need singular values, which are not "
                      "supported");
  // Without an order: the 2-norm of all elements, whatever their dimensions.
  double order = hasOrder && !isText ? ctx.number("ord", 2) : 2;
  if (dims.size() == 2 && hasOrder && !isText)
    return matrixNorm(ctx, self, dims, order);
  llvm::sort(dims);
  return finish(ctx, pNorm(ctx, {self, dims, ctx.flag("keepdim")}, order));
}

/// Slices along `dim` whose p-norm is above maxnorm are scaled down to it.
LogicalResult lowerRenorm(Lowering &ctx) {
  Tensor self = ctx.tensor("self");
  int64_t dim = ctx.dim("dim", self.rank());
  double limit = ctx.number("maxnorm");
  SmallVector<int64_t> others = allDims(self);
  llvm::erase(others, dim);
  Tensor norm = pNorm(ctx, {self, others, true}, ctx.number("p", 2));
  return ctx.done(pointwise(ctx, {self, norm}, ctx.resultDType(), [&](Element &e, ValueRange x) {
    Value factor = e.div(e.constant(limit), e.add(x[1], e.constant(1e-7)));
    Value isLong = e.gt(x[1], e.constant(limit));
    return e.mul(x[0], e.select(isLong, factor, e.constant(1)));
  }));
}

// -- Weight normalisation: the 2-norm over all dimensions but one.

SmallVector<int64_t> allBut(Lowering &ctx, const Tensor &v) {
  SmallVector<int64_t> dims = allDims(v);
  if (ctx.integer("dim") != -1)
    llvm::erase(dims, ctx.dim("dim", v.rank()));
  return dims;
}

LogicalResult lowerNormExceptDim(Lowering &ctx) {
  Tensor v = ctx.tensor("v");
  bool keeps = ctx.integer("dim") != -1;
  return finish(ctx, pNorm(ctx, {v, allBut(ctx, v), keeps}, double(ctx.integer("pow", 2))));
}

/// v g / norm; the "interface" overload yields the norm too.
LogicalResult lowerWeightNorm(Lowering &ctx) {
  Tensor v = ctx.tensor("v"), g = ctx.tensor("g");
  Tensor norm = pNorm(ctx, {v, allBut(ctx, v), true}, 2);
  Tensor w = pointwise(ctx, {v, g, norm}, ctx.resultDType(),
                       [](Element &e, ValueRange x) { return e.mul(x[0], e.div(x[1], x[2])); });
  if (ctx.op->getNumResults() == 1)
    return ctx.done(w);
  return ctx.done({w, castTo(ctx, norm, ctx.resultDType(1))});
}

/// With s = sum of dw v: dv = g / norm (dw - v s / norm^2), dg = s / norm.
LogicalResult lowerWeightNormBackward(Lowering &ctx) {
  Tensor dw = ctx.tensor("grad_w"), v = ctx.tensor("saved_v"), g = ctx.tensor("saved_g"),
         norm = ctx.tensor("saved_norms");
  if (ctx.hasRefused())
    return failure();
  Tensor sum = reduce(
      ctx, {dw, allBut(ctx, dw), true}, opmath(dw.dtype), [](Element &e) { return e.constant(0); },
      [](Element &e, ValueRange x) { return e.add(x[0], e.mul(x[1], x[2])); }, v);
  Tensor dv =
      pointwise(ctx, {dw, v, g, norm, sum}, ctx.resultDType(0), [](Element &e, ValueRange x) {
        Value along = e.div(x[4], e.mul(x[3], x[3]));
        return e.mul(e.div(x[2], x[3]), e.sub(x[0], e.mul(x[1], along)));
      });
  Tensor dg = pointwise(ctx, {sum, norm}, ctx.resultDType(1),
                        [](Element &e, ValueRange x) { return e.div(x[0], x[1]); });
  return ctx.done({dv, dg});
}

// -- Products.

/// By squaring; power 0 is the identity.
LogicalResult lowerMatrixPower(Lowering &ctx) {
  Tensor self = ctx.tensor("self");
  int64_t power = ctx.integer("n");
  if (power < 0)
    return ctx.refuse("a negative power needs the inverse of a matrix, which is not supported");
  if (self.rank() < 2)
    return ctx.refuse("the tensor needs at least 2 dimensions");
  int64_t rank = self.rank();
  if (power == 0)
    return ctx.done(
        gather(ctx, ctx.sizesOf(self), self.dtype, {}, [&](GatherBody &body, ValueRange) {
          Value isDiagonal =
              arith::CmpIOp::create(body.b, body.loc, arith::CmpIPredicate::eq,
                                    body.position(rank - 2), body.position(rank - 1));
          return Element(body.b, body.loc, self.dtype).cast(isDiagonal, DType::Bool);
        }));
  std::optional<Tensor> result;
  for (Tensor square = self;; square = matmul(ctx, square, square)) {
    if (power & 1)
      result = result ? matmul(ctx, *result, square) : square;
    power >>= 1;
    if (power == 0)
      return finish(ctx, *result);
  }
}

/// The dimension of a cross product: "dim", or the first one of size 3.
int64_t crossDim(Lowering &ctx, ArrayRef<OpFoldResult> sizes) {
  int64_t fallback = -1;
  if (ctx.name() == "torch.aten.cross" && !ctx.has("dim"))
    for (int64_t i = sizes.size() - 1; i >= 0; --i)
      fallback = constantOf(sizes[i]) == 3 ? i : fallback;
  return ctx.dim("dim", sizes.size(), fallback);
}

/// Element i: a[i + 1] b[i + 2] - a[i + 2] b[i + 1], positions modulo 3.
LogicalResult lowerCross(Lowering &ctx) {
  Tensor a = ctx.tensor("self"), b = ctx.tensor("other");
  auto sizes = broadcastSizes(ctx, {a, b});
  int64_t dim = crossDim(ctx, sizes);
  if (ctx.hasRefused())
    return failure();
  if (sizes.empty() || constantOf(sizes[dim]) != 3)
    return ctx.refuse("the dimension of the cross product must have size 3");
  DType result = ctx.resultDType(), dtype = opmath(result);
  a = broadcastTo(ctx, castTo(ctx, a, result), sizes);
  b = broadcastTo(ctx, castTo(ctx, b, result), sizes);
  return ctx.done(gather(ctx, sizes, result, {}, [&](GatherBody &body, ValueRange) {
    Element e(body.b, body.loc, dtype);
    SmallVector<Value> at;
    for (size_t i = 0; i < sizes.size(); ++i)
      at.push_back(body.position(i));
    Value own = at[dim];
    auto read = [&](const Tensor &tensor, int64_t step) {
      Value moved = arith::AddIOp::create(body.b, body.loc, own, body.constant(step));
      at[dim] = arith::RemUIOp::create(body.b, body.loc, moved, body.constant(3));
      return e.cast(body.read(tensor, at), result);
    };
    Value first = e.mul(read(a, 1), read(b, 2)), second = e.mul(read(a, 2), read(b, 1));
    return e.as(result).cast(e.sub(first, second), dtype);
  }));
}

} // namespace

Family matrixFunctionsFamily() {
  static constexpr LoweringRow rows[] = {
      {"torch.aten.linalg_norm", lowerLinalgNorm},
      {"torch.aten.linalg_norm.ord_str", lowerLinalgNorm},
      {"torch.aten.linalg_matrix_norm", lowerLinalgNorm},
      {"torch.aten.linalg_matrix_norm.str_ord", lowerLinalgNorm},
      {"torch.aten.renorm", lowerRenorm},
      {"torch.aten.norm_except_dim", lowerNormExceptDim},
      {"torch.aten._weight_norm", lowerWeightNorm},
      {"torch.aten._weight_norm_interface", lowerWeightNorm},
      {"torch.aten._weight_norm_interface_backward", lowerWeightNormBackward},
      {"torch.aten.matrix_power", lowerMatrixPower},
      {"torch.aten.linalg_matrix_power", lowerMatrixPower},
      {"torch.aten.cross", lowerCross},
      {"torch.aten.linalg_cross", lowerCross},
  };
  return {"Functions of matrices", rows};
}

} // namespace tw::lower
