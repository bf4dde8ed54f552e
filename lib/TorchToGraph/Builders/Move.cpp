// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TorchToGraph/Builders/Move.h"
#include "TorchToGraph/Builders/Index.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace tw::lower {

Tensor permute(Lowering &ctx, const Tensor &tensor, ArrayRef<int64_t> permutation) {
  if (llvm::equal(permutation, llvm::seq<int64_t>(0, tensor.rank())))
    return tensor;
  auto sizes = ctx.sizesOf(tensor);
  SmallVector<OpFoldResult> permuted;
  for (int64_t from : permutation)
    permuted.push_back(sizes[from]);
  Value init = ctx.empty(permuted, tensor.dtype).value;
  auto op = linalg::TransposeOp::create(ctx.b, ctx.loc, tensor.value, init, permutation);
  return {op->getResult(0), tensor.dtype};
}

Tensor transpose(Lowering &ctx, const Tensor &tensor, int64_t a, int64_t b) {
  auto permutation = llvm::to_vector(llvm::seq<int64_t>(0, tensor.rank()));
  if (a != b)
    std::swap(permutation[a], permutation[b]);
  return permute(ctx, tensor, permutation);
}

namespace {
/// The offsets, sizes and strides of a slice in one dimension.
struct SliceSpace {
  SmallVector<OpFoldResult> offsets, sizes, strides;

  SliceSpace(OpBuilder &b, ArrayRef<OpFoldResult> whole, int64_t dim, OpFoldResult start,
             OpFoldResult length, int64_t step)
      : offsets(whole.size(), b.getIndexAttr(0)), sizes(whole),
        strides(whole.size(), b.getIndexAttr(1)) {
    offsets[dim] = start, sizes[dim] = length, strides[dim] = b.getIndexAttr(step);
  }
};
} // namespace

/// Whether it is known that there are no elements. MLIR takes no slices of or at the end of
/// nothing.
static bool isEmpty(ArrayRef<OpFoldResult> sizes) {
  return llvm::any_of(sizes, [](OpFoldResult size) { return constantOf(size) == 0; });
}

Tensor slice(Lowering &ctx, const Tensor &tensor, int64_t dim, OpFoldResult start,
             OpFoldResult length, int64_t step) {
  auto whole = ctx.sizesOf(tensor);
  if (constantOf(start) == 0 && step == 1 && knownEqual(length, whole[dim]))
    return tensor;
  if (constantOf(length) == 0 || isEmpty(whole)) {
    whole[dim] = length;
    return ctx.filled(whole, tensor.dtype, Scalar::ofInt(ctx.b.getContext(), 0));
  }
  SliceSpace space(ctx.b, whole, dim, start, length, step);
  return {tensor::ExtractSliceOp::create(ctx.b, ctx.loc, tensor.value, space.offsets, space.sizes,
                                         space.strides),
          tensor.dtype};
}

Tensor insertSlice(Lowering &ctx, const Tensor &source, const Tensor &into, int64_t dim,
                   OpFoldResult start, int64_t step) {
  if (isEmpty(ctx.sizesOf(source)))
    return into;
  SliceSpace space(ctx.b, ctx.sizesOf(source), dim, start, ctx.sizeOf(source, dim), step);
  return {tensor::InsertSliceOp::create(ctx.b, ctx.loc, source.value, into.value, space.offsets,
                                        space.sizes, space.strides),
          into.dtype};
}

Tensor pad(Lowering &ctx, const Tensor &tensor, ArrayRef<OpFoldResult> low,
           ArrayRef<OpFoldResult> high, const Scalar &value) {
  auto isZero = [](OpFoldResult x) { return constantOf(x) == 0; };
  if (llvm::all_of(low, isZero) && llvm::all_of(high, isZero))
    return tensor;
  Value element = value.element(ctx.b, ctx.loc, tensor.dtype);
  IndexMath math{ctx.b, ctx.loc};
  SmallVector<OpFoldResult> sizes = ctx.sizesOf(tensor);
  for (auto [size, before, after] : llvm::zip_equal(sizes, low, high))
    size = math.add(math.add(size, before), after);
  auto type = RankedTensorType::get(staticSizes(sizes), tensor.type().getElementType());
  auto op = tensor::PadOp::create(ctx.b, ctx.loc, type, tensor.value, low, high, element);
  ctx.allSizes().set(op.getResult(), sizes);
  return {op.getResult(), tensor.dtype};
}

Tensor concat(Lowering &ctx, ArrayRef<Tensor> tensors, int64_t dim) {
  if (tensors.size() == 1)
    return tensors.front();
  SmallVector<Value> values;
  for (const Tensor &tensor : tensors)
    values.push_back(tensor.value);
  return {tensor::ConcatOp::create(ctx.b, ctx.loc, dim, values), tensors.front().dtype};
}

} // namespace tw::lower
