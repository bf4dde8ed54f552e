// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes that form dispatches.
include "mlir/Pass/PassBase.td"

def FormDispatches : Pass<"tw-form-dispatches", "::mlir::ModuleOp"> {
  let summary = "Group operations into kernels";
  let description = [{
    Each group of operations (Groups.h) becomes a kernel, a private function that writes into the
    destinations it is given, and a tw.dispatch that calls it:

    ```
    %e = tensor.empty() : tensor<4x8xf32>
    %y = linalg.generic ins(%x) outs(%e)
    ```

    becomes

    ```
    %y = tw.dispatch @k0(%x) outs(%e) : (tensor<4x8xf32>) outs (tensor<4x8xf32>) -> tensor<4x8xf32>
    func.func private @k0(%x: ..., %out: ...) -> ... attributes {tw.kernel} { ... }
    ```

    Kernels with the same body are one function. What a kernel reads from outside becomes an
    argument; constants, empty tensors and slices of outside tensors move into it.

    How large a kernel's values may be follows from the machine: the options are what a target says
    (`ConfigurationChooser::fusionLimits`).
  }];
  let options = [
    Option<"tinyElements", "tiny-elements", "int64_t", "1024",
           "Elements of results so small that one thread computes them best, with what else is so">,
    Option<"rowElements", "row-elements", "int64_t", "65536",
           "Elements that a row may keep between the operations of a kernel">,
    Option<"rereadElements", "reread-elements", "int64_t", "65536",
           "Elements of the other operand of a second product, read again for every row">
  ];
  let dependentDialects = ["::tw::graph::TWDialect"];
}

def FormPlainDispatches : Pass<"tw-form-plain-dispatches", "::mlir::ModuleOp"> {
  let summary = "Make a kernel of each operation";
  let description = [{
    As tw-form-dispatches, but a kernel has one operation, with what begins the destination that it
    updates.
  }];
  let dependentDialects = ["::tw::graph::TWDialect"];
}

def ReadSlices : Pass<"tw-read-slices", "::mlir::ModuleOp"> {
  let summary = "Read contiguous slices where they are instead of copying them";
  let description = [{
    A kernel that only copies a contiguous part of a tensor that is in memory anyway is no kernel:
    those that read the copy read the part.

    ```
    %s = tw.dispatch @k0(%cache) outs(%e)       // @k0 copies [1, 16, 4096, 128] of %cache
    %o = tw.dispatch @k1(%q, %s) outs(%f)
    ```

    becomes

    ```
    %s = tensor.extract_slice %cache[0, 0, 0, 0] [1, 16, 4096, 128] [1, 1, 1, 1]
    %o = tw.dispatch @k1(%q, %s) outs(%f)
    ```

    A target whose kernels read many elements at once asks that buffers begin at multiples of so many
    bytes (`ConfigurationChooser::fusionLimits`): a part that begins elsewhere is copied after all.
  }];
  let options = [
    Option<"alignment", "alignment", "int64_t", "1",
           "Bytes at multiples of which a part must begin in its tensor">
  ];
  let dependentDialects = ["::tw::graph::TWDialect"];
}
