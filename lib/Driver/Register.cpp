// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Driver/Register.h"
#include "GraphToTile/Configuration/ConfigurationAttr.h"
#include "IR/Graph/Graph.h"
#include "IR/Torch/Torch.h"
#include "Target/CPU/Configuration/Chooser.h"
#include "Target/NVIDIA/Configuration/Chooser.h"
#include "Tune/Spec/TuningDialect.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"

namespace tw {

void registerDialects(mlir::DialectRegistry &registry) {
  mlir::registerAllDialects(registry); // with the external models of their interfaces
  mlir::registerAllExtensions(registry);
  registry.insert<graph::TWDialect, torch::TorchDialect, torch_c::TorchConversionDialect>();
  registerConfigurations(registry);
  tune::registerTuningDialect(registry);
}

void registerConfigurations(mlir::DialectRegistry &registry) {
  conversion::registerConfigurations(registry);
  target::registerCPUConfigurations(registry);
  target::registerNVIDIAConfigurations(registry);
}

} // namespace tw
