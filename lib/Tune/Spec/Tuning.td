// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The `tuning` dialect: kernels as tuning specs see them, and the matchers of the transform dialect
// that look at them. docs/tuning.md.

#ifndef TILEWRIGHT_TUNE_SPEC_TUNING
#define TILEWRIGHT_TUNE_SPEC_TUNING

include "mlir/Dialect/Transform/IR/TransformDialect.td"
include "mlir/Dialect/Transform/Interfaces/MatchInterfaces.td"
include "mlir/Dialect/Transform/Interfaces/TransformInterfaces.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Tuning_Dialect : Dialect {
  let name = "tuning";
  let cppNamespace = "::tw::tune";
  let summary = "Kernels that want a configuration, for tuning specs to match";
  let description = [{
    A module with `tuning.version` is a tuning spec: `tuning.target` names what it is for ("cpu"
    or "nvidia"), and a named sequence may say in `tuning.measured`, a dictionary, where its
    configuration comes from.
  }];
  let hasOperationAttrVerify = 1;
}

def Tuning_KernelOp : Op<Tuning_Dialect, "kernel", []> {
  let summary = "A kernel before it is configured";
  let description = [{
    `features` is what `transform.tuning.match.kernel` compares, `sizes` what
    `transform.tuning.match.size` looks at: [least, most] of each.
  }];
  let arguments = (ins DictionaryAttr:$features, DictionaryAttr:$sizes);
  let assemblyFormat = "$features `sizes` $sizes attr-dict";
}

//===----------------------------------------------------------------------===//
// Matchers
//===----------------------------------------------------------------------===//

class Tuning_MatcherOp<string mnemonic> : Op<Transform_Dialect, "tuning.match." # mnemonic,
    [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>, SingleOpMatcher, MatchOpInterface]> {
  let cppNamespace = "::tw::tune";
  let hasVerifier = 1;
  code own = [{
    ::mlir::Value getOperandHandle() { return getKernel(); }
    /// Whether a kernel is as wanted, by the attributes of its tuning.kernel.
    bool matches(::mlir::DictionaryAttr features, ::mlir::DictionaryAttr sizes);
  }];
  let extraClassDeclaration = SingleOpMatcher.extraDeclaration # own;
}

def Tuning_MatchKernelOp : Tuning_MatcherOp<"kernel"> {
  let summary = "Succeeds if the kernel has all of these features";
  let arguments = (ins TransformHandleTypeInterface:$kernel, DictionaryAttr:$features);
  let assemblyFormat = "$kernel $features attr-dict `:` type($kernel)";
}

def Tuning_MatchSizeOp : Tuning_MatcherOp<"size"> {
  let summary = "Succeeds if one of the kernel's sizes is as wanted";
  let description = [{
    A size that is known only at the call matches if all that it may be does. `multiple_of`
    matches no such size.
  }];
  let arguments = (ins TransformHandleTypeInterface:$kernel, StrAttr:$size,
      OptionalAttr<I64Attr>:$equals, OptionalAttr<I64Attr>:$least, OptionalAttr<I64Attr>:$most,
      OptionalAttr<I64Attr>:$multiple_of);
  let assemblyFormat = [{
    $kernel $size oilist(`equals` $equals | `least` $least | `most` $most | `multiple_of` $multiple_of)
    attr-dict `:` type($kernel)
  }];
}

#endif // TILEWRIGHT_TUNE_SPEC_TUNING
