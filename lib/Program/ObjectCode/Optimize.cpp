// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Program/ObjectCode/Optimize.h"
#include "Program/ObjectCode/OpaqueAddresses.h"
#include "Target/Common/LLVMPasses.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Target/TargetMachine.h"

namespace tw {

/// As `opt -passes=` has them. Targets write loops that are tiled, vectors, and several steps at
/// once where that pays, with few calls and without unknown aliases, so that much of -O3 has
/// nothing to find (docs/cpu-target.md says what that costs). What is left to do:
static constexpr const char *pipeline =
    // loops stand in functions of their own, whose arguments do not alias;
    "always-inline,function("
    // addresses are computed once, and outside of loops where they can be;
    "sroa,early-cse<memssa>,simplifycfg,instcombine<no-verify-fixpoint>,"
    "loop-mssa(licm,loop-rotate,licm,simple-loop-unswitch<nontrivial>),"
    "simplifycfg,instcombine<no-verify-fixpoint>,"
    // loops of few iterations hand over vectors one by one, or in memory;
    "loop(loop-idiom,indvars,loop-deletion,loop-unroll-full),"
    "sroa,gvn,instcombine<no-verify-fixpoint>,loop-mssa(licm),"
    // blocks ask again what their kernel's guards have answered;
    "jump-threading,dse,"
    // and some loops are over single elements: scatters, what the reference target does.
    "loop-vectorize,loop-load-elim,instcombine<no-verify-fixpoint>,simplifycfg)";

/// Where compiling counts more than running: what leaves the code generator less to do than it
/// costs. A reference program compiles in half the time; its products, sums in order, run as fast.
static constexpr const char *quickPipeline =
    "always-inline,function("
    "sroa,early-cse<memssa>,simplifycfg,instcombine<no-verify-fixpoint>,"
    "loop-mssa(licm,loop-rotate,licm))";

void optimize(llvm::Module &module, llvm::TargetMachine &machine,
              const Cancellation *cancellation) {
  bool isQuick = machine.getOptLevel() <= llvm::CodeGenOptLevel::Less;
  target::runPasses(
      module, machine,
      [&](llvm::PassBuilder &builder) {
        llvm::ModulePassManager passes;
        llvm::cantFail(builder.parsePassPipeline(passes, isQuick ? quickPipeline : pipeline));
        passes.addPass(llvm::createModuleToFunctionPassAdaptor(OpaqueAddresses()));
        return passes;
      },
      cancellation);
}

} // namespace tw
