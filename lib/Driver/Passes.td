// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes that lower kernels by a target, for tilewright-opt.
include "mlir/Pass/PassBase.td"

class LowerKernels<string argument> : Pass<argument, "::mlir::ModuleOp"> {
  let options = [
    Option<"cpu", "cpu", "std::string", "\"host\"", "As in --target=cpu:NAME">,
    Option<"loops", "loops", "bool", "false", "Stop before the llvm dialect">,
    Option<"plan", "plan", "bool", "false", "Print what is decided before code is emitted">];
}

def LowerTilePrograms : LowerKernels<"tw-target-cpu"> {
  let summary = "Lower tile programs to code in LLVM's dialect";
  let description = [{
    Each tile.kernel becomes functions that the program's host code calls, by the CPU target
    (docs/cpu-target.md).
  }];
}

def LowerReferenceKernels : LowerKernels<"tw-target-reference"> {
  let summary = "Lower dispatches to plain loops in LLVM's dialect";
  let description = [{
    Each function of a dispatch (tw.kernel) becomes plain loops, by the reference target.
  }];
}
