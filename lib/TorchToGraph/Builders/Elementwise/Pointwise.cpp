// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TorchToGraph/Builders/Elementwise/Pointwise.h"
#include "Support/Counted.h"
#include "TorchToGraph/Builders/Index.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include <fmt/format.h>

using namespace mlir;

namespace tw::lower {

SmallVector<OpFoldResult> broadcastSizes(Lowering &ctx, ArrayRef<Tensor> tensors) {
  int64_t rank = 0;
  for (const Tensor &tensor : tensors)
    rank = std::max(rank, tensor.rank());
  SmallVector<OpFoldResult> result(rank, ctx.b.getIndexAttr(1));
  for (const Tensor &tensor : tensors) {
    auto sizes = ctx.sizesOf(tensor);
    for (int64_t i = 0, shift = rank - tensor.rank(); i < tensor.rank(); ++i) {
      OpFoldResult &have = result[i + shift];
      if (constantOf(sizes[i]) == 1)
        continue;
      bool isFirst = constantOf(have) == 1;
      if (!isFirst)
        ctx.requireEqual(have, sizes[i]);
      if (isFirst || constantOf(sizes[i]))
        have = sizes[i];
    }
  }
  return result;
}

AffineMap broadcastMap(RankedTensorType type, ArrayRef<OpFoldResult> sizes) {
  MLIRContext *context = type.getContext();
  int64_t shift = int64_t(sizes.size()) - type.getRank();
  SmallVector<AffineExpr> exprs;
  for (int64_t i = 0; i < type.getRank(); ++i) {
    bool repeated = type.getDimSize(i) == 1 && constantOf(sizes[i + shift]) != 1;
    exprs.push_back(repeated ? getAffineConstantExpr(0, context)
                             : getAffineDimExpr(i + shift, context));
  }
  return AffineMap::get(sizes.size(), 0, exprs, context);
}

SmallVector<Tensor> pointwiseMany(Lowering &ctx, ArrayRef<Tensor> inputs, ArrayRef<DType> dtypes,
                                  ElementsFn body) {
  auto sizes = broadcastSizes(ctx, inputs);
  SmallVector<Value> values, inits;
  SmallVector<AffineMap> maps;
  for (const Tensor &input : inputs) {
    values.push_back(input.value);
    maps.push_back(broadcastMap(input.type(), sizes));
  }
  SmallVector<Tensor> results;
  for (DType dtype : dtypes) {
    results.push_back(ctx.empty(sizes, dtype));
    inits.push_back(results.back().value);
    maps.push_back(ctx.b.getMultiDimIdentityMap(sizes.size()));
  }
  if (ctx.hasRefused())
    return results;
  SmallVector<utils::IteratorType> iterators(sizes.size(), utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(
      ctx.b, ctx.loc, TypeRange(ValueRange(inits)), values, inits, maps, iterators,
      [&](OpBuilder &b, Location loc, ValueRange args) {
        linalg::YieldOp::create(b, loc, body(b, loc, args.take_front(inputs.size())));
      });
  for (auto [result, value] : llvm::zip_equal(results, generic.getResults()))
    result.value = value;
  return results;
}

/// An element of the tensor `input` as the body wants it.
static Value castElement(OpBuilder &b, Location loc, Value x, const TypedInput &input) {
  DType from = input.operand.tensor()->dtype;
  if (input.rounded) {
    x = Element(b, loc, *input.rounded).cast(x, from);
    from = *input.rounded;
  }
  return Element(b, loc, input.dtype).cast(x, from);
}

static bool isIntegerTensor(const Operand &operand) {
  return operand.tensor() && isInteger(operand.tensor()->dtype);
}

/// A tensor of one element, which PyTorch takes for a number where the result has more.
static bool isOneElement(const Operand &operand) {
  auto tensor = operand.tensor();
  return !tensor || llvm::all_of(tensor->type().getShape(), [](int64_t size) { return size == 1; });
}

Tensor pointwiseTyped(Lowering &ctx, ArrayRef<TypedInput> inputs, DType result,
                      TypedElementFn body) {
  SmallVector<Tensor> tensors;
  for (const TypedInput &input : inputs)
    if (auto tensor = input.operand.tensor())
      tensors.push_back(*tensor);
    else if (!input.operand.scalar())
      ctx.refuse("argument " + describe(input.operand) + " is not a tensor or number");
  if (ctx.hasRefused())
    return ctx.empty({}, result);
  return pointwiseMany(ctx, tensors, result,
                       [&](OpBuilder &b, Location loc, ValueRange args) {
                         SmallVector<Value> x;
                         unsigned next = 0;
                         for (const TypedInput &input : inputs)
                           x.push_back(input.operand.tensor()
                                           ? castElement(b, loc, args[next++], input)
                                           : input.operand.scalar()->element(b, loc, input.dtype));
                         return SmallVector<Value>{body(b, loc, x)};
                       })
      .front();
}

Tensor pointwise(Lowering &ctx, ArrayRef<Operand> inputs, DType result, ElementFn body,
                 std::optional<DType> compute) {
  DType dtype = compute.value_or(opmath(result));
  bool promotes = !compute && dtype != result, isOne = llvm::all_of(inputs, isOneElement);
  SmallVector<TypedInput> typed;
  for (const Operand &input : inputs) {
    typed.push_back({input, dtype});
    if (promotes && isIntegerTensor(input) && (isOne || !isOneElement(input)))
      typed.back().rounded = result;
  }
  return pointwiseTyped(ctx, typed, result, [&](OpBuilder &b, Location loc, ValueRange x) {
    Element e(b, loc, dtype);
    Value value = body(e, x);
    DType got = value.getType().isInteger(1) ? DType::Bool : dtype;
    return e.as(result).cast(value, got);
  });
}

Tensor select(Lowering &ctx, const Operand &condition, const Operand &x, const Operand &y,
              DType result) {
  return pointwiseTyped(ctx, {{condition, DType::Bool}, {x, result}, {y, result}}, result,
                        [&](OpBuilder &b, Location loc, ValueRange v) {
                          return Element(b, loc, result).select(v[0], v[1], v[2]);
                        });
}

Tensor castTo(Lowering &ctx, const Tensor &tensor, DType dtype) {
  if (tensor.dtype == dtype)
    return tensor;
  return pointwiseMany(ctx, tensor, dtype,
                       [&](OpBuilder &b, Location loc, ValueRange x) {
                         return SmallVector<Value>{Element(b, loc, dtype).cast(x[0], tensor.dtype)};
                       })
      .front();
}

Tensor broadcastTo(Lowering &ctx, const Tensor &tensor, ArrayRef<OpFoldResult> sizes) {
  auto have = ctx.sizesOf(tensor);
  if (have.size() == sizes.size() && llvm::all_of(llvm::zip(have, sizes), [](auto pair) {
        return knownEqual(std::get<0>(pair), std::get<1>(pair));
      }))
    return tensor;
  if (have.size() > sizes.size()) {
    ctx.refuse(fmt::format("a tensor of {} cannot be expanded to {}",
                           counted(have.size(), "dimension"), sizes.size()));
    return tensor;
  }
  Tensor result = ctx.empty(sizes, tensor.dtype);
  SmallVector<AffineMap> maps = {broadcastMap(tensor.type(), sizes),
                                 ctx.b.getMultiDimIdentityMap(sizes.size())};
  SmallVector<utils::IteratorType> iterators(sizes.size(), utils::IteratorType::parallel);
  auto generic =
      linalg::GenericOp::create(ctx.b, ctx.loc, result.value.getType(), tensor.value, result.value,
                                maps, iterators, [&](OpBuilder &b, Location loc, ValueRange args) {
                                  linalg::YieldOp::create(b, loc, args.front());
                                });
  return {generic.getResult(0), tensor.dtype};
}

AffineMap leadingLoops(MLIRContext *context, int64_t loops, int64_t count) {
  SmallVector<AffineExpr> exprs;
  for (int64_t i = 0; i < count; ++i)
    exprs.push_back(getAffineDimExpr(i, context));
  return AffineMap::get(loops, 0, exprs, context);
}

} // namespace tw::lower
