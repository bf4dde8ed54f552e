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
  pm.addPass(createChannelsLast());
  pm.addPass(createFoldUnitReshapes());
  pm.addPass(createReshapeBeforeSlice());
  pm.addPass(createFuseElementwise());
  pm.addPass(createFoldAttentionTransposes());
  pm.addPass(createGroupQueries());
  pm.addPass(createCSEPass());
  pm.addPass(createTransposeWeights());
  if (evaluator)
    pm.addPass(createHoistWeights(evaluator));
  // Copies what leaves as a slice; nothing that reads it may be found to do nothing after that.
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createToDestinationStyle());
  pm.addPass(createResolveDims());
  pm.addPass(createCanonicalizerPass());
}

void buildPlainGraphPipeline(OpPassManager &pm) {
  pm.addPass(createResolveDims());
  pm.addPass(createCanonicalizerPass()); // as above
  pm.addPass(createToDestinationStyle());
  pm.addPass(createResolveDims());
  pm.addPass(createCanonicalizerPass());
}

void registerGraphPasses() {
  for (auto create :
       {createDropDeadResults, createResolveDims, createFoldUnitReshapes, createReshapeBeforeSlice,
        createFuseElementwise, createChannelsLast, createFoldAttentionTransposes,
        createGroupQueries, createTransposeWeights, createToDestinationStyle})
    registerPass(create);
  registerPass([] { return createHoistWeights(nullptr); });
}

} // namespace tw
