// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Graph/Passes.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace tw {

void buildGraphPipeline(OpPassManager &pm, ConstantEvaluator *evaluator) {
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addPass(createDropDeadResults());
  pm.addPass(createResolveDims());
  pm.addPass(createFoldUnitReshapes());
  pm.addPass(createFuseElementwise());
  pm.addPass(createCSEPass());
  pm.addPass(createTransposeWeights());
  if (evaluator)
    pm.addPass(createHoistWeights(evaluator));
  pm.addPass(createToDestinationStyle());
  pm.addPass(createResolveDims());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createFormDispatches());
  pm.addPass(createResolveDims());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

void buildPlainGraphPipeline(OpPassManager &pm) {
  pm.addPass(createResolveDims());
  pm.addPass(createToDestinationStyle());
  pm.addPass(createResolveDims());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createFormPlainDispatches());
  pm.addPass(createResolveDims());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

void registerGraphPasses() {
  for (auto create : {createDropDeadResults, createResolveDims, createFoldUnitReshapes,
                      createFuseElementwise, createTransposeWeights, createToDestinationStyle,
                      createFormDispatches, createFormPlainDispatches})
    registerPass(create);
  registerPass([] { return createHoistWeights(nullptr); });
  PassPipelineRegistration<>("tw-graph", "All passes of the graph level",
                             [](OpPassManager &pm) { buildGraphPipeline(pm, nullptr); });
  PassPipelineRegistration<>("tw-plain-graph", "What makes a graph executable, without fusion",
                             buildPlainGraphPipeline);
}

} // namespace tw
