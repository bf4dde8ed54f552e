// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "IR/Graph/Graph.h"
#include "Target/Libm.h"
#include "Target/Reference/Kernel.h"
#include "Target/Reference/Reference.h"
#include "Target/ToLLVM.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;

namespace tw::target {
namespace {

class ReferenceTarget : public Target {
public:
  explicit ReferenceTarget(const CpuFeatures &cpu) : cpu(cpu) {}

  StringRef name() const override { return "reference"; }

  void registerDialects(DialectRegistry &registry) const override {
    registry.insert<LLVM::LLVMDialect, scf::SCFDialect, arith::ArithDialect, math::MathDialect,
                    cf::ControlFlowDialect, ub::UBDialect, tensor::TensorDialect,
                    linalg::LinalgDialect, affine::AffineDialect, graph::TWDialect>();
  }

  FailureOr<KernelInfo> lower(Operation *kernel, ModuleOp into) override {
    kernel->getContext()
        ->loadDialect<LLVM::LLVMDialect, scf::SCFDialect, arith::ArithDialect, math::MathDialect,
                      cf::ControlFlowDialect, ub::UBDialect, linalg::LinalgDialect>();
    // Work on a copy, in a module of its own: what is there already in `into` is not looked at.
    OwningOpRef<ModuleOp> scratch = ModuleOp::create(kernel->getLoc());
    OwningOpRef<func::FuncOp> copy = cast<func::FuncOp>(kernel->clone());
    if (failed(reference::prepareKernel(*copy)))
      return failure();
    FailureOr<KernelInfo> info = reference::lowerKernel(*copy, *scratch, cpu);
    if (failed(info) || failed(lowerLoops(*scratch)))
      return failure();
    declareCalled(*scratch);
    moveFunctions(*scratch, into);
    return info;
  }

private:
  CpuFeatures cpu;
};

struct LowerKernels : PassWrapper<LowerKernels, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LowerKernels)
  StringRef getArgument() const override { return "tw-target-reference"; }
  StringRef getDescription() const override { return "Lower kernels to plain loops in LLVM"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    ReferenceTarget({}).registerDialects(registry);
  }

  void runOnOperation() override {
    ReferenceTarget target({});
    OwningOpRef<ModuleOp> code = ModuleOp::create(getOperation().getLoc());
    for (auto kernel : llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>())) {
      if (!kernel->hasAttr("tw.kernel"))
        continue;
      if (failed(target.lower(kernel, *code)))
        return signalPassFailure();
      kernel.erase();
    }
    for (Operation &op : llvm::make_early_inc_range(*code->getBody())) {
      op.remove();
      getOperation().push_back(&op);
    }
  }
};

} // namespace

std::unique_ptr<Target> createReferenceTarget(const CpuFeatures &features) {
  return std::make_unique<ReferenceTarget>(features);
}

void registerReferencePasses() { PassRegistration<LowerKernels>(); }

} // namespace tw::target
