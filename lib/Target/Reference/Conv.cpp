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
        out(e.buffer(op.getResult())),
        channels(e.ix().div(input.sizes[op.inputChannels()], op.getGroups())),
        outputs(e.ix().div(out.sizes[op.resultChannels()], op.getGroups())) {}

  void emit() {
    Indices terms; // the window, then the channels of a group
    for (int64_t s = 0; s < op.getSpatialRank(); ++s)
      terms.push_back(weight.sizes[op.weightDim(s)]);
    terms.push_back(channels);
    Type sum = Emitter::sumType(out.element);
    e.nest(out.sizes, [&](ArrayRef<Ix> at) {
      Values total = e.reduce(terms, e.convert(e.load(out, at), sum), isa<FloatType>(sum),
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
    auto added = [&] {
      Value x = e.load(input, from), w = e.load(weight, weightAt(term, channel, output));
      return e.add(sum, e.mul(e.convert(x, sum.getType()), e.convert(w, sum.getType())));
    };
    return e.ifElse(exists, added, sum);
  }

  /// The input's position for one of the result and of the window; adds to `exists` whether there
  /// is one.
  Ix position(int64_t s, const Ix &result, const Ix &window, Value &exists) {
    IndexBuilder ix = e.ix();
    Ix stride = op.getStrides()[s];
    Ix reach = ix.sub(ix.mul(window, op.getDilations()[s]), op.getPaddingLow()[s]);
    Ix at = op.getTransposed() ? ix.sub(result, reach) : ix.add(ix.mul(result, stride), reach);
    if (op.getTransposed()) { // a negative one is a huge quotient
      exists = arith::AndIOp::create(e.b, e.loc, exists, ix.equal(ix.rem(at, stride), 0));
      at = ix.div(at, stride);
    }
    Value isInside = ix.inside(at, input.sizes[op.inputDim(s)]);
    exists = arith::AndIOp::create(e.b, e.loc, exists, isInside);
    return at;
  }

  Indices weightAt(ArrayRef<Ix> term, const Ix &channel, const Ix &output) {
    Indices window(term.drop_back()), at;
    if (op.isWeightLast())
      at = {term.back(), output};
    else if (op.getTransposed())
      at = {channel, e.ix().rem(output, outputs)};
    else
      at = {output, term.back()};
    at.insert(op.isWeightLast() ? at.begin() : at.end(), window.begin(), window.end());
    return at;
  }

  graph::ConvOp op;
  Emitter &e;
  const Buffer input, weight, out;
  const Ix channels, outputs; // of a group
};

} // namespace

LogicalResult emitConv(graph::ConvOp op, Emitter &e) {
  ConvLoops(op, e).emit();
  return success();
}

} // namespace tw::target::reference
