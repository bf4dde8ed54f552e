// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// In the body of what becomes a kernel text may read anywhere, also outside of the tensor. In MLIR
// that has no meaning; here it ends the call with an error:
//
//     %v = tensor.extract %table[%row, %column] : tensor<?x8xf32>
//
// becomes, unless a position lies inside whatever the data is, as that of a loop over the tensor,
//
//     %safe = tw.check_index %row in %rows, "model.mlir:9:7: tensor.extract: position 0 is %lld,
//     ..." %v = tensor.extract %table[%safe, %column] : tensor<?x8xf32>
//
// and before the operation stands the assertion that the table is not empty, for then no place in
// it is safe. An element that is only selected may lie outside where it is not taken: its position
// is clamped instead.
#include "IR/Graph/Graph.h"
#include "IR/Graph/HostLevel.h"
#include "IR/ModelLocation.h"
#include "Import/Text/Stages.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/InferIntRangeInterface.h"
#include <fmt/format.h>

using namespace mlir;
namespace tw::text {
namespace {

/// The outermost operation around `op` that becomes a kernel.
Operation *kernelAround(Operation *op) {
  while (!graph::isHostLevel(op))
    op = op->getParentOp();
  return op;
}

/// A dimension of a tensor that has the size of dimension `axis` of `tensor`, the same one for
/// those that are made with one size.
std::pair<Value, int64_t> originOf(Value tensor, int64_t axis) {
  while (Operation *op = tensor.getDefiningOp()) {
    if (auto linalg = dyn_cast<linalg::LinalgOp>(op)) {
      tensor = linalg.getTiedOpOperand(cast<OpResult>(tensor))->get();
      continue;
    }
    auto empty = dyn_cast<tensor::EmptyOp>(op);
    if (!empty || !empty.getType().isDynamicDim(axis))
      break;
    auto dim = empty.getDynamicSize(axis).getDefiningOp<tensor::DimOp>();
    auto source = dim ? dim.getConstantIndex() : std::nullopt;
    if (!source)
      break;
    tensor = dim.getSource(), axis = *source;
  }
  return {tensor, axis};
}

/// Whether the loop that `index` counts runs over dimension `axis` of `tensor`.
bool runsOver(Value index, Value tensor, int64_t axis) {
  auto loop = index.getDefiningOp<linalg::IndexOp>();
  auto op = loop ? dyn_cast<linalg::LinalgOp>(loop->getParentOp()) : linalg::LinalgOp();
  if (!op)
    return false;
  auto wanted = originOf(tensor, axis);
  for (OpOperand &operand : op->getOpOperands())
    if (isa<RankedTensorType>(operand.get().getType()))
      for (auto [d, expr] : llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults()))
        if (auto dim = dyn_cast<AffineDimExpr>(expr); dim && dim.getPosition() == loop.getDim() &&
                                                      originOf(operand.get(), int64_t(d)) == wanted)
          return true;
  return false;
}

/// How often the loop runs that `index` counts, if that is known.
std::optional<int64_t> tripCount(Value index) {
  auto loop = index.getDefiningOp<linalg::IndexOp>();
  auto op = loop ? dyn_cast<linalg::LinalgOp>(loop->getParentOp()) : linalg::LinalgOp();
  int64_t count = op ? op.getStaticLoopRanges()[loop.getDim()] : ShapedType::kDynamic;
  return count > 0 ? std::optional(count) : std::nullopt; // kDynamic is negative
}

/// What a value may be, from loops and arithmetic alone.
ConstantIntRanges rangeOf(Value value, int depth = 0) {
  constexpr int deepest = 16; // operands may be shared
  unsigned width = ConstantIntRanges::getStorageBitwidth(value.getType());
  if (auto count = tripCount(value))
    return ConstantIntRanges::fromUnsigned(APInt(width, 0), APInt(width, *count - 1));
  auto infer = value.getDefiningOp<InferIntRangeInterface>();
  ConstantIntRanges range = ConstantIntRanges::maxRange(width);
  if (!infer || depth == deepest)
    return range;
  SmallVector<ConstantIntRanges> operands;
  for (Value operand : infer->getOperands()) {
    if (!operand.getType().isIntOrIndex())
      return range;
    operands.push_back(rangeOf(operand, depth + 1));
  }
  infer.inferResultRanges(operands, [&](Value result, const ConstantIntRanges &inferred) {
    if (result == value)
      range = inferred;
  });
  return range;
}

bool isInside(Value position, Value tensor, int64_t axis) {
  int64_t size = cast<RankedTensorType>(tensor.getType()).getDimSize(axis);
  if (ShapedType::isDynamic(size))
    return runsOver(position, tensor, axis);
  ConstantIntRanges range = rangeOf(position);
  return range.smin().isNonNegative() && range.smax().slt(size);
}

/// Whether the element is wanted under conditions only.
bool isSelected(tensor::ExtractOp op) {
  return !op->use_empty() && llvm::all_of(op->getUses(), [](OpOperand &use) {
    return isa<arith::SelectOp>(use.getOwner()) && use.getOperandNumber() > 0;
  });
}

/// Makes the positions of one operation safe.
class SafePositions {
public:
  explicit SafePositions(tensor::ExtractOp op)
      : op(op), kernel(kernelAround(op)), loc(op.getLoc()), b(op) {}

  void run() {
    bool clamps = isSelected(op);
    for (OpOperand &position : op.getIndicesMutable()) {
      int64_t axis = position.getOperandNumber() - 1;
      if (isInside(position.get(), op.getTensor(), axis))
        continue;
      Value size = sizeOf(axis);
      position.set(clamps ? clamped(position.get(), size) : checked(position.get(), size, axis));
    }
  }

private:
  Value index(int64_t value) { return arith::ConstantIndexOp::create(b, loc, value); }

  std::string message(const std::string &what) const {
    return fmt::format("{}: {}: {}", describePlace(loc), op->getName().getStringRef().str(), what);
  }

  /// The size of the tensor, which is not 0 when the kernel runs.
  Value sizeOf(int64_t axis) {
    int64_t size = op.getTensor().getType().getDimSize(axis);
    if (size > 0)
      return index(size);
    if (kernel->isAncestor(op.getTensor().getParentRegion()->getParentOp())) // made in the body
      return tensor::DimOp::create(b, loc, op.getTensor(), axis);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(kernel);
    Value known = tensor::DimOp::create(b, loc, op.getTensor(), axis);
    Value isThere = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, known, index(0));
    Value isGood = arith::OrIOp::create(b, loc, isThere, isIdle());
    std::string text = message(fmt::format("size {} of the tensor is 0", axis));
    graph::AssertOp::create(b, loc, isGood, text, ValueRange());
    return known;
  }

  /// Whether a tensor that the kernel reads or writes has no element, so that nothing is read.
  Value isIdle() {
    Value idle = arith::ConstantIntOp::create(b, loc, 0, 1);
    auto consider = [&](Value tensor) {
      auto type = dyn_cast<RankedTensorType>(tensor.getType());
      for (int64_t d = 0; type && d < type.getRank(); ++d) {
        Value size = tensor::DimOp::create(b, loc, tensor, d);
        Value isEmpty = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, size, index(0));
        idle = arith::OrIOp::create(b, loc, idle, isEmpty);
      }
    };
    for (Value operand : kernel->getOperands())
      consider(operand);
    return idle;
  }

  Value checked(Value position, Value size, int64_t axis) {
    return graph::CheckIndexOp::create(
        b, loc, position.getType(), position, size,
        message(fmt::format("position {} is %lld, where the size is %lld", axis)));
  }

  Value clamped(Value position, Value size) {
    Value last = arith::SubIOp::create(b, loc, size, index(1));
    Value most = arith::MinSIOp::create(b, loc, position, last);
    return arith::MaxSIOp::create(b, loc, most, index(0));
  }

  tensor::ExtractOp op;
  Operation *kernel;
  Location loc;
  OpBuilder b;
};

} // namespace

void checkPositions(func::FuncOp entry) {
  SmallVector<tensor::ExtractOp> ops;
  entry.walk([&](tensor::ExtractOp op) {
    if (!graph::isHostLevel(op))
      ops.push_back(op);
  });
  for (tensor::ExtractOp op : ops)
    SafePositions(op).run();
}

} // namespace tw::text
