// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Driver/TargetPasses.h"
#include "Driver/Targets.h"
#include "IR/Coded.h"
#include "IR/Tile/Tile.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;

namespace tw {
#define GEN_PASS_DECL
#define GEN_PASS_DEF_LOWERTILEPROGRAMS
#define GEN_PASS_DEF_LOWERREFERENCEKERNELS
#include "Driver/Passes.h.inc"

namespace {

bool isTileProgram(Operation &op) { return isa<tile::KernelOp>(op); }
bool isKernelFunction(Operation &op) { return isa<func::FuncOp>(op) && op.hasAttr("tw.kernel"); }

/// A pass that lowers the operations that `takes` names, with the options that all of them have.
template <typename Base, bool (*takes)(Operation &)>
struct LowerKernels : Base {
  using Base::Base;

  void getDependentDialects(DialectRegistry &registry) const override {
    hostTarget().code->registerDialects(registry);
  }

  void runOnOperation() override {
    ModuleOp module = this->getOperation();
    auto target = findTarget("cpu:" + this->cpu);
    if (!target) {
      emitCoded(module.getLoc(), target.error().code) << target.error().message;
      return this->signalPassFailure();
    }
    for (Operation &kernel : llvm::make_early_inc_range(*module.getBody()))
      if (takes(kernel) && failed(lower(kernel, *target->code)))
        return this->signalPassFailure();
  }

private:
  LogicalResult lower(Operation &kernel, target::Target &target) {
    if (this->plan && failed(target.printPlan(&kernel, llvm::outs())))
      return failure();
    OwningOpRef<ModuleOp> code = ModuleOp::create(kernel.getLoc());
    if (failed(this->loops ? target.emit(&kernel, *code) : target.lower(&kernel, *code)))
      return failure();
    kernel.erase();
    ModuleOp module = this->getOperation();
    SymbolTable symbols(module);
    for (Operation &op : llvm::make_early_inc_range(*code->getBody())) {
      bool isThere = symbols.lookup(cast<SymbolOpInterface>(op).getName()) != nullptr;
      if (isThere) // a declaration, or a weak function
        continue;
      op.remove();
      module.push_back(&op);
    }
    return success();
  }
};

struct LowerTilePrograms
    : LowerKernels<impl::LowerTileProgramsBase<LowerTilePrograms>, isTileProgram> {
  using LowerKernels::LowerKernels;
};
struct LowerReferenceKernels
    : LowerKernels<impl::LowerReferenceKernelsBase<LowerReferenceKernels>, isKernelFunction> {
  using LowerKernels::LowerKernels;
};

} // namespace

void registerTargetPasses() {
  registerPass([] { return createLowerTilePrograms(); });
  registerPass([] { return createLowerReferenceKernels(); });
}

} // namespace tw
