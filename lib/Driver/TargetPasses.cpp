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
namespace {

bool isTileProgram(Operation &op) { return isa<tile::KernelOp>(op); }
bool isKernelFunction(Operation &op) { return isa<func::FuncOp>(op) && op.hasAttr("tw.kernel"); }

class LowerKernels : public PassWrapper<LowerKernels, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LowerKernels)
  LowerKernels(StringRef argument, bool (*takes)(Operation &)) : argument(argument), takes(takes) {}
  LowerKernels(const LowerKernels &other)
      : PassWrapper(other), argument(other.argument), takes(other.takes) {}

  StringRef getArgument() const override { return argument; }
  StringRef getDescription() const override { return "Lower kernels to code in LLVM's dialect"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    hostTarget().code->registerDialects(registry);
  }

  void runOnOperation() override {
    auto target = findTarget("cpu:" + cpu);
    if (!target) {
      emitCoded(getOperation().getLoc(), target.error().code) << target.error().message;
      return signalPassFailure();
    }
    for (Operation &kernel : llvm::make_early_inc_range(*getOperation().getBody()))
      if (takes(kernel) && failed(lower(kernel, *target->code)))
        return signalPassFailure();
  }

private:
  LogicalResult lower(Operation &kernel, target::Target &target) {
    if (plan && failed(target.printPlan(&kernel, llvm::outs())))
      return failure();
    OwningOpRef<ModuleOp> code = ModuleOp::create(kernel.getLoc());
    if (failed(loops ? target.emit(&kernel, *code) : target.lower(&kernel, *code)))
      return failure();
    kernel.erase();
    SymbolTable symbols(getOperation());
    for (Operation &op : llvm::make_early_inc_range(*code->getBody())) {
      bool isThere = symbols.lookup(cast<SymbolOpInterface>(op).getName()) != nullptr;
      if (isThere) // a declaration, or a weak function
        continue;
      op.remove();
      getOperation().push_back(&op);
    }
    return success();
  }

  StringRef argument;
  bool (*takes)(Operation &);
  Option<std::string> cpu{*this, "cpu", llvm::cl::desc("As in --target=cpu:NAME"),
                          llvm::cl::init("host")};
  Option<bool> loops{*this, "loops", llvm::cl::desc("Stop before the llvm dialect"),
                     llvm::cl::init(false)};
  Option<bool> plan{*this, "plan", llvm::cl::desc("Print what is decided before code is emitted"),
                    llvm::cl::init(false)};
};

} // namespace

void registerTargetPasses() {
  registerPass([] { return std::make_unique<LowerKernels>("tw-target-cpu", isTileProgram); });
  registerPass(
      [] { return std::make_unique<LowerKernels>("tw-target-reference", isKernelFunction); });
}

} // namespace tw
