// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The torch_c dialect: casts between the torch dialect's types and builtin ones.
include "IR/Torch/TorchBase.td"

def TorchConversionDialect : Dialect {
  let name = "torch_c";
  let cppNamespace = "::tw::torch_c";
  let summary = "Casts between types of the torch dialect and builtin types";
  let dependentDialects = ["::tw::torch::TorchDialect"];
}

class CastOp<string mnemonic, Type from, Type to>
    : Op<TorchConversionDialect, mnemonic, [Pure]> {
  let arguments = (ins from:$operand);
  let results = (outs to:$result);
}

class TensorCastOp<string mnemonic, Type from, Type to> : CastOp<mnemonic, from, to> {
  let assemblyFormat = [{
    $operand attr-dict `:` qualified(type($operand)) `->` qualified(type($result))
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}
def FromBuiltinTensorOp : TensorCastOp<"from_builtin_tensor", AnyTensor, TorchValueTensorType> {
  let summary = "A `tensor` as a `!torch.vtensor` of the same sizes";
}
def ToBuiltinTensorOp : TensorCastOp<"to_builtin_tensor", TorchValueTensorType, AnyTensor> {
  let summary = "A `!torch.vtensor` as a `tensor` of the same sizes";
}

class ScalarCastOp<string mnemonic, Type from, Type to> : CastOp<mnemonic, from, to> {
  let assemblyFormat = "$operand attr-dict";
  let hasFolder = 1;
}
def ToI1Op : ScalarCastOp<"to_i1", TorchBoolType, I1>;
def FromI1Op : ScalarCastOp<"from_i1", I1, TorchBoolType>;
def ToI64Op : ScalarCastOp<"to_i64", TorchIntType, I64>;
def FromI64Op : ScalarCastOp<"from_i64", I64, TorchIntType>;
def ToF64Op : ScalarCastOp<"to_f64", TorchFloatType, F64>;
def FromF64Op : ScalarCastOp<"from_f64", F64, TorchFloatType>;

def I64ToGeneratorOp : CastOp<"i64_to_generator", I64, TorchGeneratorType> {
  let assemblyFormat = "$operand attr-dict";
}
def GeneratorToI64Op : CastOp<"generator_to_i64", TorchGeneratorType, I64> {
  let assemblyFormat = "$operand attr-dict";
}
def GetNextSeedOp : Op<TorchConversionDialect, "get_next_seed"> {
  let summary = "The next seed of the global random state";
  let results = (outs I64:$result);
  let assemblyFormat = "attr-dict `:` `(` `)` `->` qualified(type($result))";
}
