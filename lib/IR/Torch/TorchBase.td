// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The torch dialect and its types. The text is the one that torch-mlir and IREE's tools print.
#ifndef TW_TORCH_BASE
#define TW_TORCH_BASE

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def TorchDialect : Dialect {
  let name = "torch";
  let cppNamespace = "::tw::torch";
  let summary = "PyTorch programs as exported: ATen operators on tensors, Python scalars and lists";
  let description = [{
    ATen's operators (torch.aten.*, torch.prims.*, ...) are rows of a schema table, see Schema.h and
    TableOps.cpp; only what is not in that table is defined in the .td files here.
  }];
  let useDefaultTypePrinterParser = 0;
  let hasConstantMaterializer = 1;
  let extraClassDeclaration = [{
    /// The interfaces that all operators of the schema table share.
    void *getRegisteredInterfaceForOp(::mlir::TypeID, ::mlir::OperationName) override;
    ::mlir::Type parseType(::mlir::DialectAsmParser &) const override;
    void printType(::mlir::Type, ::mlir::DialectAsmPrinter &) const override;
    /// Types inside types are spelled without "!torch.": `!torch.list<vtensor<[2],f32>>`.
    static ::mlir::Type parseNested(::mlir::AsmParser &);
    static void printNested(::mlir::Type, ::mlir::AsmPrinter &);

  private:
    void registerTypes();
    void registerStaticOps();
    void registerTableOps();
  public:
  }];
}

class TorchTypeDef<string name, string keyword> : TypeDef<TorchDialect, name> {
  let mnemonic = keyword;
}

class TorchTensorType<string name, string keyword> : TorchTypeDef<name, keyword> {
  let parameters = (ins "bool":$hasSizes, ArrayRefParameter<"int64_t">:$sizes,
    OptionalParameter<"::mlir::Type">:$dtype, OptionalParameter<"::mlir::Attribute">:$sparsity);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    /// A size that is only known when the program runs; printed as "?".
    static constexpr int64_t kUnknownSize = -1;
    /// True when the rank, every size and the dtype are known.
    bool isStatic() const {
      return getHasSizes() && getDtype() && !::llvm::is_contained(getSizes(), kUnknownSize);
    }
    /// The number of dimensions; empty when unknown.
    std::optional<int64_t> rank() const {
      return getHasSizes() ? std::optional<int64_t>(getSizes().size()) : std::nullopt;
    }
  }];
}
def TorchValueTensorType : TorchTensorType<"ValueTensor", "vtensor"> {
  let summary = "A tensor as a value; nothing can write to it";
}
def TorchNonValueTensorType : TorchTensorType<"NonValueTensor", "tensor"> {
  let summary = "A tensor that may be written to and may share memory with others";
}

class TorchContainerType<string name, string keyword> : TorchTypeDef<name, keyword> {
  let parameters = (ins "::mlir::Type":$containedType);
  let hasCustomAssemblyFormat = 1;
}
def TorchOptionalType : TorchContainerType<"Optional", "optional">;
def TorchListType : TorchContainerType<"List", "list">;

class TorchTypeListType<string name, string keyword> : TorchTypeDef<name, keyword> {
  let parameters = (ins ArrayRefParameter<"::mlir::Type">:$containedTypes);
  let hasCustomAssemblyFormat = 1;
}
def TorchTupleType : TorchTypeListType<"Tuple", "tuple">;
def TorchUnionType : TorchTypeListType<"Union", "union">;

def TorchDictType : TorchTypeDef<"Dict", "dict"> {
  let parameters = (ins "::mlir::Type":$keyType, "::mlir::Type":$valueType);
  let hasCustomAssemblyFormat = 1;
}
def TorchNnModuleType : TorchTypeDef<"NnModule", "nn.Module"> {
  let parameters = (ins StringRefParameter<>:$className);
  let assemblyFormat = "`<` $className `>`";
}

def TorchDeviceType : TorchTypeDef<"Device", "Device">;
def TorchGeneratorType : TorchTypeDef<"Generator", "Generator">;
def TorchBoolType : TorchTypeDef<"Bool", "bool">;
def TorchIntType : TorchTypeDef<"Int", "int"> { let summary = "A Python int that fits 64 bits"; }
def TorchFloatType : TorchTypeDef<"Float", "float"> { let summary = "A Python float: f64"; }
def TorchNumberType : TorchTypeDef<"Number", "number"> { let summary = "An int or a float"; }
def TorchNoneType : TorchTypeDef<"None", "none">;
def TorchStringType : TorchTypeDef<"String", "str">;
def TorchAnyType : TorchTypeDef<"Any", "any">;
// Quantized element types, of tensors only.
def TorchQInt8Type : TorchTypeDef<"QInt8", "qint8">;
def TorchQInt16Type : TorchTypeDef<"QInt16", "qint16">;
def TorchQInt32Type : TorchTypeDef<"QInt32", "qint32">;
def TorchQUInt8Type : TorchTypeDef<"QUInt8", "quint8">;
def TorchLinearParamsType : TorchTypeDef<"LinearParams", "LinearParams">;

// Constraints of operands, with the words an error uses.
def AnyTorchType : Type<
  CPred<"::mlir::isa<::tw::torch::TorchDialect>($_self.getDialect())">, "a torch type">;
def AnyTorchTensor : Type<
  CPred<"::mlir::isa<::tw::torch::ValueTensorType, ::tw::torch::NonValueTensorType>($_self)">,
  "!torch.vtensor or !torch.tensor">;

class TorchOp<string mnemonic, list<Trait> traits = []> : Op<TorchDialect, mnemonic, traits>;
defvar NamesItsResult = DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>;

#endif // TW_TORCH_BASE
