// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs passes on text: what mlir-opt is to MLIR. For tests and for looking at one step.
// `--operators-page` prints docs/operators.md instead.
#include "Dispatch/Passes.h"
#include "Driver/TargetPasses.h"
#include "Driver/Targets.h"
#include "Graph/Passes.h"
#include "GraphToTile/Configuration/ConfigurationAttr.h"
#include "GraphToTile/Passes.h"
#include "IR/Graph/Graph.h"
#include "IR/Tile/Tile.h"
#include "IR/Torch/Torch.h"
#include "Target/CPU/Configuration/Chooser.h"
#include "Target/NVIDIA/Configuration/Chooser.h"
#include "Tile/Passes.h"
#include "TorchToGraph/TorchToGraph.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  if (argc == 2 && llvm::StringRef(argv[1]) == "--operators-page") {
    llvm::outs() << tw::operatorsPage();
    return 0;
  }
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  registry.insert<tw::graph::TWDialect, tw::torch::TorchDialect,
                  tw::torch_c::TorchConversionDialect, tw::tile::TileDialect>();
  tw::conversion::registerConfigurations(registry);
  tw::target::registerCPUConfigurations(registry);
  tw::target::registerNVIDIAConfigurations(registry);
  mlir::registerAllPasses();
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
