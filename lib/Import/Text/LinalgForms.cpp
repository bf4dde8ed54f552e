// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Other forms of what the graph level knows one form of: arithmetic on whole tensors, tensor.splat,
// generate, from_elements and insert, linalg.softmax become structured operations; scf.while
// becomes an scf.for that may end early:
//
//     %x = scf.while (%a = %a0) { before } do { after }
//
// becomes
//
//     before(%a0); %x:2 = scf.for ... iter_args(%p = ..., %go = ...) {
//       scf.if %go { after(%p); before(...); scf.yield ... } else { scf.yield %p, %go }
//     } {tw.while}
#include "IR/Graph/Graph.h"
#include "Import/Text/Stages.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include <limits>

using namespace mlir;
namespace tw::text {

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

static LogicalResult splatToFill(tensor::SplatOp op, PatternRewriter &rewriter) {
  Value empty = tensor::EmptyOp::create(rewriter, op.getLoc(), op.getType(), op.getDynamicSizes());
  rewriter.replaceOpWithNewOp<linalg::FillOp>(op, op.getInput(), empty);
  return success();
}

/// Every element is the scalar where its position is the one that is written, else the old one.
static LogicalResult insertToSelect(tensor::InsertOp op, PatternRewriter &rewriter) {
  auto type = cast<RankedTensorType>(op.getType());
  AffineMap identity = rewriter.getMultiDimIdentityMap(type.getRank());
  SmallVector<utils::IteratorType> parallel(type.getRank(), utils::IteratorType::parallel);
  Value empty = tensor::EmptyOp::create(rewriter, op.getLoc(),
                                        tensor::getMixedSizes(rewriter, op.getLoc(), op.getDest()),
                                        type.getElementType());
  rewriter.replaceOpWithNewOp<linalg::GenericOp>(
      op, TypeRange{type}, ValueRange{op.getDest()}, ValueRange{empty},
      ArrayRef<AffineMap>{identity, identity}, parallel,
      [&](OpBuilder &b, Location loc, ValueRange old) {
        Value isHere = arith::ConstantIntOp::create(b, loc, 1, 1);
        for (auto [d, wanted] : llvm::enumerate(op.getIndices())) {
          Value index = linalg::IndexOp::create(b, loc, d);
          Value same = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, index, wanted);
          isHere = arith::AndIOp::create(b, loc, isHere, same);
        }
        Value element = arith::SelectOp::create(b, loc, isHere, op.getScalar(), old[0]);
        linalg::YieldOp::create(b, loc, element);
      });
  return success();
}

static LogicalResult decompose(linalg::SoftmaxOp op, PatternRewriter &rewriter) {
  FailureOr<SmallVector<Value>> results = op.decomposeOperation(rewriter);
  if (failed(results))
    return rewriter.notifyMatchFailure(op, "it has no decomposition");
  rewriter.replaceOp(op, *results);
  return success();
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// Clones `block` with `arguments`; returns what the operands of its terminator are then.
static SmallVector<Value> cloneBlock(OpBuilder &b, Block &block, ValueRange arguments) {
  IRMapping mapping;
  mapping.map(block.getArguments(), arguments);
  for (Operation &op : block.without_terminator())
    b.clone(op, mapping);
  return llvm::map_to_vector(block.getTerminator()->getOperands(),
                             [&](Value value) { return mapping.lookupOrDefault(value); });
}

static LogicalResult whileToFor(scf::WhileOp op, PatternRewriter &rewriter) {
  Location loc = op.getLoc();
  // The condition comes first among what scf.condition passes on, last among what the loop carries.
  auto test = [&](OpBuilder &b, ValueRange arguments) {
    SmallVector<Value> passed = cloneBlock(b, *op.getBeforeBody(), arguments);
    std::rotate(passed.begin(), passed.begin() + 1, passed.end());
    return passed;
  };
  auto constant = [&](int64_t value) {
    return arith::ConstantIndexOp::create(rewriter, loc, value).getResult();
  };
  SmallVector<Value> inits = test(rewriter, op.getInits());
  auto loop = scf::ForOp::create(
      rewriter, loc, constant(0), constant(std::numeric_limits<int64_t>::max()), constant(1), inits,
      [&](OpBuilder &b, Location, Value, ValueRange carried) {
        auto round = scf::IfOp::create(
            b, loc, carried.back(),
            [&](OpBuilder &inner, Location) {
              SmallVector<Value> next = cloneBlock(inner, *op.getAfterBody(), carried.drop_back());
              scf::YieldOp::create(inner, loc, test(inner, next));
            },
            [&](OpBuilder &inner, Location) { scf::YieldOp::create(inner, loc, carried); });
        scf::YieldOp::create(b, loc, round.getResults());
      });
  loop->setAttr("tw.while", rewriter.getUnitAttr());
  rewriter.replaceOp(op, loop.getResults().drop_back());
  return success();
}

/// What a loop carries keeps its place in memory, so its sizes may not change.
static void checkSizes(scf::ForOp loop) {
  Operation *yield = loop.getBody()->getTerminator();
  OpBuilder b(yield);
  for (auto [before, after] : llvm::zip(loop.getRegionIterArgs(), yield->getOperands())) {
    auto type = dyn_cast<RankedTensorType>(before.getType());
    for (int64_t d = 0; type && d < type.getRank(); ++d) {
      if (!type.isDynamicDim(d) || before == after)
        continue;
      Value old = tensor::DimOp::create(b, loop.getLoc(), before, d);
      Value now = tensor::DimOp::create(b, loop.getLoc(), after, d);
      Value same = arith::CmpIOp::create(b, loop.getLoc(), arith::CmpIPredicate::eq, old, now);
      graph::AssertOp::create(b, loop.getLoc(), same,
                              "a loop changes the size of what it carries from %lld to %lld",
                              ValueRange{old, now});
    }
  }
}

void normalizeForms(func::FuncOp entry) {
  RewritePatternSet patterns(entry.getContext());
  linalg::populateElementwiseToLinalgConversionPatterns(patterns);
  patterns.add(splatToFill);
  patterns.add(insertToSelect);
  patterns.add(decompose);
  patterns.add(whileToFor);
  patterns.add(+[](tensor::GenerateOp op, PatternRewriter &rewriter) {
    return LogicalResult(linalg::rewriteInDestinationPassingStyle(rewriter, op));
  });
  patterns.add(+[](tensor::FromElementsOp op, PatternRewriter &rewriter) {
    return LogicalResult(linalg::rewriteInDestinationPassingStyle(rewriter, op));
  });
  GreedyRewriteConfig config;
  config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
  // What is left over is refused by name afterwards.
  (void)applyPatternsGreedily(entry, std::move(patterns), config);
  entry.walk(checkSizes);
}

} // namespace tw::text
