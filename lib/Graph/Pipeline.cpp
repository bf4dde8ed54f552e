// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Graph/Passes.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;

namespace tw {

void buildGraphPipeline(OpPassManager &pm, ConstantEvaluator *evaluator, bool roundsProducts) {
  pm.addPass(createGraphCanonicalizer());
  pm.addPass(createGraphCSE());
  pm.addPass(createDropDeadResults());
  pm.addPass(createResolveDims());
  if (evaluator)
    pm.addPass(createFoldMasks(evaluator));
  pm.addPass(createScatterIntoWhole());
  pm.addPass(createFoldUnitReshapes());
  pm.addPass(createFoldPadding());
  pm.addPass(createChannelsLast());
  pm.addPass(createFoldUnitReshapes());
  pm.addPass(createMergeProducts());
  pm.addPass(createReshapeBeforeSlice());
  pm.addPass(createReadCapturedViews());
  pm.addPass(createFuseElementwise());
  pm.addPass(createFoldAttentionTransposes());
  pm.addPass(createGroupQueries());
  pm.addPass(createCollapseSums());
  if (roundsProducts)
    pm.addPass(createRoundProducts());
  pm.addPass(createGraphCSE());
  if (evaluator)
    pm.addPass(createHoistWeights(evaluator));
  pm.addPass(createTransposeWeights());
  pm.addPass(createFoldFilterTransposes());
  // Copies what leaves as a slice; nothing that reads it may be found to do nothing after that.
  pm.addPass(createGraphCanonicalizer());
  pm.addPass(createSumGroupGradients());
  pm.addPass(createToDestinationStyle());
  pm.addPass(createResolveDims());
  pm.addPass(createGraphCanonicalizer());
}

void buildPlainGraphPipeline(OpPassManager &pm) {
  pm.addPass(createResolveDims());
  pm.addPass(createGraphCanonicalizer()); // as above
  pm.addPass(createToDestinationStyle());
  pm.addPass(createResolveDims());
  pm.addPass(createGraphCanonicalizer());
}

void registerGraphPasses() {
  for (auto create : {createDropDeadResults,      createResolveDims,
                      createScatterIntoWhole,     createFoldUnitReshapes,
                      createFoldPadding,          createReadCapturedViews,
                      createReshapeBeforeSlice,   createFuseElementwise,
                      createChannelsLast,         createMergeProducts,
                      createRoundProducts,        createFoldAttentionTransposes,
                      createGroupQueries,         createCollapseSums,
                      createSumGroupGradients,    createTransposeWeights,
                      createFoldFilterTransposes, createToDestinationStyle,
                      createNumberValues,         createGraphCSE})
    registerPass(create);
  registerPass([] { return createHoistWeights(nullptr); });
  registerPass([] { return createFoldMasks(nullptr); });
}

} // namespace tw
