// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Constants of Python's types and literal tensors.
include "IR/Torch/TorchBase.td"

class ConstantOp<string kind, list<Trait> traits = [ConstantLike, NamesItsResult]>
    : TorchOp<"constant." # kind, !listconcat([Pure], traits)> {
  let assemblyFormat = "$value attr-dict";
  let hasFolder = 1;
}
def ConstantIntOp : ConstantOp<"int"> {
  let summary = "`torch.constant.int 3`";
  let arguments = (ins I64Attr:$value);
  let results = (outs TorchIntType:$result);
  let assemblyFormat = ?;
  let hasCustomAssemblyFormat = 1;
  let builders = [OpBuilder<(ins "int64_t":$value), [{
    build($_builder, $_state, $_builder.getI64IntegerAttr(value));
  }]>];
}
def ConstantFloatOp : ConstantOp<"float"> {
  let summary = "`torch.constant.float 1.000000e-05`";
  let arguments = (ins F64Attr:$value);
  let results = (outs TorchFloatType:$result);
}
def ConstantBoolOp : ConstantOp<"bool"> {
  let summary = "`torch.constant.bool true`";
  let arguments = (ins I1Attr:$value);
  let results = (outs TorchBoolType:$result);
}
def ConstantStrOp : ConstantOp<"str"> {
  let summary = "`torch.constant.str \"none\"`";
  let arguments = (ins StrAttr:$value);
  let results = (outs TorchStringType:$result);
}
def ConstantNoneOp : ConstantOp<"none"> {
  let summary = "Python's None";
  let results = (outs TorchNoneType:$result);
  let assemblyFormat = "attr-dict";
}
def ConstantDeviceOp : ConstantOp<"device", [NamesItsResult]> {
  let summary = "`torch.constant.device \"cpu\"`";
  let arguments = (ins StrAttr:$value);
  let results = (outs TorchDeviceType:$result);
  let hasFolder = 0;
}
def ConstantNumberOp : ConstantOp<"number", [ConstantLike]> {
  let summary = "An int or a float as a `!torch.number`; printed in the generic form";
  let arguments = (ins AnyAttrOf<[F64Attr, I64Attr]>:$value);
  let results = (outs TorchNumberType:$result);
  let assemblyFormat = ?;
  let hasCanonicalizeMethod = 1;
}

def ValueTensorLiteralOp : TorchOp<"vtensor.literal", [
    ConstantLike, Pure, DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "A literal tensor; big ones are `dense_resource<...>`";
  let description = [{
    `torch.vtensor.literal(dense<0.0> : tensor<3xf32>) : !torch.vtensor<[3],f32>`. A signless
    integer element type wider than one bit stands for the signed one.
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs TorchValueTensorType:$result);
  let assemblyFormat = "`(` $value `)` attr-dict `:` qualified(type($result))";
  let hasFolder = 1;
  let extraClassDeclaration = [{
    static bool isCompatibleReturnTypes(::mlir::TypeRange inferred, ::mlir::TypeRange actual);
  }];
}
def NonValueTensorLiteralOp : TorchOp<"tensor.literal"> {
  let summary = "A fresh mutable tensor with these contents";
  let arguments = (ins ElementsAttr:$value);
  let results = (outs TorchNonValueTensorType:$result);
  let assemblyFormat = "`(` $value `)` attr-dict `:` qualified(type($result))";
  let hasVerifier = 1;
}
