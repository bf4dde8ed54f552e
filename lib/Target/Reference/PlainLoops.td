// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What an operation says of itself to run on the reference target.

include "mlir/IR/OpBase.td"

def PlainLoops : OpInterface<"PlainLoops"> {
  let cppNamespace = "::tw::target::reference";
  let description = [{
    An operation on tensors that the reference target runs as loops. Models for operations of other
    dialects are attached (ReferenceTarget.cpp).
  }];
  let methods = [InterfaceMethod<[{
      Emits loops that write every element of the results into their buffers. Where the operation
      has destinations, these hold the initial values already.
    }], "::llvm::LogicalResult", "emitLoops", (ins "::tw::target::reference::Emitter &":$emitter)>];
}
