// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The operations of the `tile` dialect. Semantics: docs/tile-programs.md.

#ifndef TILEWRIGHT_IR_TILE_OPS
#define TILEWRIGHT_IR_TILE_OPS

include "IR/Tile/Tile.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/LoopLikeInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Tile_Op<string mnemonic, list<Trait> traits = []> : Op<Tile_Dialect, mnemonic, traits>;

def Tile_Tile : RankedTensorOf<[AnySignlessInteger, AnyFloat, Index]>;
def Tile_IntegerTile : RankedTensorOf<[I8, I16, I32, I64, Index]>;
def Tile_Mask : RankedTensorOf<[I1]>;
def Tile_Position : AnyTypeOf<[Index, Tile_IntegerTile]>;
def Tile_Scalar : AnyTypeOf<[AnySignlessInteger, AnyFloat, Index]>;

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

def Tile_KernelOp : Tile_Op<"kernel", [IsolatedFromAbove, Symbol, NoTerminator,
    SingleBlock, OpAsmOpInterface]> {
  let summary = "A grid of programs on buffers";
  let description = [{
    The body runs once for each point of the grid. Its arguments are the buffers and scalars, in
    the order of `arguments`.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name,
      TypedArrayAttrBase<Tile_ArgumentAttr, "arguments">:$arguments,
      TypedArrayAttrBase<Tile_SymbolAttr, "symbols">:$symbols,
      TypedArrayAttrBase<Tile_SizeAttr, "sizes">:$grid);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    void getAsmBlockArgumentNames(::mlir::Region &region, ::mlir::OpAsmSetValueNameFn setName);
    ::tw::tile::ArgumentAttr getArgument(unsigned i);
    ::mlir::BlockArgument getBlockArgument(unsigned i) { return getBody().getArgument(i); }
  }];
}

def Tile_ProgramIdOp : Tile_Op<"program_id", [Pure]> {
  let summary = "The program's coordinate along a dimension of the grid";
  let arguments = (ins ConfinedAttr<I64Attr, [IntNonNegative]>:$dim);
  let results = (outs Index:$result);
  let assemblyFormat = "$dim attr-dict";
  let hasVerifier = 1;
}

def Tile_SizeOp : Tile_Op<"size", [Pure]> {
  let summary = "The value of a size";
  let arguments = (ins Tile_SizeAttr:$size);
  let results = (outs Index:$result);
  let assemblyFormat = "custom<Size>($size) attr-dict";
  let hasFolder = 1;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

def Tile_LoadOp : Tile_Op<"load", [AttrSizedOperandSegments]> {
  let summary = "A box of a buffer";
  let description = [{
    Dimension d of the result is read from position `positions[d]` on, every `strides[d]`-th
    element; where the position is a rank-1 tile, at the positions that it holds. Outside the buffer
    and where `mask` is false it has the value `pad`, or 0.
  }];
  let arguments = (ins Arg<Tile_BufferType, "", [MemRead]>:$buffer,
      Variadic<Tile_Position>:$positions, DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$strides,
      Optional<Tile_Mask>:$mask, Optional<Tile_Scalar>:$pad);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = [{
    $buffer `` custom<Positions>($positions, type($positions)) (`strides` $strides^)?
    (`mask` $mask^ `:` type($mask))? (`pad` $pad^ `:` type($pad))? attr-dict
    `:` qualified(type($buffer)) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_StoreOp : Tile_Op<"store", [AttrSizedOperandSegments]> {
  let summary = "Writes a box of a buffer";
  let description = [{
    Positions, strides and mask are those of tile.load. What is outside is not written; `drop` says
    that the author means it. `update` combines with what is there, atomically.
  }];
  let arguments = (ins Tile_Tile:$tile, Arg<Tile_BufferType, "", [MemWrite]>:$buffer,
      Variadic<Tile_Position>:$positions, DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$strides,
      Optional<Tile_Mask>:$mask, UnitAttr:$drop, OptionalAttr<Tile_Update>:$update);
  let assemblyFormat = [{
    $tile `,` $buffer `` custom<Positions>($positions, type($positions)) (`strides` $strides^)?
    (`mask` $mask^ `:` type($mask))? (`drop` $drop^)? (`atomic` $update^)? attr-dict
    `:` type($tile) `,` qualified(type($buffer))
  }];
  let hasVerifier = 1;
}

def Tile_GatherOp : Tile_Op<"gather", [AttrSizedOperandSegments]> {
  let summary = "Elements of a buffer at positions that are data";
  let description = [{
    Element e of the result is buffer[positions[0][e], positions[1][e], ...]; positions have the
    result's shape. `mask` and `pad` as in tile.load.
  }];
  let arguments = (ins Arg<Tile_BufferType, "", [MemRead]>:$buffer,
      Variadic<Tile_IntegerTile>:$positions, Optional<Tile_Mask>:$mask, Optional<Tile_Scalar>:$pad);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = [{
    $buffer `` custom<Positions>($positions, type($positions)) (`mask` $mask^ `:` type($mask))?
    (`pad` $pad^ `:` type($pad))? attr-dict `:` qualified(type($buffer)) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_ScatterOp : Tile_Op<"scatter", [AttrSizedOperandSegments]> {
  let summary = "Writes elements of a buffer at positions that are data";
  let description = [{
    The counterpart of tile.gather. Without `update` no position may occur twice; `any` keeps some
    one of the values.
  }];
  let arguments = (ins Tile_Tile:$tile, Arg<Tile_BufferType, "", [MemWrite]>:$buffer,
      Variadic<Tile_IntegerTile>:$positions, Optional<Tile_Mask>:$mask, UnitAttr:$drop,
      OptionalAttr<Tile_Update>:$update);
  let assemblyFormat = [{
    $tile `,` $buffer `` custom<Positions>($positions, type($positions))
    (`mask` $mask^ `:` type($mask))? (`drop` $drop^)? (`atomic` $update^)? attr-dict
    `:` type($tile) `,` qualified(type($buffer))
  }];
  let hasVerifier = 1;
}

def Tile_CheckOp : Tile_Op<"check", [MemoryEffects<[MemWrite]>,
    AllTypesMatch<["value", "result"]>]> {
  let summary = "Integers from data made safe positions";
  let description = [{
    A value outside [0, bound) becomes 0, and the call fails with `message` (up to two %lld: the
    value and the bound). Values that are masked off become 0 without a failure.
  }];
  let arguments = (ins AnyTypeOf<[I32, I64, Index, Tile_IntegerTile]>:$value, Index:$bound,
      Optional<Tile_Mask>:$mask, StrAttr:$message);
  let results = (outs AnyType:$result);
  let assemblyFormat = [{
    $value `in` $bound (`mask` $mask^ `:` type($mask))? `,` $message attr-dict `:` type($value)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

def Tile_FullOp : Tile_Op<"full", [Pure]> {
  let summary = "A tile of one value";
  let arguments = (ins Tile_Scalar:$value);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$value attr-dict `:` type($value) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_IotaOp : Tile_Op<"iota", [Pure]> {
  let summary = "start + the coordinate along a dimension";
  let arguments = (ins ConfinedAttr<I64Attr, [IntNonNegative]>:$dim, Index:$start);
  let results = (outs RankedTensorOf<[I32, I64, Index]>:$result);
  let assemblyFormat = "$dim `from` $start attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Tile_DotOp : Tile_Op<"dot", [Pure, AllTypesMatch<["acc", "result"]>]> {
  let summary = "acc + a b";
  let description = [{
    [batch..., M, K] x [batch..., K, N] added to [batch..., M, N]. Float operands may be narrower
    than the accumulator; integer operands have its type. `tf32`: a target may round operands of f32
    to a mantissa of 10 bits; all others multiply them as they are.
  }];
  let arguments = (ins Tile_Tile:$a, Tile_Tile:$b, Tile_Tile:$acc, UnitAttr:$tf32);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$a `,` $b `,` $acc (`tf32` $tf32^)? attr-dict `:` type($a) `,` type($b) `,` type($acc)";
  let hasVerifier = 1;
}

def Tile_ReduceOp : Tile_Op<"reduce", [Pure]> {
  let summary = "Reduces a dimension, which is dropped";
  let arguments = (ins Tile_ReduceKind:$kind, Tile_Tile:$operand,
      ConfinedAttr<I64Attr, [IntNonNegative]>:$axis);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = [{
    $kind $operand `axis` $axis attr-dict `:` type($operand) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_ScanOp : Tile_Op<"scan", [Pure, AllTypesMatch<["operand", "result"]>]> {
  let summary = "Inclusive scan along a dimension";
  let arguments = (ins Tile_ScanKind:$kind, Tile_Tile:$operand,
      ConfinedAttr<I64Attr, [IntNonNegative]>:$axis, UnitAttr:$reverse);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = [{
    $kind $operand `axis` $axis (`reverse` $reverse^)? attr-dict `:` type($operand)
  }];
  let hasVerifier = 1;
}

def Tile_SortOp : Tile_Op<"sort", [Pure]> {
  let summary = "Sorts along a dimension: the values, and the coordinates where they were";
  let description = [{
    Stable, in ascending order or `descending`. NaN is greater than every number and equal to NaN,
    -0 equals 0; the values are those of the operand, bit by bit. `unsigned` compares integers so,
    as i1 always. The results may be shorter than the operand along the axis: then they are the
    first of the sorted ones.
  }];
  let arguments = (ins Tile_Tile:$operand, ConfinedAttr<I64Attr, [IntNonNegative]>:$axis,
      UnitAttr:$descending, UnitAttr:$is_unsigned);
  let results = (outs Tile_Tile:$values, RankedTensorOf<[I64]>:$positions);
  let assemblyFormat = [{
    $operand `axis` $axis (`descending` $descending^)? (`unsigned` $is_unsigned^)? attr-dict
    `:` type($operand) `->` type($values) `,` type($positions)
  }];
  let hasVerifier = 1;
}

class Tile_ShapeOp<string mnemonic> : Tile_Op<mnemonic, [Pure]>;

def Tile_BroadcastOp : Tile_ShapeOp<"broadcast"> {
  let summary = "Repeats a tile along dimensions in which it has extent 1";
  let arguments = (ins Tile_Tile:$operand);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_ReshapeOp : Tile_ShapeOp<"reshape"> {
  let summary = "The same elements in row-major order under other extents";
  let arguments = (ins Tile_Tile:$operand);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_TransposeOp : Tile_ShapeOp<"transpose"> {
  let summary = "Dimension d of the result is dimension permutation[d] of the operand";
  let arguments = (ins Tile_Tile:$operand, DenseI64ArrayAttr:$permutation);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$operand $permutation attr-dict `:` type($operand) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_SliceOp : Tile_ShapeOp<"slice"> {
  let summary = "Every strides[d]-th element from offsets[d] on";
  let description = [{
    All elements lie inside the operand. A dimension whose extent is not static is taken whole:
    offset 0, stride 1.
  }];
  let arguments = (ins Tile_Tile:$operand, DenseI64ArrayAttr:$offsets, DenseI64ArrayAttr:$strides);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = [{
    $operand `offsets` $offsets `strides` $strides attr-dict `:` type($operand) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_KeepOp : Tile_Op<"keep", [Pure, SameOperandsAndResultType]> {
  let summary = "The same tile, which the target is asked to compute once for all of its uses";
  let arguments = (ins Tile_Tile:$operand);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand)";
}

def Tile_ExtractOp : Tile_Op<"extract", [Pure]> {
  let summary = "The scalar in a tile of one element";
  let arguments = (ins Tile_Tile:$operand);
  let results = (outs Tile_Scalar:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `->` type($result)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

def Tile_ForOp : Tile_Op<"for", [RecursiveMemoryEffects,
    SingleBlockImplicitTerminator<"YieldOp">,
    DeclareOpInterfaceMethods<LoopLikeOpInterface, ["getInitsMutable", "getRegionIterArgs",
        "getYieldedValuesMutable", "getLoopResults"]>]> {
  let summary = "A loop with carried values";
  let description = [{
    `%r = tile.for %i = %begin to %end step %step carry (%x = %init : T) { ... tile.yield %y : T }`
    Trips: max(0, ceildiv(end - begin, step)), none when step is 0. The result is what the last trip
    yielded, or the inits. `combine (%a : T, %b : T) { ... tile.yield %c : T }` after the body says
    how the states of two consecutive pieces of the range become one; `combine commutative`, that
    the pieces may come in any order.
  }];
  let arguments = (ins Index:$begin, Index:$end, Index:$step, Variadic<AnyType>:$initial,
      UnitAttr:$commutative);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$body, MaxSizedRegion<1>:$combine);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::BlockArgument getInductionVar() { return getBody().getArgument(0); }
    ::mlir::Block::BlockArgListType getCarried() {
      return getBody().getArguments().drop_front(1);
    }
    bool canSplit() { return !getCombine().empty(); }
    /// How often it runs, where its bounds are constants or equal.
    std::optional<int64_t> constantTripCount();
  }];
}

def Tile_YieldOp : Tile_Op<"yield", [Pure, Terminator, ReturnLike, ParentOneOf<["ForOp"]>]> {
  let summary = "The values that go on";
  let arguments = (ins Variadic<AnyType>:$values);
  let builders = [OpBuilder<(ins), [{ /* nothing carried */ }]>];
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
}

#endif
