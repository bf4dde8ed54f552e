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

static LogicalResult lowerFunction(LLVM::LLVMFuncOp function) {
  MLIRContext *context = function.getContext();
  {
    RewritePatternSet patterns(context);
    populateSCFToControlFlowConversionPatterns(patterns);
    ConversionTarget target(*context);
    target.addIllegalDialect<scf::SCFDialect>();
    target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    if (failed(applyPartialConversion(function, target, std::move(patterns))))
      return failure();
  }
  LLVMTypeConverter converter(context);
  RewritePatternSet patterns(context);
  arith::populateArithToLLVMConversionPatterns(converter, patterns);
  cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
  populateMathToLLVMConversionPatterns(converter, patterns);
  ub::populateUBToLLVMConversionPatterns(converter, patterns);
  populateVectorToLLVMConversionPatterns(converter, patterns);
  LLVMConversionTarget target(*context);
  target.addLegalDialect("nvvm"); // beside llvm, in code for a GPU
  if (failed(applyFullConversion(function, target, std::move(patterns))))
    return failure();
  takeLoopAnnotations(function);
  return success();
}

LogicalResult lowerLoops(ModuleOp module) {
  for (auto function : llvm::make_early_inc_range(module.getOps<LLVM::LLVMFuncOp>()))
    if (!function.isExternal() && failed(lowerFunction(function)))
      return failure();
  return success();
}

} // namespace tw::target
