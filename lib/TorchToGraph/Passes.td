// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pass from PyTorch's operators to the graph.
include "mlir/Pass/PassBase.td"

def TorchToGraph : Pass<"torch-to-graph", "::mlir::ModuleOp"> {
  let summary = "Lower torch operators to linalg and tw";
  let description = [{
    Reports what is unsupported, then replaces each torch function:

    ```
    func.func @main(%x: !torch.vtensor<[2],f32>) -> !torch.vtensor<[2],f32> {
      %y = torch.aten.relu %x : ...
      return %y
    }
    ```

    becomes

    ```
    func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
      %y = linalg.generic ... ins(%x) { arith.maximumf ... }
      return %y
    }
    ```
  }];
  let constructor = "::tw::createTorchToGraphPass({})";
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
      "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
      "::mlir::tensor::TensorDialect", "::tw::graph::TWDialect"];
}
