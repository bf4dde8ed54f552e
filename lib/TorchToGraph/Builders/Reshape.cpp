// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TorchToGraph/Builders/Reshape.h"
#include "TorchToGraph/Builders/Bounds.h"
#include "TorchToGraph/Builders/Index.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace tw::lower {

using SizeList = SmallVector<OpFoldResult>;

namespace {

/// Dimensions [from, fromEnd) of the old shape become [to, toEnd) of the new one.
struct Group {
  unsigned from, fromEnd, to, toEnd;
};

bool isOne(OpFoldResult size) { return constantOf(size) == 1; }

/// The smallest group that starts at (i, j) and holds equally many elements on both sides; up to
/// the ends of both when none is known to.
Group groupAt(ArrayRef<OpFoldResult> from, ArrayRef<OpFoldResult> to, unsigned i, unsigned j) {
  for (unsigned total = 2; total <= from.size() - i + to.size() - j; ++total)
    for (unsigned taken = 1; taken < total; ++taken) {
      unsigned fromEnd = i + taken, toEnd = j + total - taken;
      if (fromEnd <= from.size() && toEnd <= to.size() &&
          knownEqualProducts(from.slice(i, taken), to.slice(j, total - taken)))
        return {i, fromEnd, j, toEnd};
    }
  return {i, unsigned(from.size()), j, unsigned(to.size())};
}

/// Cuts both shapes into matching groups; dimensions of size 1 left at an end join the last group.
SmallVector<Group> matchGroups(ArrayRef<OpFoldResult> from, ArrayRef<OpFoldResult> to) {
  SmallVector<Group> groups;
  unsigned i = 0, j = 0;
  while (i < from.size() && j < to.size()) {
    groups.push_back(groupAt(from, to, i, j));
    i = groups.back().fromEnd, j = groups.back().toEnd;
  }
  if (i < from.size() || j < to.size()) {
    bool onlyOnes =
        llvm::all_of(from.drop_front(i), isOne) && llvm::all_of(to.drop_front(j), isOne);
    if (groups.empty() || !onlyOnes)
      return {{0, unsigned(from.size()), 0, unsigned(to.size())}};
    groups.back().fromEnd = from.size(), groups.back().toEnd = to.size();
  }
  return groups;
}

} // namespace

static Value collapse(Lowering &ctx, Value value, ArrayRef<ReassociationIndices> groups) {
  if (groups.size() == size_t(cast<RankedTensorType>(value.getType()).getRank()))
    return value;
  auto type = cast<RankedTensorType>(value.getType());
  if (groups.empty() && !type.hasStaticShape()) { // to a scalar: all sizes must be seen to be 1
    SmallVector<int64_t> ones(type.getRank(), 1);
    value = tensor::CastOp::create(ctx.b, ctx.loc, type.clone(ones), value);
  }
  return tensor::CollapseShapeOp::create(ctx.b, ctx.loc, value, groups);
}

static Value expand(Lowering &ctx, Value value, ArrayRef<OpFoldResult> sizes,
                    ArrayRef<ReassociationIndices> groups) {
  auto type = cast<RankedTensorType>(value.getType());
  if (groups.size() == sizes.size() && type.getRank() == int64_t(sizes.size()))
    return value;
  // What is static after must be static before and the reverse, or MLIR's verifier objects.
  SmallVector<int64_t> before(type.getShape());
  for (auto [size, group] : llvm::zip(before, groups)) {
    int64_t product = 1;
    for (int64_t i : group) {
      auto known = constantOf(sizes[i]);
      product = known && !ShapedType::isDynamic(product) ? product * *known : ShapedType::kDynamic;
    }
    size = product;
  }
  if (type.clone(before) != type)
    value = tensor::CastOp::create(ctx.b, ctx.loc, type.clone(before), value);
  return tensor::ExpandShapeOp::create(ctx.b, ctx.loc, type.clone(staticSizes(sizes)), value,
                                       groups, sizes);
}

Tensor reshape(Lowering &ctx, const Tensor &tensor, ArrayRef<OpFoldResult> sizes) {
  SizeList from = ctx.sizesOf(tensor);
  if (!knownEqualProducts(from, sizes)) {
    IndexMath math{ctx.b, ctx.loc};
    requireSizes(ctx, sizes);
    requireSame(ctx, math.product(from), math.product(sizes),
                "a tensor of %lld elements cannot have a shape of %lld");
  }
  if (ctx.hasRefused())
    return ctx.empty(sizes, tensor.dtype);
  if (llvm::any_of(sizes, [](OpFoldResult size) { return constantOf(size) == 0; }))
    return ctx.filled(sizes, tensor.dtype, Scalar::ofInt(ctx.b.getContext(), 0));
  SmallVector<ReassociationIndices> collapsed, expanded;
  if (!from.empty() && !sizes.empty())
    for (const Group &group : matchGroups(from, sizes)) {
      collapsed.push_back(llvm::to_vector(llvm::seq<int64_t>(group.from, group.fromEnd)));
      expanded.push_back(llvm::to_vector(llvm::seq<int64_t>(group.to, group.toEnd)));
    }
  Value value = collapse(ctx, tensor.value, collapsed);
  if (value == tensor.value && collapsed.size() == sizes.size() && from.size() == sizes.size())
    return tensor;
  return {expand(ctx, value, sizes, expanded), tensor.dtype};
}

SizeList resolveSizes(Lowering &ctx, OpFoldResult elements, ArrayRef<OpFoldResult> sizes) {
  IndexMath math{ctx.b, ctx.loc};
  SizeList result(sizes);
  OpFoldResult *open = nullptr;
  OpFoldResult others = math.constant(1);
  for (OpFoldResult &size : result) {
    if (constantOf(size) != -1)
      others = math.mul(others, size);
    else if (open)
      ctx.refuse("only one size can be -1, but two are");
    else
      open = &size;
  }
  if (!open)
    return result;
  if (constantOf(others) == 0) {
    ctx.refuse("the size that is -1 is not determined when another is 0");
    return result;
  }
  auto exact = math.exactDiv(elements, others);
  *open = exact ? *exact : math.floorDiv(elements, greater(ctx, others, math.constant(1)));
  return result;
}

SizeList resolveSizes(Lowering &ctx, const Tensor &tensor, ArrayRef<OpFoldResult> sizes) {
  return resolveSizes(ctx, IndexMath{ctx.b, ctx.loc}.product(ctx.sizesOf(tensor)), sizes);
}

Tensor flatten(Lowering &ctx, const Tensor &tensor, int64_t first, int64_t last) {
  SizeList sizes = ctx.sizesOf(tensor);
  if (sizes.empty())
    return reshape(ctx, tensor, OpFoldResult(ctx.b.getIndexAttr(1)));
  IndexMath math{ctx.b, ctx.loc};
  SizeList result(ArrayRef(sizes).take_front(first));
  result.push_back(math.product(ArrayRef(sizes).slice(first, last - first + 1)));
  llvm::append_range(result, ArrayRef(sizes).drop_front(last + 1));
  return reshape(ctx, tensor, result);
}

Tensor unsqueeze(Lowering &ctx, const Tensor &tensor, int64_t dim) {
  SizeList sizes = ctx.sizesOf(tensor);
  sizes.insert(sizes.begin() + dim, ctx.b.getIndexAttr(1));
  return reshape(ctx, tensor, sizes);
}

Tensor squeeze(Lowering &ctx, const Tensor &tensor, int64_t dim) {
  SizeList sizes = ctx.sizesOf(tensor);
  sizes.erase(sizes.begin() + dim);
  return reshape(ctx, tensor, sizes);
}

} // namespace tw::lower
