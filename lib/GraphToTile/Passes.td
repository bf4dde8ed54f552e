// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes from dispatches to tile programs.
include "mlir/Pass/PassBase.td"

def ConfigureDispatches : Pass<"tw-configure", "::mlir::ModuleOp"> {
  let summary = "Choose configurations of dispatches";
  let description = [{
    Each dispatch that tile programs cover gets the configurations of its kernels.

    ```
    func.func private @k0(...) attributes {tw.kernel} { linalg.matmul ... }
    ```

    becomes

    ```
    func.func private @k0(...) attributes {tw.kernel,
        tile.configuration = #tile.dispatch_config<cuts [none] kernels [
            <"contraction" {columns = 48, rows = 8, ...}>]>} { linalg.matmul ... }
    ```

    Configurations are chosen by the target (ConfigurationChooser.h) where none is given. Decisions
    `cut` that are wanted (docs/configurations.md) go before its own choice of cuts. A remark
    says why a dispatch gets none: it runs on the reference target.
  }];
  let constructor = "::tw::conversion::createConfigureDispatches({})";
  let dependentDialects = ["::tw::tile::TileDialect", "::mlir::arith::ArithDialect",
      "::mlir::tensor::TensorDialect"];
}

def TilePrograms : Pass<"tw-tile-programs", "::mlir::ModuleOp"> {
  let summary = "Dispatches as tile programs";
  let description = [{
    Dispatches become tile programs:

    ```
    %y = tw.dispatch @k0(%x) outs(%e) : (tensor<1x128x768xf32>) ...
    func.func private @k0(...) attributes {tw.kernel} { ... linalg.generic ... }
    ```

    becomes

    ```
    %a = tensor.collapse_shape %x ... into tensor<98304xf32>
    %b = tw.dispatch @k0(%a) outs(%f) : (tensor<98304xf32>) ...
    tile.kernel @k0(in %in0: !tile.buffer<[98304], f32>, ...) grid [96] { ... }
    ```

    Each subkernel of a dispatch (Analysis/Subkernels/Subkernel.h) is a kernel, made as the function's
    configuration says (tw-configure), and the target, of what its own fields decide
    (ConfigurationChooser.h); lib/Tile fuses what can be fused again.
  }];
  let constructor = "::tw::conversion::createTilePrograms({})";
  let dependentDialects = ["::tw::tile::TileDialect", "::mlir::arith::ArithDialect",
      "::mlir::math::MathDialect", "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
}
