// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The `tw` dialect: what graphs need beside linalg, tensor, arith, math and scf.

#ifndef TILEWRIGHT_IR_GRAPH_TD
#define TILEWRIGHT_IR_GRAPH_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "IR/Graph/AttentionInterface.td"

def TW_Dialect : Dialect {
  let name = "tw";
  let cppNamespace = "::tw::graph";
  let summary = "Operations on whole tensors that linalg lacks";
  // Graphs are made of these, too, and passes on graphs may make operations of any.
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
  let useDefaultAttributePrinterParser = 1;
  // Arguments and results of functions carry tw.name, tw.role, ...: see docs/contracts.md.
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let isExtensible = 0;
}

class TW_Op<string mnemonic, list<Trait> traits = []> : Op<TW_Dialect, mnemonic, traits>;

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

def TW_WeightAttr : AttrDef<TW_Dialect, "Weight"> {
  let mnemonic = "weight";
  let summary = "A tensor in a file: which bytes, and how they are laid out";
  let description = [{
    `offset` and `bytes` delimit the storage in `file`; element (i, j, ...) lies at element
    `start + i * strides[0] + j * strides[1] + ...` of it, which the importer has checked to be
    inside; what pads a packed weight may lie behind it and is zero. `bytes` = 0: all are zero. Sizes
    and dtype are those of the type it is used with. `name` is the user's ("fc1.weight"). Where `file`
    is empty the storage is memory of this process and `offset` its address; no text may say so.
  }];
  let parameters = (ins "::mlir::StringAttr":$name, "::mlir::StringAttr":$file,
      "int64_t":$offset, "int64_t":$bytes, "int64_t":$start,
      OptionalArrayRefParameter<"int64_t">:$strides);
  let assemblyFormat = [{
    `<` $name `in` $file `[` $offset `,` $bytes `]` `start` $start
    (`strides` `[` $strides^ `]`)? `>`
  }];
}

def TW_WeightOp : TW_Op<"weight", [Pure]> {
  let summary = "A constant tensor that lives in a file";
  let arguments = (ins TW_WeightAttr:$source);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = "$source attr-dict `:` type($result)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Values of the source
//===----------------------------------------------------------------------===//

def TW_ValueAttr : AttrDef<TW_Dialect, "Value"> {
  let mnemonic = "value";
  let summary = "Which value of the source a result of an operation is";
  let description = [{
    An operation has a list of these, `tw.values` (IR/Graph/Values.h): `result` of it holds, row by
    row, the elements of the value `number`, which has this `type`, with its dimensions in this
    `order`, outermost first (empty: as they are). How the result itself is cut into dimensions does
    not matter. `part` [begin, count, whole]: the value's elements are not all of the result, but of
    each `whole` consecutive ones these `count`, from `begin` on.
  }];
  let parameters = (ins "int64_t":$result, "int64_t":$number, "::mlir::RankedTensorType":$type,
      OptionalArrayRefParameter<"int64_t">:$order, OptionalArrayRefParameter<"int64_t">:$part);
  let assemblyFormat = [{
    `<` $result `is` $number `:` $type (`order` `[` $order^ `]`)? (`part` `[` $part^ `]`)? `>`
  }];
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// Sizes of arguments
//===----------------------------------------------------------------------===//

def TW_SizesAttr : AttrDef<TW_Dialect, "Sizes"> {
  let mnemonic = "sizes";
  let summary = "The sizes of a tensor that has dynamic ones, an argument or a result";
  let description = [{
    `tw.sizes` of an argument, or of a result whose sizes are declared: `map` has a result for each
    dimension, over symbols of the function (`tw.symbols`). Those are named in the order of the
    map's own.

        tensor<?x2x?xf32> {tw.sizes = #tw.sizes<["s0"] ()[s0] -> (s0, 2, s0 * 2)>}
  }];
  let parameters = (ins OptionalArrayRefParameter<"::mlir::StringAttr">:$symbols,
      "::mlir::AffineMap":$map);
  let assemblyFormat = "`<` (`[` $symbols^ `]` ` `)? $map `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Of a tensor of `shape`, whose dynamic sizes are these symbols as they stand, which may be equal.
    static SizesAttr getPlain(::mlir::MLIRContext *context, ::llvm::ArrayRef<int64_t> shape,
                              ::llvm::ArrayRef<::mlir::StringAttr> dynamic);
  }];
}

//===----------------------------------------------------------------------===//
// Decisions: docs/configurations.md
//===----------------------------------------------------------------------===//

def TW_DecisionKind : I32Enum<"DecisionKind", "what is decided about operators of a model", [
    I32EnumCase<"Fuse", 0, "fuse">, I32EnumCase<"Recompute", 1, "recompute">,
    I32EnumCase<"ChannelsLast", 2, "channels_last">, I32EnumCase<"Merge", 3, "merge">,
    I32EnumCase<"Cut", 4, "cut">]> {
  let cppNamespace = "::tw::graph";
}

def TW_DecisionAttr : AttrDef<TW_Dialect, "Decision"> {
  let mnemonic = "decision";
  let summary = "A decision about operators of the model; results change by rounding at most";
  let description = [{
    `fuse`, `recompute`: whether the second operator, which reads the first one, shares a kernel
    with it, or computes it again. `channels_last`: the layout in which a convolution runs. `merge`:
    whether products of one tensor with several weights are one product. `cut`: whether an operator
    becomes several kernels, one after the other, of which the first prepares an operand, say.
    A module has lists of these: `tw.wanted_decisions`, which passes follow, and `tw.decisions`,
    those that they have made, with `reason` where they declined (IR/Graph/Decisions.h).
  }];
  let parameters = (ins EnumParameter<TW_DecisionKind>:$kind,
      ArrayRefParameter<"::mlir::StringAttr">:$operators, "bool":$taken,
      OptionalParameter<"::mlir::StringAttr">:$reason);
  let assemblyFormat = "`<` $kind `[` $operators `]` $taken (`because` $reason^)? `>`";
}

//===----------------------------------------------------------------------===//
// Checks at run time
//===----------------------------------------------------------------------===//

def TW_AssertOp : TW_Op<"assert"> {
  let summary = "Ends the call with the user's error when the condition is false";
  let description = "`message` may hold up to two %lld, filled from `values`. Host level only.";
  let arguments = (ins I1:$condition, StrAttr:$message, Variadic<AnyTypeOf<[I64, Index]>>:$values);
  let assemblyFormat = "$condition `,` $message (`(` $values^ `:` type($values) `)`)? attr-dict";
  let hasVerifier = 1;
  let hasCanonicalizeMethod = 1;
}

def TW_CheckIndexOp : TW_Op<"check_index", [MemoryEffects<[MemWrite]>,
    AllTypesMatch<["index", "bound", "result"]>]> {
  let summary = "An index from data, made safe";
  let description = [{
    Returns `index` when 0 <= index < bound. Otherwise the call fails with `message` (up to two
    %lld: the index and the bound) after the dispatch has ended, and the result is some valid
    index (0). Used inside the bodies of linalg.generic, tw.scatter, ... before every access whose
    position comes from data. A bound of 0 yields 0: guard the access itself then. It stays where
    nothing reads the result, as when what is accessed turns out to be constant.
  }];
  let arguments = (ins Index:$index, Index:$bound, StrAttr:$message);
  let results = (outs Index:$result);
  let assemblyFormat = "$index `in` $bound `,` $message attr-dict";
}

//===----------------------------------------------------------------------===//
// Structured computations. All are destination-style on contiguous tensors.
//===----------------------------------------------------------------------===//

class TW_DpsOp<string mnemonic, list<Trait> traits = []> : TW_Op<mnemonic,
    !listconcat(traits, [Pure, DestinationStyleOpInterface])>;

def TW_ConvLayout : I32EnumAttr<"ConvLayout", "where the channels of a convolution are", [
    I32EnumAttrCase<"ChannelsFirst", 0, "channels_first">,
    I32EnumAttrCase<"ChannelsLast", 1, "channels_last">,
    I32EnumAttrCase<"ToChannelsLast", 2, "to_channels_last">]> {
  let cppNamespace = "::tw::graph";
}

def TW_ConvOp : TW_DpsOp<"conv"> {
  let summary = "n-d convolution (cross-correlation) or its transpose, added to the init";
  let description = [{
    `layout` says where the channels are:
    - channels_first: input [N, C, spatial...], output [N, O, spatial...],
      weight [O, C/groups, window...], or when `transposed` [C, O/groups, window...];
    - channels_last: input [N, spatial..., C], output [N, spatial..., O],
      weight [window..., C/groups, O], also when `transposed`;
    - to_channels_last: the same, but for the input, which is [N, C, spatial...].
    With `outputs_first` the weight of one group is [O, C, window...] in any layout.
    Output channel o belongs to group o / (O/groups), as input channel c does to c / (C/groups).
    Spatial position: input = output * strides + window * dilations - padding_low; transposed:
    output = input * strides + window * dilations - padding_low. What falls outside contributes
    nothing. Accumulates in the init's element type; operands are widened to it.
  }];
  let arguments = (ins AnyRankedTensor:$input, AnyRankedTensor:$weight, AnyRankedTensor:$init,
      DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$padding_low, DenseI64ArrayAttr:$dilations,
      I64Attr:$groups, UnitAttr:$transposed,
      DefaultValuedAttr<TW_ConvLayout, "::tw::graph::ConvLayout::ChannelsFirst">:$layout,
      UnitAttr:$outputs_first);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    (`transposed` $transposed^)? (`layout` $layout^)? (`outputs_first` $outputs_first^)?
    `ins` `(` $input `,` $weight `:` type($input) `,` type($weight) `)`
    `outs` `(` $init `:` type($init) `)` attr-dict `->` type($result)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getInitMutable(); }
    int64_t getSpatialRank() { return getStrides().size(); }
    /// Which dimension of the input, the weight and the result is the n-th spatial one (of the
    /// window), and which ones the channels are.
    int64_t inputDim(int64_t spatial) { return spatial + (isInputLast() ? 1 : 2); }
    int64_t inputChannels() { return isInputLast() ? getSpatialRank() + 1 : 1; }
    int64_t weightDim(int64_t spatial) { return spatial + (isWeightLast() ? 0 : 2); }
    int64_t weightChannels() { return isWeightLast() ? getSpatialRank() : 1; }
    int64_t resultDim(int64_t spatial) { return spatial + (isResultLast() ? 1 : 2); }
    int64_t resultChannels() { return isResultLast() ? getSpatialRank() + 1 : 1; }
    bool isInputLast() { return getLayout() == ConvLayout::ChannelsLast; }
    bool isResultLast() { return getLayout() != ConvLayout::ChannelsFirst; }
    bool isWeightLast() { return isResultLast() && !getOutputsFirst(); }
  }];
}

class TW_AttentionLikeOp<string mnemonic> : TW_DpsOp<mnemonic, [AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<TW_AttentionInterface>]> {
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getOutsMutable(); }
  }];
}

def TW_AttentionOp : TW_AttentionLikeOp<"attention"> {
  let summary = "Scaled dot-product attention";
  let description = [{
    Dimensions and `indexing_maps` are those of the interface: maps of query, key, value, mask if
    there is one, and each result.

      score[b, l, s] = scale * sum over e of query[b, l, e] * key[b, s, e]
      weight[b, l, :] = softmax of the scores that may be seen
      result 0 [b, l, f] = sum over s of weight[b, l, s] * value[b, s, f]
      result 1 [b, l] = log of the sum of the exponentials of the scores (optional)

    A mask of i1 says which scores may be seen, one of numbers is added to them; with `causal` query
    l sees the keys s <= l. A query that may see none gets zeros. Scores and sums have the type of
    result 1 (f32 for 16-bit operands, the operands' otherwise).
  }];
  let arguments = (ins AnyRankedTensor:$query, AnyRankedTensor:$key, AnyRankedTensor:$value,
      Optional<AnyRankedTensor>:$mask, F64:$scale, Variadic<AnyRankedTensor>:$outs,
      AffineMapArrayAttr:$indexing_maps, UnitAttr:$causal);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    (`causal` $causal^)? `ins` `(` $query `,` $key `,` $value `:` type($query) `,` type($key) `,`
    type($value) `)` (`mask` `(` $mask^ `:` type($mask) `)`)? `scale` $scale
    `outs` `(` $outs `:` type($outs) `)` attr-dict `->` type($results)
  }];
}

def TW_AttentionInput : I32BitEnumAttr<"AttentionInput", "what attention is differentiated by", [
    I32BitEnumAttrCaseBit<"Query", 0, "query">, I32BitEnumAttrCaseBit<"Key", 1, "key">,
    I32BitEnumAttrCaseBit<"Value", 2, "value">]> {
  let cppNamespace = "::tw::graph";
  let separator = "|";
  let genSpecializedAttr = 0;
}

def TW_AttentionInputAttr : EnumAttr<TW_Dialect, TW_AttentionInput, "attention_input"> {
  let assemblyFormat = "`<` $value `>`";
}

def TW_AttentionGradientOp : TW_AttentionLikeOp<"attention_gradient"> {
  let summary = "Gradients of scaled dot-product attention";
  let description = [{
    Those with respect to query, key and value, or some of them: one result for each that `wrt`
    has, in this order. Scores are those of tw.attention, computed again:

      weight[b, l, s] = exp(score[b, l, s] - log_of_sums[b, l]), 0 where it may not be seen
      dscore[b, l, s] = weight[b, l, s]
                        * (sum over f of output_gradient[b, l, f] * value[b, s, f] - delta[b, l])
      query's gradient [b, l, e] = scale * sum over s of dscore[b, l, s] * key[b, s, e]
      key's gradient [b, s, e] = scale * sum over l of dscore[b, l, s] * query[b, l, e]
      value's gradient [b, s, f] = sum over l of weight[b, l, s] * output_gradient[b, l, f]

    where delta [b, l] is the sum over f of output_gradient times output (Dao, "FlashAttention-2",
    2023, algorithm 4). What a result does not run along it is the sum over: groups of queries that
    share keys and values. `indexing_maps`: of query, key, value, mask if there is one,
    output_gradient, log_of_sums, delta, and each result, whose axes are a dimension each. Gradients
    of key and value run along the same dimensions of the batch.
  }];
  let arguments = (ins AnyRankedTensor:$query, AnyRankedTensor:$key, AnyRankedTensor:$value,
      Optional<AnyRankedTensor>:$mask, AnyRankedTensor:$output_gradient,
      AnyRankedTensor:$log_of_sums, AnyRankedTensor:$delta, F64:$scale,
      Variadic<AnyRankedTensor>:$outs, AffineMapArrayAttr:$indexing_maps,
      TW_AttentionInputAttr:$wrt, UnitAttr:$causal);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    `wrt` $wrt (`causal` $causal^)? `ins` `(` $query `,` $key `,` $value `:` type($query) `,`
    type($key) `,` type($value) `)` (`mask` `(` $mask^ `:` type($mask) `)`)? `output` `(`
    $output_gradient `,` $log_of_sums `,` $delta `:` type($output_gradient) `,`
    type($log_of_sums) `,` type($delta) `)` `scale` $scale
    `outs` `(` $outs `:` type($outs) `)` attr-dict `->` type($results)
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getOutsMutable(); }
    /// What each result is the gradient with respect to.
    ::llvm::SmallVector<AttentionInput> inputs();
  }];
}

def TW_ScanOp : TW_DpsOp<"scan", [AttrSizedOperandSegments,
    SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "Inclusive scan along one dimension";
  let description = [{
    Body: (state..., element...) -> state.... Output k at position i is state k after element i;
    the states before the first element are the scalars `initial`. All inputs and outputs have the
    same shape. Positions are visited from the first to the last, or from the last when `reverse`.
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs, Variadic<AnyType>:$initial,
      Variadic<AnyRankedTensor>:$outs, I64Attr:$dim, UnitAttr:$reverse);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `dim` $dim (`reverse` $reverse^)? `ins` `(` $inputs `:` type($inputs) `)`
    `initial` `(` $initial `:` type($initial) `)` `outs` `(` $outs `:` type($outs) `)`
    attr-dict-with-keyword $body `->` type($results)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getOutsMutable(); }
  }];
}

def TW_SortOp : TW_DpsOp<"sort"> {
  let summary = "Sorts along one dimension; gives the values and their old positions (i64)";
  let description = [{
    Always stable. NaN counts as greater than every number. `is_unsigned` for u8 and bool. The
    results may be shorter than the input along `dim`: then they are the first of the sorted ones.
  }];
  let arguments = (ins AnyRankedTensor:$input, AnyRankedTensor:$values_init,
      AnyRankedTensor:$indices_init, I64Attr:$dim, UnitAttr:$descending, UnitAttr:$is_unsigned);
  let results = (outs AnyRankedTensor:$values, AnyRankedTensor:$indices);
  let assemblyFormat = [{
    `dim` $dim `ins` `(` $input `:` type($input) `)`
    `outs` `(` $values_init `,` $indices_init `:` type($values_init) `,` type($indices_init) `)`
    attr-dict `->` type($values) `,` type($indices)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable();
  }];
}

def TW_Combine : I32EnumAttr<"Combine", "how an update meets what is there", [
    I32EnumAttrCase<"Set", 0, "set">, I32EnumAttrCase<"Add", 1, "add">,
    I32EnumAttrCase<"Mul", 2, "mul">, I32EnumAttrCase<"Min", 3, "min">,
    I32EnumAttrCase<"Max", 4, "max">]> {
  let cppNamespace = "::tw::graph";
}

def TW_ScatterOp : TW_DpsOp<"scatter", [SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "Updates elements of the init at positions that come from data";
  let description = [{
    An iteration space is spanned by `inputs` and `indexing_maps` (one map an input, as in
    linalg.generic; together they determine every dimension). For each point, in row-major order,
    the body takes one element of each input (and may use linalg.index-like tw.index) and yields
    the coordinates in the destination (index, one a dimension, already safe: tw.check_index) and
    the value; then dest[coordinates] = combine(dest[coordinates], value). Order matters for `set`
    (the last one stays) and makes sums reproducible. Min and max propagate NaN.
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs, AnyRankedTensor:$init,
      AffineMapArrayAttr:$indexing_maps, TW_Combine:$combine, UnitAttr:$is_unsigned);
  let results = (outs AnyRankedTensor:$result);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $combine `ins` `(` ($inputs^ `:` type($inputs))? `)` `outs` `(` $init `:` type($init) `)`
    attr-dict-with-keyword $body `->` type($result)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getInitMutable(); }
  }];
}

def TW_IndexOp : TW_Op<"index", [Pure]> {
  let summary = "The current position in one dimension of the enclosing tw.scatter or tw.scan";
  let arguments = (ins I64Attr:$dim);
  let results = (outs Index:$result);
  let assemblyFormat = "$dim attr-dict";
}

def TW_YieldOp : TW_Op<"yield", [Pure, Terminator, ReturnLike]> {
  let summary = "Ends the body of a tw operation";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
  let builders = [OpBuilder<(ins), "build($_builder, $_state, ::mlir::ValueRange());">];
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

def TW_KernelCallOp : TW_Op<"kernel_call", [Pure]> {
  let summary = "A call of a kernel written by hand, or of a custom-library operator, by name";
  let arguments = (ins StrAttr:$callee, Variadic<AnyType>:$arguments);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = "$callee `(` $arguments `)` attr-dict `:` functional-type($arguments, $results)";
}

def TW_DispatchOp : TW_Op<"dispatch", [Pure, AttrSizedOperandSegments,
    DestinationStyleOpInterface,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Runs a kernel";
  let description = [{
    `inputs` are tensors, index values and scalars; `outs` give the kernel its destinations, whose
    contents it may overwrite but not read. One result an out, of the same type.
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, Variadic<AnyType>:$inputs,
      Variadic<AnyRankedTensor>:$outs);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $kernel `(` $inputs `)` `outs` `(` $outs `)` attr-dict `:` (`(` type($inputs)^ `)`)?
    (`outs` `(` type($outs)^ `)`)? (`->` type($results)^)?
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getOutsMutable(); }
  }];
}

#endif
