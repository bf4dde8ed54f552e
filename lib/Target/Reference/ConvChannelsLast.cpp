// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tw.conv with channels last, as plain loops: for each position a few outputs at a time, which are
// summed up in parts of at most 256 terms.
#include "IR/Graph/Graph.h"
#include "Target/Reference/Operations.h"
#include "Target/Reference/Panel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tw::target::reference {
namespace {

constexpr int64_t outputsAtOnce = 64;

class ConvChannelsLast {
public:
  ConvChannelsLast(graph::ConvOp op, Emitter &e)
      : op(op), e(e), input(e.buffer(op.getInput())), weight(e.buffer(op.getWeight())),
        out(e.buffer(op.getResult())), spatial(op.getSpatialRank()),
        sum(panelShape(out.element, e.cpu).sum), parts(e.onStack(sum, outputsAtOnce)),
        totals(e.onStack(sum, outputsAtOnce)), channels(weight.sizes[spatial]),
        outputs(e.ix().div(out.sizes.back(), op.getGroups())) {}

  void emit() {
    SmallVector<Range> places = e.ranges(out.sizes);
    places.back() = {0, int64_t(op.getGroups()), true};
    e.nest(places, [&](ArrayRef<Ix> at) {
      Indices position(at.drop_back());
      Ix group = at.back();
      e.loop(0, outputs, outputsAtOnce, [&](Ix o) {
        block(position, group, o, e.ix().min(outputsAtOnce, e.ix().sub(outputs, o)));
      });
    });
  }

private:
  /// `count` outputs of a group from its output `o` on, at one position of one image.
  void block(const Indices &position, const Ix &group, const Ix &o, const Ix &count) {
    Ix column = e.ix().add(e.ix().mul(group, outputs), o);
    clear(totals, count);
    SmallVector<Range> window;
    for (size_t d = 0; d < spatial; ++d)
      window.push_back({0, weight.sizes[d]});
    e.nest(window, [&](ArrayRef<Ix> tap) {
      auto [place, inside] = source(position, tap);
      e.ifThen(inside, [&, place = place] { addTap(place, tap, group, column, count); });
    });
    Indices at(position);
    at.push_back(column);
    Ix first = e.linear(out, at);
    e.loop(0, count, 1, [&](Ix j) {
      Ix to = e.ix().add(first, j);
      Value old = e.convert(e.load(out, to), sum);
      e.store(e.convert(add(old, e.load(totals, j)), out.element), out, to);
    });
  }

  /// Where a tap reads for a position: the coordinates in the input but for the channel, and
  /// whether they are in it.
  std::pair<Indices, Value> source(const Indices &position, ArrayRef<Ix> tap) {
    IndexBuilder ix = e.ix();
    Indices place(input.sizes.size(), Ix(0));
    place[0] = position[0];
    Value inside = e.constant(e.b.getI1Type(), 1);
    auto require = [&](Value condition) {
      inside = arith::AndIOp::create(e.b, e.loc, inside, condition);
    };
    for (size_t d = 0; d < spatial; ++d) {
      int64_t stride = op.getStrides()[d], low = op.getPaddingLow()[d];
      Ix reach = ix.mul(tap[d], op.getDilations()[d]), at;
      if (op.getTransposed()) { // position = at * stride + reach - low
        Ix scaled = ix.sub(ix.add(position[1 + d], low), reach);
        require(arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::sge, ix.value(scaled),
                                      ix.value(0)));
        require(ix.equal(ix.rem(scaled, stride), 0));
        at = ix.div(scaled, stride);
      } else {
        at = ix.sub(ix.add(ix.mul(position[1 + d], stride), reach), low);
      }
      require(ix.inside(at, input.sizes[op.inputDim(int64_t(d))]));
      place[op.inputDim(int64_t(d))] = at;
    }
    return {place, inside};
  }

  void addTap(Indices place, ArrayRef<Ix> tap, const Ix &group, const Ix &column, const Ix &count) {
    e.loop(0, channels, panelDepth, [&](Ix from) {
      clear(parts, count);
      e.loop(from, e.ix().min(channels, e.ix().add(from, panelDepth)), 1, [&](Ix c) {
        place[op.inputChannels()] = e.ix().add(e.ix().mul(group, channels), c);
        Value factor = e.convert(e.load(input, e.linear(input, place)), sum);
        Indices row(tap);
        row.append({c, column});
        Ix first = e.linear(weight, row);
        e.loop(
            0, count, 1,
            [&](Ix j) {
              Value w = e.convert(e.load(weight, e.ix().add(first, j)), sum);
              e.store(multiplyAdd(e, factor, w, e.load(parts, j)), parts, j);
            },
            true);
      });
      e.loop(0, count, 1,
             [&](Ix j) { e.store(add(e.load(totals, j), e.load(parts, j)), totals, j); });
    });
  }

  void clear(const Buffer &row, const Ix &count) {
    Value zero = zeroOf(e, sum);
    e.loop(0, count, 1, [&](Ix j) { e.store(zero, row, j); });
  }

  Value add(Value x, Value y) {
    if (isa<FloatType>(sum))
      return arith::AddFOp::create(e.b, e.loc, x, y);
    return arith::AddIOp::create(e.b, e.loc, x, y);
  }

  graph::ConvOp op;
  Emitter &e;
  const Buffer input, weight, out;
  size_t spatial;
  Type sum;
  Buffer parts, totals;
  Ix channels, outputs; // of a group
};

} // namespace

LogicalResult emitConvChannelsLast(Operation *op, Emitter &e) {
  ConvChannelsLast(cast<graph::ConvOp>(op), e).emit();
  return success();
}

} // namespace tw::target::reference
