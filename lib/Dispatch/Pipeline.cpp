// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Dispatch/Passes.h"
#include "Graph/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;

namespace tw {

static void addCleanUp(OpPassManager &pm) {
  pm.addPass(createResolveDims());
  pm.addPass(createGraphCanonicalizer());
  pm.addPass(createGraphCSE());
}

void buildDispatchPipeline(OpPassManager &pm, const FusionLimits &limits) {
  FormDispatchesOptions options;
  options.tinyElements = limits.tiny;
  options.rowElements = limits.row;
  options.rereadElements = limits.reread;
  pm.addPass(createFormDispatches(options));
  pm.addPass(createReadSlices({limits.alignment}));
  addCleanUp(pm);
}

void buildPlainDispatchPipeline(OpPassManager &pm) {
  pm.addPass(createFormPlainDispatches());
  addCleanUp(pm);
}

void registerDispatchPasses() {
  registerPass([] { return createFormDispatches(); });
  registerPass([] { return createReadSlices(); });
  registerPass(createFormPlainDispatches);
  PassPipelineRegistration<>("tw-dispatches",
                             "All passes of the graph level, and dispatches formed",
                             [](OpPassManager &pm) {
                               buildGraphPipeline(pm, nullptr);
                               buildDispatchPipeline(pm);
                             });
  PassPipelineRegistration<>("tw-plain-dispatches", "What makes a graph executable, without fusion",
                             [](OpPassManager &pm) {
                               buildPlainGraphPipeline(pm);
                               buildPlainDispatchPipeline(pm);
                             });
}

} // namespace tw
