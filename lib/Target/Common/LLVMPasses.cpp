// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/Common/LLVMPasses.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Target/TargetMachine.h"

namespace tw::target {

void runPasses(llvm::Module &module, llvm::TargetMachine &machine,
               llvm::function_ref<llvm::ModulePassManager(llvm::PassBuilder &)> makePasses) {
  llvm::PassBuilder builder(&machine);
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
