// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tw.conv: for every element of the result a sum over window and channels. Where the input ends, a
// term is left out.
#include "Target/Reference/PlainLoops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tw::target::reference {
namespace {

class ConvLoops {
public:
  ConvLoops(graph::ConvOp op, Emitter &e)
      : op(op), e(e), input(e.buffer(op.getInput())), weight(e.buffer(op.getWeight())),
        out(e.buffer(op.getResult())) {}

  void emit() {
    Ix groups = op.getGroups();
    channels = e.ix().div(input.sizes[op.inputChannels()], groups);
    outputs = e.ix().div(out.sizes[op.resultChannels()], groups);
    Indices terms; // the window, then the channels of a group
    for (int64_t s = 0; s < op.getSpatialRank(); ++s)
      terms.push_back(weight.sizes[op.weightDim(s)]);
    terms.push_back(channels);
    Type sum = Emitter::sumType(out.element);
    e.nest(out.sizes, [&](ArrayRef<Ix> at) {
      Value initial = e.convert(e.load(out, at), sum);
      Values total = e.reduce(terms, initial, isa<FloatType>(sum),
                              [&](ArrayRef<Ix> term, ArrayRef<Value> old) {
                                return Values{withTerm(at, term, old[0])};
                              });
      e.store(e.convert(total[0], out.element), out, at);
    });
  }

private:
  Value withTerm(ArrayRef<Ix> at, ArrayRef<Ix> term, Value sum) {
    Ix output = at[op.resultChannels()], group = e.ix().div(output, outputs);
    Ix channel = e.ix().add(e.ix().mul(group, channels), term.back());
    Indices from(input.sizes.size(), at[0]);
    from[op.inputChannels()] = channel;
    Value exists = e.constant(e.b.getI1Type(), 1);
    for (int64_t s = 0; s < op.getSpatialRank(); ++s)
      from[op.inputDim(s)] = position(s, at[op.resultDim(s)], term[s], exists);
    return e.ifElse(
        exists,
        [&] {
          Value x = e.convert(e.load(input, from), sum.getType());
          Value w = e.load(weight, weightAt(term, channel, output));
          return e.add(sum, e.mul(x, e.convert(w, sum.getType())));
        },
        sum);
  }

  /// The input's position for one of the result and of the window; adds to `exists` whether there
  /// is one.
  Ix position(int64_t s, const Ix &result, const Ix &window, Value &exists) {
    IndexBuilder ix = e.ix();
    Ix stride = op.getStrides()[s];
    Ix reach = ix.sub(ix.mul(window, op.getDilations()[s]), op.getPaddingLow()[s]);
    Ix at = op.getTransposed() ? ix.sub(result, reach) : ix.add(ix.mul(result, stride), reach);
    auto require = [&](Value holds) {
      exists = arith::AndIOp::create(e.b, e.loc, exists, holds);
    };
    if (op.getTransposed()) { // a negative one is a huge quotient
      require(ix.equal(ix.rem(at, stride), 0));
      at = ix.div(at, stride);
    }
    require(ix.inside(at, input.sizes[op.inputDim(s)]));
    return at;
  }

  Indices weightAt(ArrayRef<Ix> term, const Ix &channel, const Ix &output) {
    Indices at(weight.sizes.size(), Ix(0));
    for (int64_t s = 0; s < op.getSpatialRank(); ++s)
      at[op.weightDim(s)] = term[s];
    unsigned last = weight.sizes.size() - 1;
    if (op.isResultLast()) {
      at[last - 1] = term.back();
      at[last] = output;
    } else if (op.getTransposed()) {
      at[0] = channel;
      at[1] = e.ix().rem(output, outputs);
    } else {
      at[0] = output;
      at[1] = term.back();
    }
    return at;
  }

  graph::ConvOp op;
  Emitter &e;
  const Buffer input, weight, out;
  Ix channels, outputs; // of a group
};

} // namespace

LogicalResult emitConv(graph::ConvOp op, Emitter &e) {
  ConvLoops(op, e).emit();
  return success();
}

} // namespace tw::target::reference
