// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conditionals and loops, and the regions in which other tools compute shapes and dtypes.
include "IR/Torch/TorchBase.td"

def IfOp : TorchOp<"prim.If", [RecursiveMemoryEffects]> {
  let summary = "`torch.prim.If %c -> (!torch.int) { ... } else { ... }`";
  let arguments = (ins TorchBoolType:$condition);
  let results = (outs Variadic<AnyTorchType>:$results);
  let regions = (region SizedRegion<1>:$thenRegion, SizedRegion<1>:$elseRegion);
  let hasCustomAssemblyFormat = 1;
  let hasRegionVerifier = 1;
  let hasCanonicalizeMethod = 1;
}
def IfYieldOp : TorchOp<"prim.If.yield", [Terminator, Pure, HasParent<"IfOp">]> {
  let summary = "The values of a branch";
  let arguments = (ins Variadic<AnyTorchType>:$results);
  let assemblyFormat = "attr-dict ($results^ `:` qualified(type($results)))?";
}

def LoopOp : TorchOp<"prim.Loop", [RecursiveMemoryEffects]> {
  let summary = "At most `maxTripCount` rounds, while the condition holds";
  let description = [{
    The body takes the index of the round and the carried values; `torch.prim.Loop.condition` ends a
    round with the condition to go on and the new carried values.
  }];
  let arguments = (ins TorchIntType:$maxTripCount, TorchBoolType:$initialCondition,
                       Variadic<AnyTorchType>:$iterArgsInit);
  let results = (outs Variadic<AnyTorchType>:$results);
  let regions = (region SizedRegion<1>:$region);
  let assemblyFormat = [{
    $maxTripCount `,` $initialCondition `,` `init` `(` $iterArgsInit `)` $region
    attr-dict `:` functional-type(operands, results)
  }];
  let hasRegionVerifier = 1;
}
def LoopConditionOp : TorchOp<"prim.Loop.condition", [Terminator, Pure, HasParent<"LoopOp">]> {
  let summary = "Ends a round of a loop";
  let arguments = (ins TorchBoolType:$shouldContinue, Variadic<AnyTorchType>:$iterArgs);
  let assemblyFormat = [{
    $shouldContinue `,` `iter` `(` ($iterArgs^ `:` qualified(type($iterArgs)))? `)` attr-dict
  }];
}

class CalculateOp<string what, string keyword> : TorchOp<what # ".calculate"> {
  let results = (outs Variadic<AnyTorchType>:$results);
  let regions = (region SizedRegion<1>:$body, SizedRegion<1>:$calculation);
  let assemblyFormat =
    "$body `" # keyword # "` $calculation attr-dict `:` qualified(type($results))";
}
class CalculateYieldOp<string mnemonic, string parent>
    : TorchOp<mnemonic, [Terminator, Pure, HasParent<parent>]> {
  let arguments = (ins Variadic<AnyTorchType>:$results);
  let assemblyFormat = "attr-dict ($results^ `:` qualified(type($results)))?";
}
def ShapeCalculateOp : CalculateOp<"shape", "shapes"> {
  let summary = "A computation beside the one of its results' sizes";
}
def ShapeCalculateYieldOp : CalculateYieldOp<"shape.calculate.yield", "ShapeCalculateOp">;
def ShapeCalculateYieldShapesOp
  : CalculateYieldOp<"shape.calculate.yield.shapes", "ShapeCalculateOp">;
def DtypeCalculateOp : CalculateOp<"dtype", "dtypes"> {
  let summary = "A computation beside the one of its results' dtypes";
}
def DtypeCalculateYieldOp : CalculateYieldOp<"dtype.calculate.yield", "DtypeCalculateOp">;
def DtypeCalculateYieldDtypesOp
  : CalculateYieldOp<"dtype.calculate.yield.dtypes", "DtypeCalculateOp">;
