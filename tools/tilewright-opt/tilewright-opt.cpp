// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs passes on text: what mlir-opt is to MLIR. For tests and for looking at one step.
// `--operators-page` prints docs/operators.md instead.
#include "Dispatch/Passes.h"
#include "Driver/Register.h"
#include "Driver/TargetPasses.h"
#include "Driver/Targets.h"
#include "Graph/Passes.h"
#include "GraphToTile/Passes.h"
#include "Tile/Passes.h"
#include "TorchToGraph/TorchToGraph.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char **argv) {
  if (argc == 2 && llvm::StringRef(argv[1]) == "--operators-page") {
    llvm::outs() << tw::operatorsPage();
    return 0;
  }
  mlir::DialectRegistry registry;
  tw::registerDialects(registry);
  tw::findTarget("cpu")->code->registerDialects(registry);
  mlir::registerTransformsPasses();
  tw::registerTorchToGraphPass();
  tw::registerGraphPasses();
  tw::registerDispatchPasses();
  // Configurations are those for AVX2.
  tw::conversion::registerPasses(tw::findTarget("cpu:x86-64-v3")->chooser);
  tw::tile::registerPasses();
  tw::registerTargetPasses();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "Tilewright's optimizer driver\n", registry));
}
