// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TorchToGraph/Builders/Contract.h"
#include "TorchToGraph/Builders/Elementwise/Element.h"
#include "TorchToGraph/Builders/Elementwise/Pointwise.h"
#include "TorchToGraph/Builders/Index.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;

namespace tw::lower {

/// Reads the operand before its transposes, with its labels in that order.
static void lookThroughTransposes(Labelled &x) {
  while (auto transpose = x.tensor.value.getDefiningOp<linalg::TransposeOp>()) {
    std::string labels(x.labels.size(), ' ');
    for (auto [to, from] : llvm::enumerate(transpose.getPermutation()))
      labels[from] = x.labels[to];
    x = {{transpose.getInput(), x.tensor.dtype}, labels};
  }
}

LabelledLoops::LabelledLoops(Lowering &ctx, MutableArrayRef<Labelled> operands, std::string labels)
    : context(ctx.b.getContext()), labels(std::move(labels)) {
  llvm::for_each(operands, lookThroughTransposes);
  for (const Labelled &operand : operands)
    for (auto [label, size] : llvm::zip(operand.labels, ctx.sizesOf(operand.tensor))) {
      OpFoldResult &have = sizeOf.try_emplace(label, size).first->second;
      if (constantOf(size) == 1)
        continue;
      bool isFirst = constantOf(have) == 1;
      if (!isFirst)
        ctx.requireEqual(have, size);
      if (isFirst || constantOf(size))
        have = size;
    }
}

SmallVector<OpFoldResult> LabelledLoops::sizes(StringRef of) const {
  return llvm::map_to_vector(of, [&](char label) { return sizeOf.at(label); });
}

AffineMap LabelledLoops::mapOf(const Labelled &operand) const {
  SmallVector<AffineExpr> exprs;
  for (auto [i, label] : llvm::enumerate(operand.labels)) {
    bool repeated = operand.tensor.size(i) == 1 && constantOf(sizeOf.at(label)) != 1;
    exprs.push_back(repeated ? getAffineConstantExpr(0, context)
                             : getAffineDimExpr(labels.find(label), context));
  }
  return AffineMap::get(labels.size(), 0, exprs, context);
}

Tensor contract(Lowering &ctx, Labelled a, Labelled b, StringRef out, DType accumulate) {
  std::string labels = out.str();
  for (char label : a.labels + b.labels)
    if (labels.find(label) == std::string::npos)
      labels += label;
  SmallVector<Labelled> operands = {a, b};
  LabelledLoops loops(ctx, operands, labels);
  bool isSum = labels.size() > out.size(); // 0 plus a product that is -0 is 0
  Tensor init = isSum
                    ? ctx.filled(loops.sizes(out), accumulate, Scalar::ofInt(ctx.b.getContext(), 0))
                    : ctx.empty(loops.sizes(out), accumulate);
  if (ctx.hasRefused())
    return init;
  SmallVector<AffineMap> maps = {loops.mapOf(operands[0]), loops.mapOf(operands[1]),
                                 leadingLoops(ctx.b.getContext(), labels.size(), out.size())};
  SmallVector<utils::IteratorType> iterators(labels.size(), utils::IteratorType::reduction);
  std::fill_n(iterators.begin(), out.size(), utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(
      ctx.b, ctx.loc, init.value.getType(),
      ValueRange{operands[0].tensor.value, operands[1].tensor.value}, init.value, maps, iterators,
      [&](OpBuilder &builder, Location loc, ValueRange args) {
        Element e(builder, loc, accumulate);
        Value product = e.mul(e.cast(args[0], a.tensor.dtype), e.cast(args[1], b.tensor.dtype));
        linalg::YieldOp::create(builder, loc, isSum ? e.add(args[2], product) : product);
      });
  return {generic.getResult(0), accumulate};
}

Tensor matmul(Lowering &ctx, const Tensor &a, const Tensor &b) {
  DType accumulate = contractDType(promote(a.dtype, b.dtype));
  if (a.rank() == 0 || b.rank() == 0 || std::max(a.rank(), b.rank()) > 20) {
    ctx.refuse("matrix products need tensors of 1 to 20 dimensions");
    return ctx.empty({}, accumulate);
  }
  int64_t batch = std::max<int64_t>({a.rank() - 2, b.rank() - 2, 0});
  std::string batches = std::string("abcdefghijABCDEFGHIJ").substr(0, batch);
  auto labels = [&](int64_t rank, const char *last) {
    return rank == 1 ? std::string("k") : batches.substr(batch - (rank - 2)) + last;
  };
  std::string out = batches + (a.rank() > 1 ? "m" : "") + (b.rank() > 1 ? "n" : "");
  return contract(ctx, {a, labels(a.rank(), "mk")}, {b, labels(b.rank(), "kn")}, out, accumulate);
}

} // namespace tw::lower
