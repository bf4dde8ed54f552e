// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decides what text leaves open: optional values that are None or not, lists taken apart,
// arithmetic on constants. Exporters print such Python as it stands.
#include "IR/Torch/Torch.h"
#include "Import/Text/Stages.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
namespace tw::text {

void simplify(func::FuncOp entry) {
  MLIRContext *context = entry.getContext();
  RewritePatternSet patterns(context);
  for (RegisteredOperationName op :
       context->getRegisteredOperationsByDialect(torch::TorchDialect::getDialectNamespace()))
    op.getCanonicalizationPatterns(patterns, context);
  GreedyRewriteConfig config;
  config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
  // What it has not finished after its last round is as valid as before.
  (void)applyPatternsGreedily(entry, std::move(patterns), config);
}

} // namespace tw::text
