// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Driver/Register.h"
#include "GraphToTile/Configuration/ConfigurationAttr.h"
#include "IR/Graph/Graph.h"
#include "IR/Tile/Tile.h"
#include "IR/Torch/Torch.h"
#include "Target/CPU/Configuration/Chooser.h"
#include "Target/NVIDIA/Configuration/Chooser.h"
#include "Tune/Spec/TuningDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace tw {

void registerDialects(mlir::DialectRegistry &registry) {
  // Those that models and graphs are made of; targets register what they make of them.
  registry.insert<mlir::arith::ArithDialect, mlir::func::FuncDialect, mlir::linalg::LinalgDialect,
                  mlir::math::MathDialect, mlir::scf::SCFDialect, mlir::tensor::TensorDialect>();
  registry.insert<graph::TWDialect, torch::TorchDialect, torch_c::TorchConversionDialect,
                  tile::TileDialect>();
  registerConfigurations(registry);
  tune::registerTuningDialect(registry);
}

void registerConfigurations(mlir::DialectRegistry &registry) {
  conversion::registerConfigurations(registry);
  target::registerCPUConfigurations(registry);
  target::registerNVIDIAConfigurations(registry);
}

} // namespace tw
