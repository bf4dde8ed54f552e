// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LSTM, GRU and simple recurrent layers and cells. A layer in one direction is
//   - what the input contributes to the gates, for all steps at once: one contraction;
//   - one scf.for over the steps that carries the state and the sequence of outputs.
// States are carried in f32 for f16 and bf16 and rounded where they leave the layer.
#include "IR/Graph/Graph.h"
#include "TorchToGraph/Builders/Contract.h"
#include "TorchToGraph/Builders/Elementwise/Element.h"
#include "TorchToGraph/Builders/Elementwise/Pointwise.h"
#include "TorchToGraph/Builders/Index.h"
#include "TorchToGraph/Builders/Move.h"
#include "TorchToGraph/Builders/Reshape.h"
#include "TorchToGraph/Families.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace tw::lower {
namespace {

enum class Cell { Lstm, Gru, Tanh, Relu };

constexpr int64_t gatesOf(Cell cell) { return cell == Cell::Lstm ? 4 : cell == Cell::Gru ? 3 : 1; }

/// The parameters of one layer in one direction: [gates * hidden, input] and [gates * hidden,
/// hidden], with biases [gates * hidden] or none. An LSTM's hidden state may be a projection of
/// what it would be, [projected, hidden]; then the second one is [gates * hidden, projected].
struct Parameters {
  Tensor input, hidden;
  std::optional<Tensor> inputBias, hiddenBias, projection;
};

/// Hidden units of a cell.
OpFoldResult unitsOf(Lowering &ctx, const Parameters &p) {
  return ctx.sizeOf(p.projection ? *p.projection : p.hidden, 1);
}

/// Hidden state and, for LSTM, cell state, both [batch, hidden] unless the first is projected.
using State = SmallVector<Tensor, 2>;

//===----------------------------------------------------------------------===//
// One step
//===----------------------------------------------------------------------===//

Tensor withBias(Lowering &ctx, const Tensor &x, const std::optional<Tensor> &bias) {
  if (!bias)
    return x;
  return pointwise(
      ctx, {x, *bias}, x.dtype, [](Element &e, ValueRange x) { return e.add(x[0], x[1]); },
      x.dtype);
}

/// What the input adds to the gates. GRU's biases of the hidden state stay with it: its new state
/// scales them.
Tensor inputGates(Lowering &ctx, Cell cell, const Labelled &input, StringRef out,
                  const Parameters &p) {
  Tensor gates = contract(ctx, input, {p.input, "gi"}, out, contractDType(input.tensor.dtype));
  gates = withBias(ctx, gates, p.inputBias);
  return cell == Cell::Gru ? gates : withBias(ctx, gates, p.hiddenBias);
}

/// Part `k` of [batch, parts * hidden].
Tensor part(Lowering &ctx, const Tensor &gates, int64_t k, OpFoldResult hidden) {
  OpFoldResult start = IndexMath{ctx.b, ctx.loc}.mul(ctx.b.getIndexAttr(k), hidden);
  return slice(ctx, gates, 1, start, hidden);
}

State lstmStep(Lowering &ctx, const Tensor &gates, const State &state, OpFoldResult hidden) {
  DType dtype = gates.dtype;
  Operand i = part(ctx, gates, 0, hidden), f = part(ctx, gates, 1, hidden),
          g = part(ctx, gates, 2, hidden), o = part(ctx, gates, 3, hidden);
  Tensor cell = pointwise(ctx, {i, f, g, state[1]}, dtype, [](Element &e, ValueRange x) {
    Value kept = e.mul(e.sigmoid(x[1]), x[3]);
    return e.add(kept, e.mul(e.sigmoid(x[0]), e.tanh(x[2])));
  });
  Tensor next = pointwise(ctx, {o, cell}, dtype, [](Element &e, ValueRange x) {
    return e.mul(e.sigmoid(x[0]), e.tanh(x[1]));
  });
  return {next, cell};
}

State gruStep(Lowering &ctx, const Tensor &fromInput, const Tensor &fromHidden, const State &state,
              OpFoldResult hidden) {
  SmallVector<Operand> inputs;
  for (const Tensor &gates : {fromInput, fromHidden})
    for (int64_t k : {0, 1, 2})
      inputs.push_back(part(ctx, gates, k, hidden));
  inputs.push_back(state[0]);
  return {pointwise(ctx, inputs, state[0].dtype, [](Element &e, ValueRange x) {
    Value reset = e.sigmoid(e.add(x[0], x[3])), update = e.sigmoid(e.add(x[1], x[4]));
    Value fresh = e.tanh(e.add(x[2], e.mul(reset, x[5])));
    return e.add(e.mul(e.sub(x[6], fresh), update), fresh);
  })};
}

/// The state after a step to whose gates the input adds `fromInput` [batch, gates * hidden].
State step(Lowering &ctx, Cell cell, const Tensor &fromInput, const State &state,
           const Parameters &p) {
  OpFoldResult hidden = unitsOf(ctx, p);
  Tensor fromHidden = contract(ctx, {state[0], "bh"}, {p.hidden, "gh"}, "bg", fromInput.dtype);
  if (cell == Cell::Gru)
    return gruStep(ctx, fromInput, withBias(ctx, fromHidden, p.hiddenBias), state, hidden);
  bool isRelu = cell == Cell::Relu, isPlain = isRelu || cell == Cell::Tanh;
  Tensor gates =
      pointwise(ctx, {fromInput, fromHidden}, fromInput.dtype, [&](Element &e, ValueRange x) {
        Value sum = e.add(x[0], x[1]);
        return !isPlain ? sum : isRelu ? e.max(sum, e.constant(0)) : e.tanh(sum);
      });
  if (isPlain)
    return {gates};
  State next = lstmStep(ctx, gates, state, hidden);
  if (p.projection)
    next[0] = contract(ctx, {next[0], "bh"}, {*p.projection, "ph"}, "bp", next[0].dtype);
  return next;
}

/// Refuses parameters that do not fit together.
LogicalResult checkParameters(Lowering &ctx, Cell cell, const Tensor &input, const State &state,
                              const Parameters &p) {
  if (!ctx.needsRank(p.input, 2, "the input weight") ||
      !ctx.needsRank(p.hidden, 2, "the hidden weight"))
    return failure();
  if (p.projection && !ctx.needsRank(*p.projection, 2, "the projection"))
    return failure();
  IndexMath m{ctx.b, ctx.loc};
  OpFoldResult hidden = unitsOf(ctx, p);
  OpFoldResult gates = m.mul(ctx.b.getIndexAttr(gatesOf(cell)), hidden);
  ctx.requireEqual(gates, ctx.sizeOf(p.hidden, 0));
  ctx.requireEqual(gates, ctx.sizeOf(p.input, 0));
  ctx.requireEqual(ctx.sizeOf(input, input.rank() - 1), ctx.sizeOf(p.input, 1));
  for (const auto &bias : {p.inputBias, p.hiddenBias})
    if (bias && ctx.needsRank(*bias, 1, "a bias"))
      ctx.requireEqual(gates, ctx.sizeOf(*bias, 0));
  OpFoldResult projected = ctx.sizeOf(p.hidden, 1);
  if (p.projection)
    ctx.requireEqual(projected, ctx.sizeOf(*p.projection, 0));
  for (auto [number, tensor] : llvm::enumerate(state))
    ctx.requireEqual(number == 0 ? projected : hidden, ctx.sizeOf(tensor, tensor.rank() - 1));
  return success(!ctx.hasRefused());
}

//===----------------------------------------------------------------------===//
// A layer in one direction
//===----------------------------------------------------------------------===//

/// `tensor` with exactly the type of `sizes`.
Tensor withSizes(Lowering &ctx, Tensor tensor, ArrayRef<OpFoldResult> sizes) {
  auto type = RankedTensorType::get(staticSizes(sizes), tensor.type().getElementType());
  if (type != tensor.type())
    tensor.value = tensor::CastOp::create(ctx.b, ctx.loc, type, tensor.value);
  ctx.allSizes().set(tensor.value, sizes);
  return tensor;
}

/// What a loop over the steps reads and writes at one of them.
struct StepSlice {
  SmallVector<OpFoldResult> offsets, sizes, strides;

  StepSlice(OpBuilder &b, Value at, ArrayRef<OpFoldResult> whole)
      : offsets(3, b.getIndexAttr(0)), sizes(whole), strides(3, b.getIndexAttr(1)) {
    offsets[0] = at, sizes[0] = b.getIndexAttr(1);
  }
};

/// Step `at` of [steps, batch, n], as [batch, n].
Tensor readStep(Lowering &ctx, const Tensor &sequence, Value at) {
  auto sizes = ctx.sizesOf(sequence);
  StepSlice s(ctx.b, at, sizes);
  auto type = RankedTensorType::get(sequence.type().getShape().drop_front(),
                                    sequence.type().getElementType());
  return {tensor::ExtractSliceOp::create(ctx.b, ctx.loc, type, sequence.value, s.offsets, s.sizes,
                                         s.strides),
          sequence.dtype};
}

/// The outputs [steps, batch, hidden] in dtype `dtype` and the last state.
struct LayerResult {
  Tensor outputs;
  State last;
};

/// Runs over `input` [steps, batch, n] (labels "tbi", or "bti" when the batch comes first).
LayerResult runLayer(Lowering &ctx, Cell cell, const Labelled &input, const State &initial,
                     const Parameters &p, bool backward) {
  IndexMath m{ctx.b, ctx.loc};
  Tensor gates = inputGates(ctx, cell, input, "tbg", p);
  SmallVector<OpFoldResult> all = ctx.sizesOf(gates);
  all[2] = ctx.sizeOf(p.hidden, 1);
  auto stateSizes = [&, batch = all[1], output = all[2], units = unitsOf(ctx, p)](size_t number) {
    return SmallVector<OpFoldResult>{batch, number == 0 ? output : units};
  };

  SmallVector<Value> carried = {ctx.empty(all, input.tensor.dtype).value};
  for (auto [number, x] : llvm::enumerate(initial)) {
    ctx.requireEqual(all[1], ctx.sizeOf(x, 0));
    carried.push_back(withSizes(ctx, castTo(ctx, x, gates.dtype), stateSizes(number)).value);
  }
  Value steps = m.value(all[0]), zero = m.value(m.constant(0)), one = m.value(m.constant(1));
  Value last = m.value(m.sub(all[0], m.constant(1)));
  auto loop = scf::ForOp::create(ctx.b, ctx.loc, zero, steps, one, carried);
  {
    OpBuilder::InsertionGuard guard(ctx.b);
    Sizes::Scope scope(ctx.allSizes());
    ctx.b.setInsertionPointToStart(loop.getBody());
    Value at = loop.getInductionVar();
    if (backward)
      at = arith::SubIOp::create(ctx.b, ctx.loc, last, at);
    State state;
    for (auto [number, value] : llvm::enumerate(loop.getRegionIterArgs().drop_front())) {
      ctx.allSizes().set(value, stateSizes(number));
      state.push_back({value, gates.dtype});
    }
    State next = step(ctx, cell, readStep(ctx, gates, at), state, p);
    for (auto [number, x] : llvm::enumerate(next))
      x = withSizes(ctx, x, stateSizes(number));
    StepSlice s(ctx.b, at, all);
    Value output = castTo(ctx, next[0], input.tensor.dtype).value;
    SmallVector<Value> yielded = {tensor::InsertSliceOp::create(
        ctx.b, ctx.loc, output, loop.getRegionIterArgs()[0], s.offsets, s.sizes, s.strides)};
    for (const Tensor &x : next)
      yielded.push_back(x.value);
    scf::YieldOp::create(ctx.b, ctx.loc, yielded);
  }
  LayerResult result{{loop.getResult(0), input.tensor.dtype}, {}};
  ctx.allSizes().set(loop.getResult(0), all);
  for (auto [number, value] : llvm::enumerate(loop.getResults().drop_front())) {
    ctx.allSizes().set(value, stateSizes(number));
    result.last.push_back(castTo(ctx, {value, gates.dtype}, input.tensor.dtype));
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

/// Element `k` of the first dimension.
Tensor element(Lowering &ctx, const Tensor &tensor, int64_t k) {
  return squeeze(ctx, slice(ctx, tensor, 0, ctx.b.getIndexAttr(k), ctx.b.getIndexAttr(1)), 0);
}

Tensor stack(Lowering &ctx, ArrayRef<Tensor> tensors) {
  SmallVector<Tensor> rows;
  for (const Tensor &tensor : tensors)
    rows.push_back(unsqueeze(ctx, tensor, 0));
  return concat(ctx, rows, 0);
}

/// An operator `lstm.input(input, hx, params, has_biases, num_layers, dropout, train,
/// bidirectional, batch_first)`.
struct Network {
  Tensor input;
  SmallVector<Tensor> initial; // [layers * directions, batch, hidden] each
  SmallVector<Tensor> parameters;
  int64_t layers = 1, directions = 1, perCell = 4;
  bool batchFirst = false;
};

/// Refuses what is not supported or does not fit.
LogicalResult checkNetwork(Lowering &ctx, Cell cell, const Network &n) {
  int64_t states = cell == Cell::Lstm ? 2 : 1, cells = n.layers * n.directions;
  int64_t wanted = cells * n.perCell, given = n.parameters.size();
  if (n.layers < 1 || given != wanted || int64_t(n.initial.size()) != states)
    return ctx.refuse("it needs " + Twine(wanted) + " parameters and " + Twine(states) +
                      " initial states, and has " + Twine(given) + " and " +
                      Twine(int64_t(n.initial.size())));
  if (ctx.flag("train") && n.layers > 1 && ctx.number("dropout") > 0)
    return ctx.refuse("dropout between layers draws random numbers; export the model after "
                      "model.eval()");
  if (!ctx.needsRank(n.input, 3, "the input"))
    return failure();
  for (const Tensor &state : n.initial) {
    if (!ctx.needsRank(state, 3, "the initial state"))
      return failure();
    ctx.requireEqual(ctx.b.getIndexAttr(cells), ctx.sizeOf(state, 0));
  }
  OpFoldResult steps = ctx.sizeOf(n.input, n.batchFirst ? 1 : 0);
  if (constantOf(steps) == 0)
    return ctx.refuse("the sequence has length 0; it needs at least one step");
  if (auto length = dyn_cast<Value>(steps)) {
    Value none = arith::ConstantIndexOp::create(ctx.b, ctx.loc, 0);
    Value some = arith::CmpIOp::create(ctx.b, ctx.loc, arith::CmpIPredicate::sgt, length, none);
    graph::AssertOp::create(ctx.b, ctx.loc, some,
                            "the sequence of a recurrent layer has length %lld; it needs at "
                            "least one step",
                            ValueRange{length});
  }
  return success(!ctx.hasRefused());
}

Parameters parametersOf(const Network &n, int64_t cell) {
  ArrayRef<Tensor> own = ArrayRef(n.parameters).slice(cell * n.perCell, n.perCell);
  Parameters p{own[0], own[1], {}, {}, {}};
  if (own.size() >= 4)
    p.inputBias = own[2], p.hiddenBias = own[3];
  if (own.size() % 2 == 1)
    p.projection = own.back();
  return p;
}

LogicalResult runNetwork(Lowering &ctx, Cell cell, const Network &n) {
  if (failed(checkNetwork(ctx, cell, n)))
    return failure();
  Labelled input{n.input, n.batchFirst ? "bti" : "tbi"};
  SmallVector<SmallVector<Tensor>> last(n.initial.size());
  for (int64_t layer = 0; layer < n.layers; ++layer) {
    SmallVector<Tensor> outputs;
    for (int64_t direction = 0; direction < n.directions; ++direction) {
      int64_t index = layer * n.directions + direction;
      State initial;
      for (const Tensor &states : n.initial)
        initial.push_back(element(ctx, states, index));
      Parameters p = parametersOf(n, index);
      if (failed(checkParameters(ctx, cell, input.tensor, initial, p)))
        return failure();
      LayerResult result = runLayer(ctx, cell, input, initial, p, direction == 1);
      outputs.push_back(result.outputs);
      for (auto [states, state] : llvm::zip_equal(last, result.last))
        states.push_back(state);
    }
    input = {concat(ctx, outputs, 2), "tbi"};
  }
  SmallVector<Operand> results = {n.batchFirst ? transpose(ctx, input.tensor, 0, 1) : input.tensor};
  for (ArrayRef<Tensor> states : last)
    results.push_back(stack(ctx, states));
  return ctx.done(results);
}

template <Cell cell>
LogicalResult lowerNetwork(Lowering &ctx) {
  Network n;
  n.input = ctx.tensor("input");
  if (cell == Cell::Lstm)
    n.initial = ctx.tensors("hx");
  else
    n.initial = {ctx.tensor("hx")};
  n.parameters = ctx.tensors("params");
  n.perCell = ctx.flag("has_biases") ? 4 : 2;
  n.layers = ctx.integer("num_layers");
  n.directions = ctx.flag("bidirectional") ? 2 : 1;
  n.batchFirst = ctx.flag("batch_first");
  if (int64_t cells = n.layers * n.directions;
      cell == Cell::Lstm && int64_t(n.parameters.size()) == cells * (n.perCell + 1))
    ++n.perCell; // the last one of each is a projection
  if (ctx.hasRefused())
    return failure();
  return runNetwork(ctx, cell, n);
}

LogicalResult refusePacked(Lowering &ctx) {
  return ctx.refuse("packed sequences are not supported; pass a padded tensor");
}

//===----------------------------------------------------------------------===//
// Cells
//===----------------------------------------------------------------------===//

template <Cell cell>
LogicalResult lowerCell(Lowering &ctx) {
  Tensor input = ctx.tensor("input");
  State state;
  if (cell == Cell::Lstm)
    llvm::append_range(state, ctx.tensors("hx"));
  else
    state.push_back(ctx.tensor("hx"));
  Parameters p{
      ctx.tensor("w_ih"), ctx.tensor("w_hh"), ctx.optTensor("b_ih"), ctx.optTensor("b_hh"), {}};
  if (ctx.hasRefused() || !ctx.needsRank(input, 2, "the input"))
    return failure();
  if (state.size() != (cell == Cell::Lstm ? 2 : 1))
    return ctx.refuse("it needs a hidden state and a cell state");
  for (const Tensor &x : state)
    if (!ctx.needsRank(x, 2, "the state"))
      return failure();
  if (failed(checkParameters(ctx, cell, input, state, p)))
    return failure();
  SmallVector<Operand> results;
  for (const Tensor &x : step(ctx, cell, inputGates(ctx, cell, {input, "bi"}, "bg", p), state, p))
    results.push_back(castTo(ctx, x, input.dtype));
  return ctx.done(results);
}

} // namespace

Family recurrentFamily() {
  static constexpr LoweringRow rows[] = {
      {"torch.aten.lstm.input", lowerNetwork<Cell::Lstm>},
      {"torch.aten.lstm.data", refusePacked},
      {"torch.aten.gru.input", lowerNetwork<Cell::Gru>},
      {"torch.aten.gru.data", refusePacked},
      {"torch.aten.rnn_tanh.input", lowerNetwork<Cell::Tanh>},
      {"torch.aten.rnn_tanh.data", refusePacked},
      {"torch.aten.rnn_relu.input", lowerNetwork<Cell::Relu>},
      {"torch.aten.rnn_relu.data", refusePacked},
      {"torch.aten.lstm_cell", lowerCell<Cell::Lstm>},
      {"torch.aten.gru_cell", lowerCell<Cell::Gru>},
      {"torch.aten.rnn_tanh_cell", lowerCell<Cell::Tanh>},
      {"torch.aten.rnn_relu_cell", lowerCell<Cell::Relu>},
  };
  return {"Recurrent layers", rows};
}

} // namespace tw::lower
