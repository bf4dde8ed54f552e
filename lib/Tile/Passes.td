// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes on tile programs.
include "mlir/Pass/PassBase.td"

def BindCalls : Pass<"tile-bind-calls", "::mlir::ModuleOp"> {
  let summary = "Calls of kernels as dispatches";
  let description = [{
    Calls of hand-written kernels become dispatches.

    ```
    %y = tw.kernel_call "mylib.softmax"(%x) : (tensor<?x8xf32>) -> tensor<?x8xf32>
    tile.kernel @softmax(in %x: !tile.buffer<[M, N], f32>, out %y: !tile.buffer<[M, N], f32>) ...
    ```

    becomes

    ```
    %m = tensor.dim %x, %c0
    %e = tensor.empty(%m) : tensor<?x8xf32>
    %y = tw.dispatch @softmax(%x) outs(%e) : ...
    tile.kernel @softmax(in %x: !tile.buffer<[M, 8], f32>, ...) ... attributes {tile.destinations}
    ```

    What is known of the arguments is bound and checked now, and the kernel specialised for it; the
    rest is solved and checked by the host program (RuntimeBinding.h). Dispatches give inputs, then
    outs, then scalars: the kernel's arguments are brought into that order.

    A tensor never changes, so a buffer that a kernel reads and writes (inout) is an input, what it
    holds before, and an out, which begins as a copy of it (`tile.begins`); where the input is not
    needed any more both are one memory.
  }];
  let constructor = "::tw::tile::createBindCalls({})";
  let dependentDialects = ["::tw::tile::TileDialect", "::mlir::arith::ArithDialect",
      "::mlir::math::MathDialect", "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
}

def Simplify : Pass<"tile-simplify", "::tw::tile::KernelOp"> {
  let summary = "Simplify tile programs";
  let description = [{
    Folds index arithmetic and tiles of one value, merges equal operations, drops dead
    ones and loops that make one trip or none.

    ```
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %i = arith.muli %c2, %c3 : index
    %z = tile.full %zero : f32 -> tensor<1x1xf32>
    %zs = tile.broadcast %z : tensor<1x1xf32> -> tensor<1x?xf32, #tile.dims<[N]>>
    ```

    becomes

    ```
    %i = arith.constant 6 : index
    %zs = tile.full %zero : f32 -> tensor<1x?xf32, #tile.dims<[N]>>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def OrderOperations : Pass<"tile-order", "::tw::tile::KernelOp"> {
  let summary = "The order in which kernels are compared";
  let description = [{
    The one order of a kernel's operations in which kernels are compared. What touches
    memory stays in its order; each other operation stands right before the first one that needs it,
    and constants, sizes and program ids stand first.

    ```
    %b = tile.full %c1 : f32 -> tensor<4xf32>
    %a = tile.load %x[%c0] : ...
    %s = math.exp %a : tensor<4xf32>
    %t = arith.addf %b, %s : tensor<4xf32>
    ```

    becomes

    ```
    %a = tile.load %x[%c0] : ...
    %b = tile.full %c1 : f32 -> tensor<4xf32>
    %s = math.exp %a : tensor<4xf32>
    %t = arith.addf %b, %s : tensor<4xf32>
    ```
  }];
}

def FuseDispatches : Pass<"tile-fuse", "::mlir::ModuleOp"> {
  let summary = "Fuse dispatches of tile programs";
  let description = [{
    The one fusion of kernels: two dispatches of tile programs, of which one reads what the other
    writes, become one. (Operators have become one expression before, in tw-fuse-elementwise, and one
    dispatch, in tw-form-dispatches.)

    ```
    %c = tw.dispatch @product(%a, %b) outs(%e)            tile.store %acc, %out[%i, %j]
    %y = tw.dispatch @bias_relu(%c, %d) outs(%f)
    ```

    becomes

    ```
    %y = tw.dispatch @product_bias_relu(%a, %b, %d) outs(%f)
                                             %z = tile.load %d[%j] ... max(%acc + %z, 0)
                                             tile.store %z, %out[%i, %j]
    ```

    A pointwise kernel (Pointwise.h) follows a store, or takes the place of a load: outside of the
    buffer, where the load would have given the pad value, that is selected. One that reads several
    parts of what is stored follows the blocks of all of them, which one program then computes. One that
    transposes what it reads follows blocks of which enough elements are side by side then. What
    several programs, or trips of a loop, would compute again is fused where that takes less than a kernel that
    computes it once, stores it and has it loaded, by the target's costs
    (`ConfigurationChooser::recomputationCosts`, the options of the pass); or where it is movement alone, and is read
    element by element. What feeds products is placed by the target, and not computed again.
  }];
  let options = [
    Option<"dispatch", "dispatch-cost", "double", "0", "of one kernel more, in cycles">,
    Option<"operation", "operation-cost", "double", "0", "of an operation on one element">,
    Option<"function", "function-cost", "double", "0", "of a division or a function on one element">,
    Option<"access", "access-cost", "double", "0", "of reading or writing one element">,
    Option<"leastTransposedRun", "least-transposed-run", "int64_t", "0",
           "how many elements side by side a kernel has to store of what it computes transposed; 0: it never does">,
  ];
  let dependentDialects = ["::tw::tile::TileDialect", "::mlir::arith::ArithDialect"];
}

def FuseRows : Pass<"tile-fuse-rows", "::mlir::ModuleOp"> {
  let summary = "Run kernels one after the other, block of rows by block of rows";
  let description = [{
    Dispatches of tile programs of which each reads the rows that the one before has stored become one, as the layers
    of a small MLP do. A program of it has a block of rows, and takes it through all of them: it runs those programs of
    each kernel that have these rows. So what is passed on stays in the cache of the worker that has stored it.

    ```
    %h = tw.dispatch @hidden(%x, %w) outs(%e)      // grid [32, 8], programs of 8 rows
    %y = tw.dispatch @output(%h, %v) outs(%f)      // grid [64, 4], of 4 rows
    ```

    becomes

    ```
    %h, %y = tw.dispatch @hidden_0(%x, %w, %v) outs(%e, %f)
    tile.kernel @hidden_0(...) grid [16] {         // of 16 rows
      tile.for %j = %c0 to %c8 step %c1 {
        tile.for %i = %c0 to %c2 step %c1 { ... tile.store %acc, %h[...] }
      }
      tile.for %j = %c0 to %c4 step %c1 {
        tile.for %i = %c0 to %c4 step %c1 { ... tile.load %h[...] ... tile.store %acc, %y[...] }
      }
    }
    ```

    Each element is computed as before. Kernels of products are fused so, where the target says that it pays
    (`ConfigurationChooser::rowFusionLimits`, the options of the pass): workers meet once instead of after each kernel,
    for which there have to be programs for all of them. The configuration can ask for it elsewhere.
  }];
  let options = [
    Option<"mostOperations", "most-operations", "int64_t", "0",
           "floating-point operations of all kernels together">,
    Option<"mostBytes", "most-bytes", "int64_t", "0",
           "of the rows of a program, of all values that it passes on">,
    Option<"mostSharedBytes", "most-shared-bytes", "int64_t", "0",
           "of what all programs read, such as weights">,
    Option<"leastPrograms", "least-programs", "int64_t", "1", "of the new kernel">,
  ];
  let dependentDialects = ["::tw::tile::TileDialect", "::mlir::arith::ArithDialect"];
}

def SplitLoops : Pass<"tile-split", "::mlir::ModuleOp"> {
  let summary = "Run loops with combine in parts";
  let description = [{
    A kernel with few programs and a loop with `combine` becomes two.

    ```
    %r = tw.dispatch @k(%x) outs(%e)              // grid [2], a loop over 4096 blocks
    ```

    becomes

    ```
    %s = tw.dispatch @k_parts(%x) outs(%states)   // grid [16, 2], each over 256 blocks
    %r = tw.dispatch @k(%x, %s) outs(%e)          // grid [2], combines 16 states
    ```

    How many parts there are follows from sizes, so sums come out the same on any number of threads; and from the
    target, which says when it pays (`ConfigurationChooser::splitLimits`, the options of the pass), unless the
    kernel's configuration has a number (`split_parts`). Few parts are combined by straight-line code.
  }];
  let options = [
    Option<"enoughPrograms", "enough-programs", "int64_t", "0", "from which on a kernel is left as it is">,
    Option<"wantedPrograms", "wanted-programs", "int64_t", "0", "of a kernel that is split, about">,
    Option<"leastWork", "least-work", "int64_t", "1", "of a part: multiplications, or elements of other operations">,
    Option<"partsOfUnknown", "parts-of-unknown", "int64_t", "1", "at most, where only calls tell the trips">,
    Option<"loadWork", "load-work", "int64_t", "1", "multiplications that take as long as an element that is loaded">,
    Option<"mostWrittenOut", "most-written-out", "int64_t", "1", "parts that are combined without a loop">,
  ];
  let dependentDialects = ["::tw::tile::TileDialect", "::mlir::arith::ArithDialect",
      "::mlir::tensor::TensorDialect"];
}

def UpdateInPlace : Pass<"tile-update-in-place", "::mlir::ModuleOp"> {
  let summary = "Let kernels read and write one buffer where a result takes an input's place";
  let description = [{
    A kernel whose result takes the place of an input reads and writes one
    buffer.

    ```
    tile.kernel @k(in %old, in %g, out %new) { ... load %old[i] ... store %t, %new[i] ... }
    %new = tw.dispatch @k(%old, %g) outs(%e)     // %old: state, whose next value is %new
    ```

    becomes

    ```
    tile.kernel @k(in %old, in %g, inout %new) { ... load %new[i] ... store %t, %new[i] ... }
        attributes {tile.begins = [0, 2]}
    ```

    It is done where each element is read by the program that writes it, before it does; a store that
    only copies old elements then goes, and so do further inputs that are the same tensor. The host
    program then gives both one memory (Program/Host/Storage.h), and nothing is copied. What is stored
    where a mask of positions holds, and is the old value elsewhere, is stored under the mask alone.
  }];
}

def ShareKernels : Pass<"tile-share-kernels", "::mlir::ModuleOp"> {
  let summary = "Keep one of several equal kernels";
  let description = [{
    Dispatches whose kernels differ in their names alone run one of them, as those of layers of which
    the first one follows something else than the others do:

    ```
    %a = tw.dispatch @k3_1(%x, %v) ...                  %a = tw.dispatch @k3_1(%x, %v) ...
    %b = tw.dispatch @k8_0(%y, %w) ...          ->      %b = tw.dispatch @k3_1(%y, %w) ...
    ```
  }];
}

def MarkConstants : Pass<"tile-mark-constants", "::mlir::ModuleOp"> {
  let summary = "Say which inputs of kernels are constant";
  let description = [{
    An input that is a weight, or a part of one, in all calls of a kernel holds the same in each of them: nothing
    writes to it, neither a program nor the kernel before. So it may be read, or prefetched, before that kernel ends.

    ```
    %w = tw.weight ...
    %y = tw.dispatch @linear(%x, %w) outs(%e)
    tile.kernel @linear(in %x: !tile.buffer<[5, 16], f32>, in %w: !tile.buffer<[1, 16, 32], f32>, ...
    ```

    becomes

    ```
    tile.kernel @linear(in %x: !tile.buffer<[5, 16], f32>, in %w: !tile.buffer<[1, 16, 32], f32> constant, ...
    ```

    It is the last pass on tile programs, since kernels that are equal but for it are one (tile-share-kernels), and
    since weights get their final form, packed or transposed, after the first of them.
  }];
}

def Specialize : Pass<"tile-specialize", "::tw::tile::KernelOp"> {
  let summary = "Replace symbols of kernels by values";
  let description = [{
    Symbols become numbers, so that tiles get static extents.

    ```
    tile.kernel @k(in %x: !tile.buffer<[M, N], f32>) symbols [M, N] grid [M ceildiv 4] {
      %t = tile.load ... -> tensor<4x?xf32, #tile.dims<[N]>>
    ```

    becomes, with N = 8,

    ```
    tile.kernel @k(in %x: !tile.buffer<[M, 8], f32>) symbols [M] grid [M ceildiv 4] {
      %t = tile.load ... -> tensor<4x8xf32>
    ```
  }];
  let constructor = "::tw::tile::createSpecialize()";
  let options = [ListOption<"symbols", "symbols", "std::string", "NAME=VALUE, ...">];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def AllowTF32 : Pass<"tile-allow-tf32", "::mlir::ModuleOp"> {
  let summary = "Let products of f32 round their operands to tf32";
  let description = [{
    Where a model is compiled with `--precision=tf32`, all its products of f32 say so. Targets without tf32 multiply
    f32 as they are.

    ```
    %d = tile.dot %a, %b, %c : tensor<64x32xf32>, tensor<32x64xf32>, tensor<64x64xf32>
    ```

    becomes

    ```
    %d = tile.dot %a, %b, %c tf32 : tensor<64x32xf32>, tensor<32x64xf32>, tensor<64x64xf32>
    ```
  }];
}
