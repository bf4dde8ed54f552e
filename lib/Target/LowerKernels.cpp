// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/LowerKernels.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;

namespace tw::target {
namespace {

struct LowerKernels : PassWrapper<LowerKernels, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LowerKernels)
  LowerKernels(StringRef argument, std::unique_ptr<Target> (*createTarget)())
      : argument(argument), createTarget(createTarget) {}

  StringRef getArgument() const override { return argument; }
  StringRef getDescription() const override { return "Lower kernels to code in LLVM's dialect"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    createTarget()->registerDialects(registry);
  }

  void runOnOperation() override {
    std::unique_ptr<Target> target = createTarget();
    OwningOpRef<ModuleOp> code = ModuleOp::create(getOperation().getLoc());
    for (auto kernel : llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>())) {
      if (!kernel->hasAttr("tw.kernel"))
        continue;
      if (failed(target->lower(kernel, *code)))
        return signalPassFailure();
      kernel.erase();
    }
    for (Operation &op : llvm::make_early_inc_range(*code->getBody())) {
      op.remove();
      getOperation().push_back(&op);
    }
  }

private:
  StringRef argument;
  std::unique_ptr<Target> (*createTarget)();
};

} // namespace

void registerLowerKernels(StringRef pass, std::unique_ptr<Target> (*createTarget)()) {
  registerPass([=] { return std::make_unique<LowerKernels>(pass, createTarget); });
}

} // namespace tw::target
