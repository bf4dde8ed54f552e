// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TorchToGraph/Core/Sizes.h"
#include "IR/Graph/Graph.h"
#include "TorchToGraph/Builders/Index.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tw::lower {

using SizeList = SmallVector<OpFoldResult>;

static SizeList dimOps(OpBuilder &b, Location loc, Value value) {
  SizeList sizes;
  for (int64_t i = 0; i < cast<RankedTensorType>(value.getType()).getRank(); ++i)
    sizes.push_back(tensor::getMixedSize(b, loc, value, i));
  return sizes;
}

static SizeList afterSlice(tensor::ExtractSliceOp op) {
  SizeList sizes;
  llvm::SmallBitVector dropped = op.getDroppedDims();
  for (auto [i, size] : llvm::enumerate(op.getMixedSizes()))
    if (!dropped.test(i))
      sizes.push_back(size);
  return sizes;
}

static SizeList afterPad(const IndexMath &math, tensor::PadOp op, SizeList sizes) {
  for (auto [size, low, high] : llvm::zip_equal(sizes, op.getMixedLowPad(), op.getMixedHighPad()))
    size = math.add(math.add(size, low), high);
  return sizes;
}

static SizeList afterCollapse(const IndexMath &math, tensor::CollapseShapeOp op,
                              const SizeList &source) {
  SizeList sizes;
  for (const auto &group : op.getReassociationIndices()) {
    SizeList factors;
    for (int64_t i : group)
      factors.push_back(source[i]);
    sizes.push_back(math.product(factors));
  }
  return sizes;
}

SizeList Sizes::compute(OpBuilder &b, Location loc, Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return dimOps(b, loc, value);
  IndexMath math{b, loc};
  if (auto dps = dyn_cast<DestinationStyleOpInterface>(op))
    return of(b, loc, dps.getTiedOpOperand(cast<OpResult>(value))->get());
  return llvm::TypeSwitch<Operation *, SizeList>(op)
      .Case([&](tensor::EmptyOp op) { return op.getMixedSizes(); })
      .Case([&](tensor::CastOp op) { return of(b, loc, op.getSource()); })
      .Case([&](tensor::ExtractSliceOp op) { return afterSlice(op); })
      .Case([&](tensor::ExpandShapeOp op) { return op.getMixedOutputShape(); })
      .Case([&](tensor::CollapseShapeOp op) {
        return afterCollapse(math, op, of(b, loc, op.getSrc()));
      })
      .Case([&](tensor::PadOp op) { return afterPad(math, op, of(b, loc, op.getSource())); })
      .Case([&](tensor::ConcatOp op) {
        SizeList sizes = of(b, loc, op.getInputs().front());
        for (Value input : op.getInputs().drop_front())
          sizes[op.getDim()] = math.add(sizes[op.getDim()], of(b, loc, input)[op.getDim()]);
        return sizes;
      })
      .Default([&](Operation *) { return dimOps(b, loc, value); });
}

SizeList Sizes::of(OpBuilder &b, Location loc, Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.hasStaticShape()) {
    SizeList sizes;
    for (int64_t size : type.getShape())
      sizes.push_back(b.getIndexAttr(size));
    return sizes;
  }
  if (auto it = known.find(value); it != known.end())
    return it->second;
  SizeList sizes = compute(b, loc, value);
  for (auto [size, fixed] : llvm::zip_equal(sizes, type.getShape()))
    if (!ShapedType::isDynamic(fixed))
      size = b.getIndexAttr(fixed);
  known[value] = sizes;
  return sizes;
}

void Sizes::requireEqual(OpBuilder &b, Location loc, OpFoldResult x, OpFoldResult y,
                         StringRef message) {
  void *a = x.getOpaqueValue(), *c = y.getOpaqueValue();
  if (knownEqual(x, y) || equal.contains({c, a}) || !equal.insert({a, c}).second)
    return;
  IndexMath math{b, loc};
  Value left = math.value(x), right = math.value(y);
  Value same = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, left, right);
  graph::AssertOp::create(b, loc, same, message, ValueRange{left, right});
}

std::optional<int64_t> Sizes::minimumOf(Value value) const {
  if (auto it = minimums.find(value); it != minimums.end())
    return it->second;
  if (value.getDefiningOp<tensor::DimOp>())
    return 0;
  auto of = [&](OpFoldResult x) { return lowerBound(x, [&](Value v) { return minimumOf(v); }); };
  Operation *op = value.getDefiningOp();
  if (!op || !isa<arith::MaxSIOp, arith::MinSIOp, arith::FloorDivSIOp>(op))
    return std::nullopt;
  auto x = of(getAsOpFoldResult(op->getOperand(0))), y = of(getAsOpFoldResult(op->getOperand(1)));
  if (isa<arith::MaxSIOp>(op))
    return x && y ? std::max(*x, *y) : x ? x : y;
  if (isa<arith::MinSIOp>(op))
    return x && y ? std::optional(std::min(*x, *y)) : std::nullopt;
  return x && y && *x >= 0 && *y >= 1 ? std::optional<int64_t>(0) : std::nullopt;
}

bool Sizes::knownAtMost(OpFoldResult x, OpFoldResult y) const {
  auto difference = lowerBound(y, [&](Value v) { return minimumOf(v); }, x);
  return difference && *difference >= 0;
}

void Sizes::set(Value value, ArrayRef<OpFoldResult> sizes) { known[value] = SizeList(sizes); }

} // namespace tw::lower
