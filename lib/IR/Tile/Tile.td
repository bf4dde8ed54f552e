// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The `tile` dialect: its attributes and types. Operations are in Ops.td. Semantics:
// docs/tile-programs.md.

#ifndef TILEWRIGHT_IR_TILE
#define TILEWRIGHT_IR_TILE

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/TensorEncoding.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def Tile_Dialect : Dialect {
  let name = "tile";
  let cppNamespace = "::tw::tile";
  let summary = "Kernels as grids of programs on tiles";
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let extraClassDeclaration = [{
    /// The kinds of configurations there are. Dialect extensions add those of templates and
    /// targets when the dialect is loaded.
    void registerSchema(::tw::ConfigurationSchema schema);
    /// Null for a name that nobody registered.
    const ::tw::ConfigurationSchema *getSchema(::llvm::StringRef name) const;
    /// On a tile.kernel its #tile.config, on the function of a dispatch its #tile.dispatch_config.
    static constexpr ::llvm::StringLiteral configurationName = "tile.configuration";
    /// On a tile.kernel, a unit: calls give memory for its outputs, whose sizes bind symbols, too.
    static constexpr ::llvm::StringLiteral destinationsName = "tile.destinations";
    /// On a tile.kernel, a hint: how many programs one worker runs in a row, along each dimension of
    /// the grid.
    static constexpr ::llvm::StringLiteral blockName = "tile.block";
    /// On a tile.kernel: pairs of arguments, an input and an inout buffer that begins as its copy.
    static constexpr ::llvm::StringLiteral beginsName = "tile.begins";
    /// On a tile.kernel that stands for one of a model's: what that is called (docs/kernel-source.md).
    static constexpr ::llvm::StringLiteral replacesName = "tile.replaces";
    /// On a tile.kernel: the kernels that calls go to where sizes are small, or workers many
    /// (Variants.h).
    static constexpr ::llvm::StringLiteral variantsName = "tile.variants";
    /// On a variant: how many workers a call has at least that goes to it.
    static constexpr ::llvm::StringLiteral workersName = "tile.workers";

  private:
    std::map<std::string, ::tw::ConfigurationSchema, std::less<>> schemas;

  public:
  }];
}

class Tile_Attr<string name, string keyword, list<Trait> traits = []>
    : AttrDef<Tile_Dialect, name, traits> {
  let mnemonic = keyword;
}

class Tile_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::tw::tile";
}

def Tile_SizeParameter : AttrParameter<"::tw::Size", "a valid size"> {
  let cppAccessorType = "const ::tw::Size &";
}

def Tile_SizeAttr : Tile_Attr<"Size", "size"> {
  let summary = "A size: an expression over the symbols of the kernel, in normal form";
  let parameters = (ins Tile_SizeParameter:$size);
  let extraClassDeclaration = "std::string getText() const { return getSize().str(); }";
  let assemblyFormat = "`<` custom<SizeText>($size) `>`";
  let genVerifyDecl = 1;
}

def Tile_DimsAttr : Tile_Attr<"Dims", "dims", [
    DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let summary = "The extents of a tile that are not static, in order";
  let parameters = (ins ArrayRefParameter<"::tw::tile::SizeAttr">:$sizes);
  let assemblyFormat = "`<` custom<SizeList>($sizes) `>`";
}

def Tile_SymbolAttr : Tile_Attr<"Symbol", "symbol"> {
  let summary = "A symbol of a kernel: a size bound by the call, and what the call must respect";
  let parameters = (ins StringRefParameter<>:$name, DefaultValuedParameter<"int64_t", "0">:$min,
      DefaultValuedParameter<"int64_t", "INT64_MAX">:$max,
      DefaultValuedParameter<"int64_t", "1">:$multiple);
  let assemblyFormat = "`<` $name (`,` struct($min, $max, $multiple)^)? `>`";
  let genVerifyDecl = 1;
}

def Tile_Access : Tile_Enum<"Access", "how a kernel uses an argument", [
    I32EnumAttrCase<"In", 0, "in">, I32EnumAttrCase<"Out", 1, "out">,
    I32EnumAttrCase<"InOut", 2, "inout">, I32EnumAttrCase<"Scalar", 3, "scalar">]>;

def Tile_ArgumentAttr : Tile_Attr<"Argument", "argument"> {
  let summary = "What is known of a kernel's argument beside its type";
  let description = [{
    `init`: what an `out` buffer is filled with before any program runs. `symbol`: the symbol that
    an index argument is. `constant`: an `in` buffer holds the same in all calls, and nothing writes
    to it from the first call on: a weight (tile-mark-constants).
  }];
  let parameters = (ins StringRefParameter<>:$name, EnumParameter<Tile_Access>:$access,
      OptionalParameter<"::mlir::TypedAttr">:$init, OptionalParameter<"::mlir::StringAttr">:$symbol,
      DefaultValuedParameter<"bool", "false">:$constant);
  let assemblyFormat = "`<` struct(params) `>`";
  let builders = [AttrBuilder<(ins "::llvm::StringRef":$name, "::tw::tile::Access":$access,
      "::mlir::TypedAttr":$init, "::mlir::StringAttr":$symbol), [{
    return $_get($_ctxt, name, access, init, symbol, /*constant=*/false);
  }]>];
  let extraClassDeclaration = [{
    ArgumentAttr withName(::llvm::StringRef name) const {
      return get(getContext(), name, getAccess(), getInit(), getSymbol(), getConstant());
    }
    ArgumentAttr withConstant(bool constant) const {
      return get(getContext(), getName(), getAccess(), getInit(), getSymbol(), constant);
    }
  }];
}

def Tile_ReduceKind : Tile_Enum<"ReduceKind", "how a dimension becomes one element", [
    I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Prod", 1, "prod">,
    I32EnumAttrCase<"Max", 2, "max">, I32EnumAttrCase<"Min", 3, "min">,
    I32EnumAttrCase<"UMax", 4, "umax">, I32EnumAttrCase<"UMin", 5, "umin">,
    I32EnumAttrCase<"And", 6, "and">, I32EnumAttrCase<"Or", 7, "or">,
    I32EnumAttrCase<"ArgMax", 8, "argmax">, I32EnumAttrCase<"ArgMin", 9, "argmin">]>;

def Tile_ScanKind : Tile_Enum<"ScanKind", "what a scan accumulates", [
    I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Prod", 1, "prod">,
    I32EnumAttrCase<"Max", 2, "max">, I32EnumAttrCase<"Min", 3, "min">]>;

def Tile_Update : Tile_Enum<"Update", "how what is stored meets what is there", [
    I32EnumAttrCase<"Add", 0, "add">, I32EnumAttrCase<"Min", 1, "min">,
    I32EnumAttrCase<"Max", 2, "max">, I32EnumAttrCase<"Any", 3, "any">]>;

//===----------------------------------------------------------------------===//
// Configurations: docs/configurations.md
//===----------------------------------------------------------------------===//

def Tile_ConfigurationAttr : Tile_Attr<"Configuration", "config"> {
  let summary = "How a kernel is made: which template, and its numbers";
  let description = [{
    `fields` has every field of the schema called `kind`: an i64, a bool, or an array of i64 where
    there is one for each loop dimension. `target`: what only the target knows of, under its name.
    `variants`: how it is made for calls with small sizes, in ascending order, and then for those
    with many workers, in descending order; a call takes the first that is for it.
  }];
  let parameters = (ins StringRefParameter<>:$kind, "::mlir::DictionaryAttr":$fields,
      OptionalParameter<"::tw::tile::ConfigurationAttr">:$target,
      OptionalArrayRefParameter<"::tw::tile::VariantAttr">:$variants);
  let assemblyFormat = [{
    `<` $kind $fields (`on` $target^)? (`variants` `[` $variants^ `]`)? `>`
  }];
  let genVerifyDecl = 1;
  let builders = [AttrBuilder<(ins "::llvm::StringRef":$kind, "::mlir::DictionaryAttr":$fields,
      "::tw::tile::ConfigurationAttr":$target), [{
    return $_get($_ctxt, kind, fields, target, ::llvm::ArrayRef<::tw::tile::VariantAttr>());
  }]>];
  let extraClassDeclaration = [{
    /// Whether the fields, those of the target and those of variants are those of their schemas.
    /// What has such an attribute verifies it: then errors are at the place of the operation, which
    /// in a kernel from C++ is its author's.
    ::llvm::LogicalResult verifyFields(
        ::llvm::function_ref<::mlir::InFlightDiagnostic()> emitError) const;
  }];
}

def Tile_VariantAttr : Tile_Attr<"Variant", "variant"> {
  let summary = "How a kernel is made for calls with a small size, or with many workers";
  let description = [{
    `#tile.variant<6, #config>`: for calls in which the size that only they tell is at most `most`,
    1 or more (0: sizes do not matter). `#tile.variant<workers 5, #config>`: for calls with at least
    `workers` workers, 2 or more (0: any number). One of the two; it has no variants itself.
  }];
  let parameters = (ins "int64_t":$most, "int64_t":$workers,
                        "::tw::tile::ConfigurationAttr":$configuration);
  let assemblyFormat = "`<` custom<VariantBound>($most, $workers) `,` $configuration `>`";
  let genVerifyDecl = 1;
}

def Tile_Cut : I32Enum<"Cut", "whether one computation of a dispatch becomes several kernels", [
    I32EnumCase<"None", 0, "none">,
    I32EnumCase<"TransposeRhs", 1, "transpose_rhs">,
    I32EnumCase<"SplitReductions", 2, "split_reductions">,
    I32EnumCase<"TransformWeights", 3, "transform_weights">,
    I32EnumCase<"SplitGradients", 4, "split_gradients">,
    I32EnumCase<"AlignRows", 5, "align_rows">]> {
  let cppNamespace = "::tw::tile";
}

def Tile_CutAttr : EnumAttr<Tile_Dialect, Tile_Cut, "cut">;

def Tile_DispatchConfigurationAttr : Tile_Attr<"DispatchConfiguration", "dispatch_config"> {
  let summary = "How the kernels of a dispatch are made";
  let description = [{
    `cuts`: one for each computation that the dispatch is analysed into. `kernels`: one for each
    kernel that these become, in order: a computation that is not cut is one, one that is cut is
    two, or as many as it has reductions in a row, or operands with rows to align.
  }];
  let parameters = (ins ArrayRefParameter<"::tw::tile::CutAttr">:$cuts,
      ArrayRefParameter<"::tw::tile::ConfigurationAttr">:$kernels);
  let assemblyFormat = "`<` `cuts` `[` $cuts `]` `kernels` `[` $kernels `]` `>`";
  let genVerifyDecl = 1;
}

class Tile_Type<string name, string keyword> : TypeDef<Tile_Dialect, name> {
  let mnemonic = keyword;
}

def Tile_BufferType : Tile_Type<"Buffer", "buffer"> {
  let summary = "Memory of the caller: contiguous, row-major";
  let parameters = (ins ArrayRefParameter<"::tw::tile::SizeAttr">:$shape,
      "::mlir::Type":$elementType);
  let assemblyFormat = "`<` custom<SizeList>($shape) `,` $elementType `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    int64_t getRank() const { return getShape().size(); }
    /// The element type of the tiles that are read from it: ui8 is read as i8.
    ::mlir::Type getTileElementType() const;
  }];
}

#endif
