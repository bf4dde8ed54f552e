// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Text may say what does not hold: a product of a 3x5 and a 6x7 matrix, where its types have `?`.
// In MLIR that has no meaning; here it ends the call with an error:
//
//     %c = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) ...
//
// becomes
//
//     %ok = arith.cmpi eq, %rows_of_b, %columns_of_a
//     tw.assert %ok, "model.mlir:3:8: linalg.matmul: size 0 of operand 1 is %lld, not %lld"
//     %c = linalg.matmul ...
#include "IR/Graph/Graph.h"
#include "IR/Graph/HostLevel.h"
#include "IR/ModelLocation.h"
#include "Import/Text/AffineBounds.h"
#include "Import/Text/Stages.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"
#include <fmt/format.h>

using namespace mlir;
namespace tw::text {
namespace {

/// Writes the checks of one operation before it. What is known to hold is not asked.
class Checks {
public:
  explicit Checks(Operation *op) : op(op), loc(op->getLoc()), b(op) {}

  void check(linalg::LinalgOp op) {
    SmallVector<Value> loops(op.getNumLoops());
    visit(op, [&](OpOperand &operand, unsigned axis, AffineExpr expr) {
      auto loop = dyn_cast<AffineDimExpr>(expr);
      if (!loop)
        return;
      Value size = dim(operand.get(), axis), &known = loops[loop.getPosition()];
      if (known)
        equal(size, known, place(operand, axis));
      else
        known = size;
    });
    if (llvm::is_contained(loops, Value()))
      return;
    SmallVector<Value> last;
    for (Value size : loops)
      last.push_back(sub(size, index(1)));
    visit(op, [&](OpOperand &operand, unsigned axis, AffineExpr expr) {
      if (isa<AffineDimExpr>(expr))
        return;
      unless = isEmpty(loops);
      auto [least, most] = affineBounds(expr, last, b, loc);
      notNegative(least, "reads " + place(operand, axis) + " at a place that");
      below(most, dim(operand.get(), axis), "reads " + place(operand, axis));
    });
  }

  void check(tensor::EmptyOp op) {
    unsigned next = 0;
    for (int64_t d = 0; d < op.getType().getRank(); ++d)
      if (op.getType().isDynamicDim(d))
        if (Value size = op.getDynamicSizes()[next++]; !size.getDefiningOp<tensor::DimOp>())
          notNegative(size, fmt::format("size {}", d));
  }

  void check(tensor::PadOp op) {
    auto lows = op.getMixedLowPad(), highs = op.getMixedHighPad();
    for (auto [d, low, high] : llvm::enumerate(lows, highs)) {
      Value rest = b.createOrFold<arith::AddIOp>(loc, dim(op.getSource(), d), value(low));
      notNegative(b.createOrFold<arith::AddIOp>(loc, rest, value(high)), fmt::format("size {}", d));
    }
  }

  void check(tensor::ConcatOp op) {
    Value first = op.getInputs()[0];
    for (auto [i, input] : llvm::enumerate(op.getInputs()))
      for (int64_t d = 0; d < op.getRank(); ++d)
        if (d != int64_t(op.getDim()))
          equal(dim(input, d), dim(first, d), fmt::format("size {} of operand {}", d, i));
  }

  /// A loop that does not get on never ends.
  void check(scf::ForOp op) {
    Value step = op.getStep();
    Value zero = arith::ConstantOp::create(b, loc, b.getIntegerAttr(step.getType(), 0));
    require(compare(arith::CmpIPredicate::sgt, step, zero), "the step is not positive", {});
  }

  void checkDivisor(Value divisor) {
    if (!divisor.getType().isIntOrIndex())
      return;
    Value zero = arith::ConstantOp::create(b, loc, b.getIntegerAttr(divisor.getType(), 0));
    require(compare(arith::CmpIPredicate::ne, divisor, zero), "the divisor is 0", {});
  }

  void check(tensor::CastOp op) {
    auto to = dyn_cast<RankedTensorType>(op.getType());
    if (!to || !isa<RankedTensorType>(op.getSource().getType()))
      return;
    for (int64_t d = 0; d < to.getRank(); ++d)
      if (!to.isDynamicDim(d))
        equal(dim(op.getSource(), d), index(to.getDimSize(d)), fmt::format("size {}", d));
  }

  void check(tensor::ExtractOp op) {
    for (auto [d, position] : llvm::enumerate(op.getIndices()))
      inside(position, dim(op.getTensor(), d), fmt::format("position {}", d));
  }

  void check(tensor::ExpandShapeOp op) {
    SmallVector<OpFoldResult> sizes = op.getMixedOutputShape();
    for (auto [axis, group] : llvm::enumerate(op.getReassociationIndices())) {
      Value product = index(1);
      for (int64_t d : group) {
        Value size = value(sizes[d]);
        notNegative(size, fmt::format("size {}", d));
        product = b.createOrFold<arith::MulIOp>(loc, product, size);
      }
      equal(product, dim(op.getSrc(), axis), fmt::format("the product of sizes of axis {}", axis));
    }
  }

  /// Of a box: that it has a size and lies inside, unless it is empty.
  void check(OffsetSizeAndStrideOpInterface box, Value whole) {
    for (auto [d, offset, size, stride] :
         llvm::enumerate(box.getMixedOffsets(), box.getMixedSizes(), box.getMixedStrides())) {
      Value extent = value(size), last = sub(extent, index(1));
      notNegative(extent, fmt::format("size {}", d));
      notNegative(value(offset), fmt::format("offset {}", d));
      Value way = b.createOrFold<arith::MulIOp>(loc, last, value(stride));
      Value end = b.createOrFold<arith::AddIOp>(loc, value(offset), way);
      Value isEmpty = compare(arith::CmpIPredicate::eq, extent, index(0));
      Value most = b.createOrFold<arith::SelectOp>(loc, isEmpty, index(-1), end);
      below(most, dim(whole, d), fmt::format("reaches {}", d));
    }
  }

  void check(tensor::InsertSliceOp op) {
    check(op, op.getDest());
    unsigned axis = 0;
    llvm::SmallBitVector dropped = op.getDroppedDims();
    for (auto [d, size] : llvm::enumerate(op.getMixedSizes()))
      if (!dropped.test(d)) {
        equal(dim(op.getSource(), axis), value(size), fmt::format("size {} of the source", axis));
        ++axis;
      }
  }

private:
  using Visit = llvm::function_ref<void(OpOperand &, unsigned, AffineExpr)>;

  /// All axes of all operands that are tensors.
  static void visit(linalg::LinalgOp op, Visit each) {
    for (OpOperand &operand : op->getOpOperands())
      if (isa<RankedTensorType>(operand.get().getType()))
        for (auto [axis, expr] : llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults()))
          each(operand, axis, expr);
  }

  static std::string place(OpOperand &operand, unsigned axis) {
    return fmt::format("size {} of operand {}", axis, operand.getOperandNumber());
  }

  Value index(int64_t value) { return arith::ConstantIndexOp::create(b, loc, value); }
  Value value(OpFoldResult size) { return getValueOrCreateConstantIndexOp(b, loc, size); }
  Value dim(Value tensor, int64_t axis) { return b.createOrFold<tensor::DimOp>(loc, tensor, axis); }
  Value sub(Value x, Value y) { return b.createOrFold<arith::SubIOp>(loc, x, y); }
  Value compare(arith::CmpIPredicate predicate, Value x, Value y) {
    return b.createOrFold<arith::CmpIOp>(loc, predicate, x, y);
  }

  /// Whether one of the sizes is 0.
  Value isEmpty(ValueRange sizes) {
    Value isOne = arith::ConstantIntOp::create(b, loc, 0, 1);
    for (Value size : sizes)
      isOne = b.createOrFold<arith::OrIOp>(loc, compare(arith::CmpIPredicate::eq, size, index(0)),
                                           isOne);
    return isOne;
  }

  void require(Value condition, const std::string &what, ValueRange values) {
    if (unless)
      condition = b.createOrFold<arith::OrIOp>(loc, condition, unless);
    if (getConstantIntValue(condition).value_or(0) != 0)
      return;
    std::string text =
        fmt::format("{}: {}: {}", describePlace(loc), op->getName().getStringRef().str(), what);
    graph::AssertOp::create(b, loc, condition, b.getStringAttr(text), values);
  }

  void equal(Value x, Value y, const std::string &what) {
    if (x != y)
      require(compare(arith::CmpIPredicate::eq, x, y), what + " is %lld, not %lld", {x, y});
  }
  void notNegative(Value x, const std::string &what) {
    require(compare(arith::CmpIPredicate::sge, x, index(0)), what + " is %lld, which is negative",
            x);
  }
  void below(Value most, Value size, const std::string &what) {
    require(compare(arith::CmpIPredicate::slt, most, size),
            what + " at %lld, where the size is %lld", {most, size});
  }
  void inside(Value position, Value size, const std::string &what) {
    require(compare(arith::CmpIPredicate::ult, position, size),
            what + " is %lld, where the size is %lld", {position, size});
  }

  Operation *op;
  Location loc;
  OpBuilder b;
  Value unless; // if this holds, nothing is asked
};

} // namespace

void assertSizes(func::FuncOp entry) {
  SmallVector<Operation *> ops;
  entry.walk([&](Operation *op) {
    if (op != entry && graph::isHostLevel(op))
      ops.push_back(op);
  });
  for (Operation *op : ops)
    llvm::TypeSwitch<Operation *>(op)
        .Case<linalg::LinalgOp, tensor::CastOp, tensor::ConcatOp, tensor::EmptyOp,
              tensor::ExtractOp, tensor::ExpandShapeOp, tensor::InsertSliceOp, tensor::PadOp,
              scf::ForOp>([](auto op) { Checks(op).check(op); })
        .Case<arith::DivSIOp, arith::RemSIOp, arith::CeilDivSIOp, arith::FloorDivSIOp,
              arith::DivUIOp, arith::RemUIOp, arith::CeilDivUIOp>(
            [](auto op) { Checks(op).checkDivisor(op.getRhs()); })
        .Case([](tensor::ExtractSliceOp op) { Checks(op).check(op, op.getSource()); });
}

} // namespace tw::text
