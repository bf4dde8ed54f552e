// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes on the graph: tensors, before dispatches are formed.
include "mlir/Pass/PassBase.td"

class GraphPass<string argument, string operation = ""> : Pass<argument, operation> {
  // Which brings the other dialects of graphs along.
  let dependentDialects = ["::tw::graph::TWDialect"];
}

def DropDeadResults : GraphPass<"tw-drop-dead-results"> {
  let summary = "Reductions without results nobody reads";
  let description = [{
    A reduction that computes several results at once loses those that nobody reads, as the positions
    of a max pooling of which only the values are wanted:

    ```
    %r:2 = linalg.generic ... outs(%values, %positions) {
    ^bb0(%x: f32, %v: f32, %p: i64):
      ... linalg.yield %v1, %p1 }            // %v1 does not follow from %p
    ```

    becomes, where %r#1 has no uses,

    ```
    %r = linalg.generic ... outs(%values) { ... linalg.yield %v1 }
    ```

    A result whose destination alone says how often a loop runs stays.
  }];
}

def ResolveDims : GraphPass<"tw-resolve-dims"> {
  let summary = "Express sizes by the entry's symbols";
  let description = [{
    tensor.dim of a computed tensor becomes the size the tensor was made with, until only dimensions
    of function arguments (and of what loops carry) are asked for:

    ```
    %e = tensor.empty(%n) : tensor<?xf32>
    %r = linalg.generic ... outs(%e)            ->   uses of %d become %n
    %d = tensor.dim %r, %c0
    ```

    So equal sizes are one value, dispatches do not depend on tensors for sizes alone, and dead
    computations can go.
  }];
}

def ScatterIntoWhole : GraphPass<"tw-scatter-into-whole"> {
  let summary = "Update whole tensors instead of slices that are put back";
  let description = [{
    What updates elements of a slice, which is then put back, updates the whole:

    ```
    %s = tensor.extract_slice %x[1, 0, 0] [1, 16, 64] [1, 1, 1]
    %c = tensor.collapse_shape %s [[0, 1], [2]]
    %u = tw.scatter set ins(%at, %v) outs(%c) { ... tw.yield %i, %j, %e }
    %e = tensor.expand_shape %u [[0, 1], [2]]
    %y = tensor.insert_slice %e into %x[1, 0, 0] [1, 16, 64] [1, 1, 1]
    ```

    becomes

    ```
    %y = tw.scatter set ins(%at, %v) outs(%x) { ... tw.yield %c1, %i, %j, %e }
    ```

    as caches of several layers in one tensor are written. Whoever else reads %u reads a slice of %y.
  }];
}

def FoldUnitReshapes : GraphPass<"tw-fold-unit-reshapes"> {
  let summary = "Read through reshapes of unit dimensions";
  let description = [{
    A linalg.generic reads through a reshape that only adds or drops dimensions of size one (what
    keepdim, squeeze and unsqueeze leave behind):

    ```
    %m1 = tensor.expand_shape %m [[0, 1]] : tensor<4xf32> into tensor<4x1xf32>
    generic ins(%x, %m1) maps (d0, d1) -> (d0, d1), (d0, 0)
    ```

    becomes

    ```
    generic ins(%x, %m)  maps (d0, d1) -> (d0, d1), (d0)
    ```

    so that a chain of reductions over the same rows stays one group. A parallel loop of one
    iteration that no computed operand has any more is dropped, so that what a view has given a unit
    dimension still has the loops of its producer, and fuses with it:

    ```
    generic ins(%m, %w) maps (d0, d1, d2) -> (d1, d2), (d2) -> tensor<1x4x8xf32>
    ```

    becomes

    ```
    %y = generic ins(%m, %w) maps (d0, d1) -> (d0, d1), (d1) -> tensor<4x8xf32>
    tensor.expand_shape %y [[0, 1], [2]] : tensor<4x8xf32> into tensor<1x4x8xf32>
    ```
  }];
}

def FoldPadding : GraphPass<"tw-fold-padding"> {
  let summary = "Let convolutions pad with zeros themselves";
  let description = [{
    A convolution pads with zeros itself:

    ```
    %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] { yield 0.0 }
    %y = tw.conv ins(%p, %w) outs(%init) {padding_low = array<i64: 0, 0>, ...}
    ```

    becomes

    ```
    %y = tw.conv ins(%x, %w) outs(%init) {padding_low = array<i64: 1, 1>, ...}
    ```

    The result's sizes say how much is padded behind. Zeros that are stored are multiplied, those
    outside contribute nothing: a weight that is infinite or not a number is met by elements of %x
    alone, as where PyTorch's convolution has the padding.
  }];
}

def ChannelsLast : GraphPass<"tw-channels-last", "::mlir::ModuleOp"> {
  let summary = "Run convolutions with channels last";
  let description = [{
    Convolutions run with channels last, and so does what stands between them:

    ```
    %y = tw.conv ins(%x, %w) : [N, C, H, W]                 %t = transpose %x
    %z = generic { relu }(%y)                               %y = tw.conv layout channels_last
    %u = tw.conv ins(%z, %v)                    ->          %z = generic { relu }(%y)
                                                            %u = tw.conv layout channels_last
                                                            transpose %u
    ```

    Operations are visited in order. One that reads a tensor that has been reordered (ChannelOrder.h) is
    written again for it, and its results are reordered too: elementwise operations, reductions,
    windows, padding, concatenation, reshapes. What cannot (or what leaves the function) gets the
    tensor transposed back. Weights are read in another order, which costs nothing. A convolution of
    a few channels reads its input as it is, padded before where its size is known; one with a window
    of one element is a product, and stays as it is where it reads many places with channels first
    and the function returns them so.
  }];
}

def MergeProducts : GraphPass<"tw-merge-products", "::mlir::ModuleOp"> {
  let summary = "Multiply one tensor with several weights at once";
  let description = [{
    Products of one tensor with several weights become one product, with the weights side by side,
    and so do the same elementwise operations behind them:

    ```
    %q = generic { sum of x * w }(%x, %wq)              %w = tensor.concat %wq, %wk
    %k = generic { sum of x * w }(%x, %wk)              %b = tensor.concat %bq, %bk
    %q1 = generic { q + b }(%q, %bq)             ->     %y = generic { sum of x * w }(%x, %w)
    %k1 = generic { k + b }(%k, %bk)                    %y1 = generic { y + b }(%y, %b)
                                                        %q1 = tensor.extract_slice %y1[0, 0] ...
                                                        %k1 = tensor.extract_slice %y1[0, 768] ...
    ```

    as of queries, keys and values: the tensor is read once, and few rows make work for more
    threads. Products stay apart if a reader would be fused with one of them (what is elementwise
    and not the same behind all), or needs a tensor of its own, as a result of the model does. The
    decision is `merge` (docs/configurations.md).
  }];
}

def RoundProducts : GraphPass<"tw-round-products"> {
  let summary = "Round operands of products of f32 to bf16";
  let description = [{
    What matrix products and attention multiply is rounded to bf16 where it is f32, as a model that
    is compiled with `--precision=bf16` allows; sums and results stay f32:

    ```
    %y = generic { c + a * b }(%x, %w) : tensor<128x768xf32>, tensor<768x768xf32>
    ```

    becomes

    ```
    %a = generic { truncf }(%x) : tensor<128x768xbf16>
    %b = generic { truncf }(%w) : tensor<768x768xbf16>
    %y = generic { c + extf(a) * extf(b) }(%a, %b)
    ```

    Roundings of weights are evaluated at compile time, others become a part of what computes the
    operand. Convolutions stay as they are.
  }];
}

def ReshapeBeforeSlice : GraphPass<"tw-reshape-before-slice"> {
  let summary = "Cut dimensions before slices are taken";
  let description = [{
    What cuts a dimension of a slice cuts it before the slice is taken:

    ```
    %s = tensor.extract_slice %x[0, 768] [128, 768] [1, 1]
    %h = tensor.expand_shape %s [[0], [1, 2]] : tensor<128x768xf32> into tensor<128x12x64xf32>
    ```

    becomes

    ```
    %y = tensor.expand_shape %x [[0], [1, 2]] : tensor<128x2304xf32> into tensor<128x36x64xf32>
    %h = tensor.extract_slice %y[0, 12, 0] [128, 12, 64] [1, 1, 1]
    ```

    Kernels read slices where they are, but a reshape of a slice is a copy: heads of queries, keys
    and values that one product computes are read from its result.
  }];
}

def ReadCapturedViews : GraphPass<"tw-read-captured-views"> {
  let summary = "Let bodies look elements up in tensors instead of in slices of them";
  let description = [{
    A body looks elements up in the tensor itself, not in a slice of it, in what only adds or drops
    dimensions of size one, or in what repeats it (an expanded tensor, which may be larger than memory):

    ```
    %s = tensor.extract_slice %x[0, 3] [128, 1] [1, 1] : tensor<128x26xi64> to tensor<128x1xi64>
    %v = tensor.collapse_shape %s [[0, 1]] : tensor<128x1xi64> into tensor<128xi64>
    linalg.generic { ... tensor.extract %v[%i] ... }
    ```

    becomes

    ```
    linalg.generic { ... tensor.extract %x[%i, %c3] ... }
    ```

    What a body captures is an argument of its kernel, in memory: the slice would be a copy, by a
    kernel of its own.
  }];
}

def FuseElementwise : GraphPass<"tw-fuse-elementwise"> {
  let summary = "Merge elementwise producers";
  let description = [{
    An elementwise linalg.generic is merged into the linalg.generic that reads it, when that saves a
    pass over memory and repeats no work worth mentioning:

    ```
    %t = generic { exp }(%x)
    %y = generic { add }(%t, %b)
    ```

    becomes

    ```
    %y = generic { exp, add }(%x, %b)
    ```

    The producer's value is recomputed wherever it is read. So it is merged when each element is read
    once (one user, whose loops all index it), or when recomputing is as cheap as reading: copies,
    transposes, casts, a broadcast of a scalar.

    A producer is only merged when nothing of it stays behind: one that reads its destination, as an
    outer product does that is added to zeros, or whose destination alone says how often a loop of
    the consumer runs, would remain a second result of the consumer, written again for every term of
    a sum.

    Why here, where `tile-fuse` fuses kernels later: what is one expression on this level has no
    order, no block and no configuration yet, so that

    - transposes, broadcasts and casts disappear into indexing maps, where they cost nothing. Between
      kernels they move elements of tiles, and say which blocks both kernels must have;
    - what follows sees the operator and not its wrapping: attention is found through transposes and
      casts, products read weights through them, and constants are evaluated as whole expressions;
    - what shares a kernel is decided on an operation for each pass over memory, and each kernel is
      configured for all that it computes.

    The boundary is the kind of the producer, and what is known. Here: an elementwise producer, into
    any linalg.generic, by rules that no machine changes: nothing is computed twice but what is as
    cheap as a load. Which operations then share a kernel is tw-form-dispatches' question: an
    elementwise operation meets a product, a convolution, attention, a sort or a reduction there,
    and is never merged into them as an expression. What separates two kernels all the same, and
    hand-written kernels, is tile-fuse's, which knows their blocks and the target's costs, and alone
    computes a function again. All three follow the decisions `fuse` that are wanted
    (docs/configurations.md); `recompute`, for a producer with several readers, is this pass's, as
    after it each reader has its copy.
  }];
}

def FoldAttentionTransposes : GraphPass<"tw-fold-attention-transposes"> {
  let summary = "Attention through transposes";
  let description = [{
    Attention, and its gradient, read their operands, and write their results, through transposes and
    broadcasts:

    ```
    %t = linalg.transpose %q permutation = [0, 2, 1, 3]
    %o = tw.attention ins(%t, ...)                        maps (b, h, l, ...) -> (b, h, l, e), ...
    ```

    becomes

    ```
    %o = tw.attention ins(%q, ...)                        maps (b, h, l, ...) -> (b, l, h, e), ...
    ```

    which costs nothing: its kernel reads blocks of any layout.
  }];
}

def FoldFilterTransposes : GraphPass<"tw-fold-filter-transposes"> {
  let summary = "Convolutions that read filters as they are given";
  let description = [{
    A convolution with channels last whose filters come with each call, [O, C, window...], reads them
    so:

    ```
    %t = linalg.transpose %w permutation = [2, 3, 1, 0]
    %y = tw.conv layout channels_last ins(%x, %t)
    ```

    becomes

    ```
    %y = tw.conv layout channels_last outputs_first ins(%x, %w)
    ```

    so that the target chooses whether its kernel reads blocks of them, or how another one prepares
    them.
  }];
}

def GroupQueries : GraphPass<"tw-group-queries"> {
  let summary = "Attention with keys that are not repeated";
  let description = [{
    Attention whose keys and values are repeated, head by head, for groups of queries reads each
    once:

    ```
    %b = linalg.broadcast %k : tensor<1x8x4096x64xf32> to tensor<1x8x4x4096x64xf32>
    %r = tensor.collapse_shape %b [[0], [1, 2], [3], [4]] : ... into tensor<1x32x4096x64xf32>
    %o = tw.attention ins(%q, %r, ...)                    maps (b, h, l, ...) -> (b, h, s, e), ...
    ```

    becomes

    ```
    %h = tensor.expand_shape %q [[0], [1, 2], [3], [4]] : ... into tensor<1x8x4x1x64xf32>
    %p = tw.attention ins(%h, %k, ...)                 maps (b, h, g, l, ...) -> (b, h, s, e), ...
    %o = tensor.collapse_shape %p
    ```

    A gradient of attention is cut in the same way where the keys are repeated in another program, a
    forward pass that keeps them, but their gradients are summed over groups: tw-sum-group-gradients
    then computes the sums at once.
  }];
}

def CollapseSums : GraphPass<"tw-collapse-sums"> {
  let summary = "Contractions with sums over one dimension instead of several";
  let description = [{
    Where a contraction sums over dimensions that follow each other in both of its operands, these are
    one, as in the gradient of the weight of a convolution of single elements:

    ```
    linalg.generic maps (o, i, n, h, w) -> (n, h, w, o), -> (n, h, w, i), -> (o, i)
      ins(%dy, %x : tensor<4x56x56x128xf32>, tensor<4x56x56x256xf32>)
    ```

    becomes a product of matrices,

    ```
    %a = tensor.collapse_shape %dy [[0, 1, 2], [3]] : ... into tensor<12544x128xf32>
    %b = tensor.collapse_shape %x  [[0, 1, 2], [3]] : ... into tensor<12544x256xf32>
    linalg.generic maps (k, o, i) -> (k, o), -> (k, i), -> (o, i)  ins(%a, %b)
    ```

    Loops of one iteration, as over a window of one element, are left out for that, and of what is read
    at every n-th position a slice is taken. Windows of more elements stay as they are.
  }];
}

def TransposeWeights : GraphPass<"tw-transpose-weights"> {
  let summary = "Lay out weights for contractions";
  let description = [{
    A contraction that reads a weight with a reduction dimension innermost, as PyTorch's linear does
    ([out, in]), gets the weight the other way round, so that its inner loop runs along the output:

    ```
    %w = tw.weight #w strides [768, 1] : tensor<3072x768xf32>     maps (m, n, k) -> (n, k)
    ```

    becomes

    ```
    %w = tw.weight #w strides [1, 768] : tensor<768x3072xf32>     maps (m, n, k) -> (k, n)
    ```

    Nothing is computed: a weight's strides say how its file is read, and the artifact's payload is
    written in the order of the type. (One-row products read every weight once in either order.)

    This is a normal form, which keeps what follows from having every product twice, and no schedule:
    in which panels a weight is stored, if in any, is the configuration's `packed`, which the target
    chooses; it lays the weight's file out once, from whatever order its strides give.
  }];
}

def FoldMasks : GraphPass<"tw-fold-masks", "::mlir::ModuleOp"> {
  let summary = "Attention without masks that say nothing of their own";
  let description = [{
    A mask that depends on constants alone is computed at compile time. Where it lets every query see
    all keys, attention has none; where query l sees the keys s <= l, attention is causal, which skips
    what is not seen and reads no mask. Exported models of transformers have such masks: of i1, or, in
    training, numbers that are 0 or -inf.

    ```
    %y = tw.attention ins(%q, %k, %v) mask(%all)        ->      %y = tw.attention ins(%q, %k, %v)
    %y = tw.attention ins(%q, %k, %v) mask(%lower)      ->      %y = tw.attention causal ins(%q, %k, %v)
    ```
  }];
  let constructor = "::tw::createFoldMasks(nullptr)";
}

def HoistWeights : GraphPass<"tw-hoist-weights", "::mlir::ModuleOp"> {
  let summary = "Evaluate expressions over weights";
  let description = [{
    What depends on weights and constants alone is computed once, at compile time, by generated code:

    ```
    %s = generic { rsqrt(var + eps) * gamma }(%var, %gamma)
    ```

    becomes

    ```
    %s = tw.weight #tw.weight<...>
    ```

    The computations are cloned into a module of their own, whose results the evaluator turns into
    weights. Declined, with a remark: results much larger than what they are made from (a broadcast
    is cheaper to repeat than to store).
  }];
  let constructor = "::tw::createHoistWeights(nullptr)";
}

def SumGroupGradients : GraphPass<"tw-sum-group-gradients"> {
  let summary = "Gradients of shared keys are summed where they are computed";
  let description = [{
    Gradients of keys and values that groups of queries share are summed where they are computed:

    ```
    %d:2 = tw.attention_gradient wrt <key|value> ...  maps ... (b, h, g, l, ...) -> (b, h, g, s, e)
    %k = linalg.generic ins(%d#0) outs(0) { arith.addf }          // sums over g
    %v = linalg.generic ins(%d#1) outs(0) { arith.addf }
    ```

    becomes

    ```
    %k, %v = tw.attention_gradient wrt <key|value> ...  maps ... (b, h, g, l, ...) -> (b, h, s, e)
    ```

    as automatic differentiation leaves it of keys that were repeated, which tw-group-queries no
    longer does. Sums of f16 and bf16 are of f32, and rounded in an operation of their own, which is
    a copy then, or nothing: what is summed inside is rounded there.
  }];
}

def ToDestinationStyle : GraphPass<"tw-to-destination-style"> {
  let summary = "Give every computation its destination";
  let description = [{
    Brings every computation into the form that kernels have: operations that write into a
    destination of their own.

    ```
    tensor.pad, tensor.concat, tensor.generate, ...   -> fills, copies and insert_slice
    linalg.fill with several users                    -> one fill a user
    an init that somebody else still reads            -> a copy of it first, if it is read here
    a slice that leaves the kernels (returned, reshaped, carried by a loop) -> a copy of it
    a constant that leaves the kernels                -> a copy of it
    ```
  }];
}

def NumberValues : GraphPass<"tw-number-values"> {
  let summary = "Number the values that the graph computes";
  let description = [{
    Gives each tensor that the graph computes a number, in the order of the text:

    ```
    %y = linalg.generic ... -> tensor<4xf32>
    ```

    becomes

    ```
    %y = linalg.generic ... {tw.values = [#tw.value<0 is 17 : tensor<4xf32>>]} -> tensor<4xf32>
    ```

    Two programs of one graph know their values by it (IR/Graph/Values.h).
  }];
}

def GraphCSE : GraphPass<"tw-cse"> {
  let summary = "Compute the same only once";
  let description = [{
    MLIR's elimination of common subexpressions with the numbers of values (IR/Graph/Values.h) kept:
    it runs as if there were none, since operations with other attributes are not the same to it.
  }];
}
