// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The target, and which operations it can run, each by its emitter.
#include "Target/Reference/ReferenceTarget.h"
#include "Target/Common/Operations/LowerScalars.h"
#include "Target/Reference/PlainLoops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

using namespace mlir;

#include "Target/Reference/PlainLoops.cpp.inc"

namespace tw::target {
namespace {

using namespace reference;

template <typename OpT, LogicalResult (*emit)(OpT, Emitter &)>
struct Model : PlainLoops::FallbackModel<Model<OpT, emit>> {
  LogicalResult emitLoops(Operation *op, Emitter &e) const { return emit(cast<OpT>(op), e); }
};

template <typename OpT, LogicalResult (*emit)(OpT, Emitter &)>
void attach(MLIRContext *context) {
  RegisteredOperationName::lookup(OpT::getOperationName(), context)
      ->template attachInterface<Model<OpT, emit>>();
}

/// All structured operations, by their indexing maps and bodies.
void attachToLinalg(MLIRContext *context) {
  for (RegisteredOperationName name : context->getRegisteredOperations())
    if (name.hasInterface<linalg::LinalgOp>())
      name.attachInterface<Model<linalg::LinalgOp, emitGeneric>>();
}

void registerModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, graph::TWDialect *) {
    attach<graph::AttentionOp, emitAttention>(context);
    attach<graph::AttentionGradientOp, emitAttentionGradient>(context);
    attach<graph::ConvOp, emitConv>(context);
    attach<graph::ScanOp, emitScan>(context);
    attach<graph::ScatterOp, emitScatter>(context);
    attach<graph::SortOp, emitSort>(context);
  });
  registry.addExtension(+[](MLIRContext *context, tensor::TensorDialect *) {
    attach<tensor::ExtractSliceOp, emitExtractSlice>(context);
    attach<tensor::InsertSliceOp, emitInsertSlice>(context);
  });
  registry.addExtension(
      +[](MLIRContext *context, linalg::LinalgDialect *) { attachToLinalg(context); });
}

class ReferenceTarget : public Target {
public:
  StringRef name() const override { return "reference"; }

  void registerDialects(DialectRegistry &registry) const override {
    registry.insert<LLVM::LLVMDialect, scf::SCFDialect, arith::ArithDialect, math::MathDialect,
                    cf::ControlFlowDialect, ub::UBDialect, tensor::TensorDialect,
                    linalg::LinalgDialect, graph::TWDialect>();
    registerModels(registry);
  }

  FailureOr<KernelInfo> emit(Operation *kernel, ModuleOp into, const Cancellation *) override {
    kernel->getContext()
        ->loadDialect<LLVM::LLVMDialect, scf::SCFDialect, arith::ArithDialect, math::MathDialect,
                      cf::ControlFlowDialect, ub::UBDialect, linalg::LinalgDialect>();
    // In a copy, as sizes are resolved in the kernel.
    OwningOpRef<func::FuncOp> copy = cast<func::FuncOp>(kernel->clone());
    FailureOr<KernelInfo> info = lowerKernel(*copy, into);
    std::set<std::string> imports;
    if (failed(info) || failed(lowerScalars(into, imports)))
      return failure();
    info->imports.assign(imports.begin(), imports.end());
    return info;
  }
};

} // namespace

std::unique_ptr<Target> createReferenceTarget() { return std::make_unique<ReferenceTarget>(); }

} // namespace tw::target
