// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops (scf, arith, math, vector) of the emitted functions become the llvm dialect. All indices
// are i64 already, so no types change.
#include "Target/Common/ToLLVM.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Rewrite/FrozenRewritePatternSet.h"
#include "mlir/Rewrite/PatternApplicator.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;

namespace tw::target {

/// What a loop says about itself arrives as a foreign attribute of its branch back.
static void takeLoopAnnotations(LLVM::LLVMFuncOp function) {
  function.walk([](LLVM::BrOp branch) {
    constexpr StringRef name = "llvm.loop_annotation";
    if (auto annotation = branch->getAttrOfType<LLVM::LoopAnnotationAttr>(name)) {
      branch->removeAttr(name);
      branch.setLoopAnnotationAttr(annotation);
    }
  });
}

/// One operation for each constant: emission makes one for each use, and all would be converted.
static void shareConstants(LLVM::LLVMFuncOp function) {
  llvm::DenseMap<Attribute, arith::ConstantOp> known;
  Block &entry = function.getBody().front();
  function.walk([&](arith::ConstantOp constant) {
    arith::ConstantOp &first = known[constant.getValue()];
    if (first) {
      constant.replaceAllUsesWith(first.getResult());
      constant.erase();
      return;
    }
    first = constant;
    constant->moveBefore(&entry, entry.begin());
  });
}

/// Loops and branches become blocks, those behind others first: what follows one in its block is
/// moved to a block of its own, and must not be all the rest of the function each time. The few
/// scf.while come before all: their pattern wants bodies of one block.
static LogicalResult lowerControl(ArrayRef<Operation *> functions, MLIRContext *context,
                                  const Cancellation *cancellation) {
  RewritePatternSet patterns(context);
  populateSCFToControlFlowConversionPatterns(patterns);
  FrozenRewritePatternSet frozen(std::move(patterns));
  PatternApplicator applicator(frozen);
  applicator.applyDefaultCostModel();
  PatternRewriter rewriter(context);
  SmallVector<Operation *> control, whiles; // each behind what it is in
  for (Operation *function : functions)
    function->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (op->getNumRegions() > 0 && isa<scf::SCFDialect>(op->getDialect()))
        (isa<scf::WhileOp>(op) ? whiles : control).push_back(op);
    });
  auto isLowered = [&](Operation *op) {
    rewriter.setInsertionPoint(op);
    return !isCancelled(cancellation) && succeeded(applicator.matchAndRewrite(op, rewriter));
  };
  return success(llvm::all_of(whiles, isLowered) &&
                 llvm::all_of(llvm::reverse(control), isLowered));
}

static LogicalResult lowerOperations(ArrayRef<Operation *> functions, MLIRContext *context) {
  LLVMTypeConverter converter(context);
  RewritePatternSet patterns(context);
  arith::populateArithToLLVMConversionPatterns(converter, patterns);
  cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
  populateMathToLLVMConversionPatterns(converter, patterns);
  ub::populateUBToLLVMConversionPatterns(converter, patterns);
  populateVectorToLLVMConversionPatterns(converter, patterns);
  LLVMConversionTarget target(*context);
  target.addLegalDialect("nvvm"); // beside llvm, in code for a GPU
  return applyFullConversion(functions, target, std::move(patterns));
}

LogicalResult lowerLoops(ModuleOp module, const Cancellation *cancellation) {
  SmallVector<Operation *> functions;
  for (auto function : module.getOps<LLVM::LLVMFuncOp>())
    if (!function.isExternal()) {
      shareConstants(function);
      functions.push_back(function);
    }
  if (failed(lowerControl(functions, module.getContext(), cancellation)) ||
      isCancelled(cancellation) || failed(lowerOperations(functions, module.getContext())))
    return failure();
  for (Operation *function : functions)
    takeLoopAnnotations(cast<LLVM::LLVMFuncOp>(function));
  return success();
}

} // namespace tw::target
