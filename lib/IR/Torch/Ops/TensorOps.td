// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is between tensors with value semantics and those without, symbolic sizes, run-time checks,
// and operators by name.
include "IR/Torch/TorchBase.td"

def TensorStaticInfoCastOp : TorchOp<"tensor_static_info_cast", [Pure]> {
  let summary = "The same tensor with more or less known about its sizes and dtype";
  let arguments = (ins AnyTorchTensor:$operand);
  let results = (outs AnyTorchTensor:$result);
  let assemblyFormat = [{
    $operand attr-dict `:` qualified(type($operand)) `to` qualified(type($result))
  }];
  let hasVerifier = 1;
  let hasCanonicalizeMethod = 1;
}

class CopyOp<string mnemonic> : TorchOp<mnemonic, [
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let hasCustomAssemblyFormat = 1;
}
def CopyToNonValueTensorOp : CopyOp<"copy.to_tensor"> {
  let summary = "A fresh `!torch.tensor` with the contents of a `!torch.vtensor`";
  let arguments = (ins TorchValueTensorType:$operand);
  let results = (outs TorchNonValueTensorType:$result);
}
def CopyToValueTensorOp : CopyOp<"copy.to_vtensor"> {
  let summary = "The present contents of a `!torch.tensor` as a `!torch.vtensor`";
  let arguments = (ins TorchNonValueTensorType:$operand);
  let results = (outs TorchValueTensorType:$result);
}
def OverwriteTensorContentsOp : TorchOp<"overwrite.tensor.contents"> {
  let summary = "Writes a value into a `!torch.tensor` of the same type";
  let arguments = (ins TorchValueTensorType:$value, TorchNonValueTensorType:$overwritten);
  let assemblyFormat = [{
    $value `overwrites` $overwritten attr-dict
      `:` qualified(type($value)) `,` qualified(type($overwritten))
  }];
  let hasVerifier = 1;
}

// Not pure: a range that no size depends on is still checked.
def SymbolicIntOp : TorchOp<"symbolic_int"> {
  let summary = "A size that is known when the program runs, with its range";
  let description = [{
    `torch.symbolic_int "s0" {min_val = 2, max_val = 512} : !torch.int`. The name is an identifier.
  }];
  let arguments = (ins StrAttr:$symbol_name, I64Attr:$min_val, I64Attr:$max_val);
  let results = (outs TorchIntType:$result);
  let assemblyFormat = [{
    $symbol_name ` ` `{` `min_val` `=` $min_val `,` `max_val` `=` $max_val `}` attr-dict
      `:` qualified(type($result))
  }];
  let hasVerifier = 1;
}
def BindSymbolicShapeOp : TorchOp<"bind_symbolic_shape"> {
  let summary = "States the sizes of a tensor as expressions of symbolic ints";
  let description = [{
    `torch.bind_symbolic_shape %x, [%s0], affine_map<()[s0] -> (2, s0)> : !torch.vtensor<[2,?],f32>`
  }];
  let arguments = (ins TorchValueTensorType:$operand, Variadic<TorchIntType>:$shape_symbols,
                       AffineMapAttr:$shape_expressions);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}
def RuntimeAssertOp : TorchOp<"runtime.assert"> {
  let summary = "Fails with `message` when `condition` is false";
  let arguments = (ins TorchBoolType:$condition, StrAttr:$message);
  let assemblyFormat = "$condition `,` $message attr-dict";
  let hasCanonicalizeMethod = 1;
}

def OperatorOp : TorchOp<"operator"> {
  let summary = "An operator outside the schema table, by name";
  let description = [{
    `torch.operator "torch.mylib.f"(%x) : (!torch.vtensor<[2],f32>) -> !torch.vtensor<[2],f32>`
  }];
  let arguments = (ins StrAttr:$name, Variadic<AnyTorchType>:$operands);
  let results = (outs Variadic<AnyTorchType>:$results);
  let regions = (region VariadicRegion<AnyRegion>:$regions);
  let assemblyFormat = [{
    $name `(` $operands `)` attr-dict `:` functional-type($operands, $results) $regions
  }];
}
def OperatorTerminatorOp : TorchOp<"operator_terminator", [
    Terminator, HasParent<"OperatorOp">]> {
  let summary = "Ends a region of `torch.operator`";
  let arguments = (ins Variadic<AnyTorchType>:$operands);
  let assemblyFormat = "$operands attr-dict `:` qualified(type($operands))";
}

def PerTensorAffineCreateOp : TorchOp<"per_tensor_affine.create", [NoMemoryEffect]> {
  let summary = "A quantized tensor of its integers, scale and zero point";
  let arguments = (ins AnyTorchTensor:$int_repr, TorchFloatType:$scale, TorchIntType:$offset);
  let results = (outs AnyTorchTensor:$result);
  let assemblyFormat = [{
    $int_repr `,` $scale `,` $offset attr-dict `:` qualified(type($int_repr)) `,`
      qualified(type($scale)) `,` qualified(type($offset)) `->` qualified(type($result))
  }];
}
def LinearParamsCreateOp : TorchOp<"linear_params.create", [NoMemoryEffect]> {
  let summary = "Weight and bias of a quantized linear layer";
  let arguments = (ins AnyTorchTensor:$weight, Optional<AnyTorchTensor>:$bias);
  let results = (outs TorchLinearParamsType:$result);
  let assemblyFormat = [{
    $weight (`,` $bias^)? attr-dict
      `:` qualified(type($weight)) (`,` qualified(type($bias))^)?
  }];
}
def PromoteDtypesOp : TorchOp<"promote_dtypes", [Pure]> {
  let summary = "The dtype that PyTorch's type promotion gives for these ranks and dtypes";
  let arguments = (ins TorchListType:$ranks, TorchListType:$dtypes);
  let results = (outs TorchIntType:$result);
  let assemblyFormat = "$ranks `,` $dtypes attr-dict `:` functional-type(operands, results)";
}
