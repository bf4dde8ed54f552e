// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Interpreter/Compiler.h"
#include "IR/ElementDType.h"
#include "IR/ModelLocation.h"
#include "IR/Tile/Elementwise.h"
#include "Support/Checked.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"
#include <fmt/format.h>

using namespace mlir;

namespace tw::interpreter {

DType dtypeOf(Type type) { return tw::dtypeOf(getElementTypeOrSelf(type)).value_or(DType::I64); }

void Compiler::fail(Code code, std::string message) {
  if (!problem)
    problem = Diagnostic{code, std::move(message), current ? describePlace(current->getLoc()) : ""};
}

int64_t Compiler::valueOf(tile::SizeAttr size) {
  auto value = size.getSize().evaluate(symbols);
  if (!value)
    fail(Code::INTERPRETER_2, fmt::format("the size {} overflows or divides by 0", size.getText()));
  return value.value_or(0);
}

Shape Compiler::shapeOf(Type type) {
  Shape shape;
  auto tile = dyn_cast<RankedTensorType>(type);
  if (!tile)
    return shape;
  Shape failed{SmallVector<int64_t>(tile.getRank(), 0), 0};
  for (const Size &size : tile::extentsOf(tile)) {
    auto extent = size.evaluate(symbols);
    if (!extent || *extent < 0) {
      fail(Code::INTERPRETER_2,
           fmt::format("the extent {} of a tile {}", size.str(),
                       extent ? fmt::format("is {}, which is negative", *extent)
                              : "overflows or divides by 0"));
      return failed;
    }
    shape.extents.push_back(*extent);
  }
  auto count = checkedProduct(shape.extents);
  if (!count || *count > options.mostElements) {
    fail(Code::INTERPRETER_4, fmt::format("a tile of {} has more than {} elements",
                                          coordinatesText(shape.extents), options.mostElements));
    return failed;
  }
  shape.count = *count;
  return shape;
}

/// What stands between blocks: values that are taken from operands by who runs the block.
static bool isTerminator(Operation *op) { return isa<tile::YieldOp, scf::YieldOp>(op); }

Steps Compiler::compile(Block &block) {
  Steps steps;
  for (Operation &op : block) {
    if (isTerminator(&op))
      break;
    Operation *outer = std::exchange(current, &op);
    steps.push_back(compile(&op));
    current = outer;
  }
  return steps;
}

Step Compiler::compile(Operation *op) {
  using namespace tile;
  if (isElementwise(op))
    return makeElementwise(op, *this);
  auto refused = [&](Operation *op) {
    fail(Code::INTERPRETER_7,
         fmt::format("{} has no place in a kernel", op->getName().getStringRef().str()));
    return Step([](Machine &) { return false; });
  };
  return TypeSwitch<Operation *, Step>(op)
      .Case([&](LoadOp op) { return makeLoad(op, *this); })
      .Case([&](StoreOp op) { return makeStore(op, *this); })
      .Case([&](GatherOp op) { return makeGather(op, *this); })
      .Case([&](ScatterOp op) { return makeScatter(op, *this); })
      .Case([&](CheckOp op) { return makeCheck(op, *this); })
      .Case([&](arith::ConstantOp op) { return makeConstant(op, *this); })
      .Case([&](ProgramIdOp op) { return makeProgramId(op, *this); })
      .Case([&](SizeOp op) { return makeSize(op, *this); })
      .Case([&](FullOp op) { return makeFull(op, *this); })
      .Case([&](IotaOp op) { return makeIota(op, *this); })
      .Case([&](BroadcastOp op) { return makeBroadcast(op, *this); })
      .Case([&](TransposeOp op) { return makeTranspose(op, *this); })
      .Case([&](SliceOp op) { return makeSlice(op, *this); })
      .Case([&](ReshapeOp op) { return makeReshape(op, *this); })
      .Case([&](ExtractOp op) { return makeExtract(op, *this); })
      .Case([&](DotOp op) { return makeDot(op, *this); })
      .Case([&](ReduceOp op) { return makeReduce(op, *this); })
      .Case([&](ScanOp op) { return makeScan(op, *this); })
      .Case([&](SortOp op) { return makeSort(op, *this); })
      .Case([&](ForOp op) { return makeFor(op, *this); })
      .Case([&](scf::IfOp op) { return makeIf(op, *this); })
      .Default(refused);
}

/// Follows `value` through what only adds to it to operand `k` of `end`; notes the sums on the way.
static bool reaches(Value value, Operation *end, unsigned k, Compiler &compiler,
                    SmallVectorImpl<Value> &sums) {
  while (value.hasOneUse()) {
    OpOperand &use = *value.use_begin();
    Operation *user = use.getOwner();
    if (user == end)
      return use.getOperandNumber() == k;
    if (user->getBlock() != end->getBlock())
      return false;
    auto loop = dyn_cast<tile::ForOp>(user);
    auto dot = dyn_cast<tile::DotOp>(user);
    if (loop && use.getOperandNumber() >= 3 && compiler.findSum(loop, use.getOperandNumber() - 3))
      value = loop->getResult(use.getOperandNumber() - 3);
    else if ((dot && use.get() == dot.getAcc()) || isa<arith::AddFOp>(user))
      value = user->getResult(0);
    else
      return false;
    sums.push_back(value);
  }
  return false;
}

bool Compiler::findSum(tile::ForOp loop, unsigned k) {
  if (!isa<FloatType>(getElementTypeOrSelf(loop.getResult(k).getType())))
    return false;
  SmallVector<Value> sums;
  if (!reaches(loop.getCarried()[k], loop.getBody().front().getTerminator(), k, *this, sums))
    return false;
  unrounded.insert(sums.begin(), sums.end());
  return true;
}

} // namespace tw::interpreter
