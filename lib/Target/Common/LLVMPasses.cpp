// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/Common/LLVMPasses.h"
#include "llvm/IR/PassInstrumentation.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Target/TargetMachine.h"

namespace tw::target {

void runPasses(llvm::Module &module, llvm::TargetMachine &machine,
               llvm::function_ref<llvm::ModulePassManager(llvm::PassBuilder &)> makePasses,
               const Cancellation *cancellation) {
  llvm::PassInstrumentationCallbacks callbacks;
  if (cancellation)
    callbacks.registerShouldRunOptionalPassCallback(
        [=](llvm::StringRef, const llvm::Any &) { return !cancellation->isRequested(); });
  llvm::PassBuilder builder(&machine, llvm::PipelineTuningOptions(), std::nullopt,
                            cancellation ? &callbacks : nullptr);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager sccs;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(sccs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, sccs, modules);
  makePasses(builder).run(module, modules);
}

} // namespace tw::target
