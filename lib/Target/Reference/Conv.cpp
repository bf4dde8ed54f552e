// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tw.conv with channels first, any number of dimensions. Output positions of one image are taken as
// one consecutive row; a block of them becomes a panel (Panel.h): its columns are the positions,
// its terms pairs of channel and window place. Where a term reads is looked up in a table that is
// made once a block, so that padding, strides, dilation and transposition cost nothing inside.
// Convolutions with few outputs a group (depthwise ones) go along rows of the input instead.
#include "IR/Graph/Graph.h"
#include "Target/Reference/Operations.h"
#include "Target/Reference/Panel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tw::target::reference {
namespace {

/// Window places of one table.
constexpr int64_t tablePlaces = 128;

class ConvEmitter {
public:
  ConvEmitter(graph::ConvOp op, Emitter &e)
      : op(op), e(e), input(e.buffer(op.getInput())), weight(e.buffer(op.getWeight())),
        out(e.buffer(op.getResult())), shape(panelShape(out.element, e.cpu)),
        spatial(op.getStrides().size()), groups(op.getGroups()) {
    IndexBuilder ix = e.ix();
    window.assign(weight.sizes.begin() + 2, weight.sizes.end());
    inputSize.assign(input.sizes.begin() + 2, input.sizes.end());
    outSize.assign(out.sizes.begin() + 2, out.sizes.end());
    places = ix.product(window);
    positions = ix.product(outSize);
    channels = ix.div(input.sizes[1], groups);
    outputs = ix.div(out.sizes[1], groups);
  }

  void emit() {
    Ix elements = e.ix().mul(e.ix().product(input.sizes), places);
    if (elements.isConstant()) {
      if (!elements.is(0))
        images();
      return;
    }
    e.ifThen(e.ix().less(0, elements), [&] { images(); });
  }

private:
  void images() {
    Range batch = e.range(0, out.sizes[0]), outRange = e.range(1, out.sizes[1]);
    Ix outEnd = e.ix().add(outRange.lo, outRange.len);
    e.loop(batch.lo, e.ix().add(batch.lo, batch.len), 1, [&](Ix n) {
      if (groups == 1)
        return group(n, 0, outRange.lo, outEnd);
      Ix first = e.ix().div(outRange.lo, outputs);
      e.loop(first, e.ix().ceilDiv(outEnd, outputs), 1, [&](Ix g) {
        Ix lo = e.ix().max(outRange.lo, e.ix().mul(g, outputs));
        group(n, g, lo, e.ix().min(outEnd, e.ix().mul(e.ix().add(g, 1), outputs)));
      });
    });
  }

  /// Outputs [lo, hi) of group `g` of image `n`.
  void group(const Ix &n, const Ix &g, const Ix &lo, const Ix &hi) {
    firstChannel = e.ix().mul(g, channels);
    image = e.ix().add(input.offset, e.ix().add(e.ix().mul(n, input.strides[0]),
                                                e.ix().mul(firstChannel, input.strides[1])));
    if (goesAlongRows())
      return e.loop(lo, hi, 1, [&](Ix o) { alongRows(n, g, o); });
    makePanels(n, g, lo, hi);
  }

  //===--- panels ----------------------------------------------------------===//

  bool isDense() {
    auto all = [](ArrayRef<int64_t> list, int64_t value) {
      return llvm::all_of(list, [&](int64_t x) { return x == value; });
    };
    return places.is(1) && all(op.getStrides(), 1) && all(op.getPaddingLow(), 0) &&
           input.isDense(2) && llvm::all_of(llvm::zip(inputSize, outSize), [](auto pair) {
             return std::get<0>(pair).same(std::get<1>(pair));
           });
  }

  /// Terms of a panel, as (window places, channels): all places of several channels, or a part of
  /// the places of one; transposed weights are consecutive neither way: one place of many channels.
  std::pair<Ix, Ix> termsOfPanel() {
    if (op.getTransposed())
      return {1, panelDepth};
    Ix fits = e.ix().div(panelDepth, places);
    if (places.isConstant())
      return {std::min(*places.constant(), tablePlaces),
              *places.constant() <= tablePlaces ? *fits.constant() : 1};
    Ix many = e.ix().min(places, tablePlaces);
    return {many, e.ix().select(e.ix().equal(many, places), fits, 1)};
  }

  void makePanels(const Ix &n, const Ix &g, const Ix &lo, const Ix &hi) {
    Buffer panel = e.onStack(shape.sum, panelDepth * shape.width());
    Buffer table = e.onStack(e.b.getI64Type(), tablePlaces * shape.width());
    auto [many, together] = termsOfPanel();
    e.loop(0, positions, shape.width(), [&](Ix p) {
      bool full = positions.isConstant() && *positions.constant() % shape.width() == 0;
      Ix valid = full ? Ix(shape.width()) : e.ix().min(shape.width(), e.ix().sub(positions, p));
      e.loop(0, places, many, [&](Ix w) {
        Ix count = e.ix().min(many, e.ix().sub(places, w));
        if (!isDense())
          fillTable(table, p, valid, w, count);
        e.loop(0, channels, together, [&](Ix c) {
          Ix taken = e.ix().min(together, e.ix().sub(channels, c));
          pack(panel, table, p, valid, c, taken, count);
          multiply(panel, n, g, lo, hi, p, valid, c, w, e.ix().mul(taken, count));
        });
      });
    });
  }

  /// table[w][j]: where position p + j reads for window place w, or -1.
  void fillTable(const Buffer &table, const Ix &p, const Ix &valid, const Ix &w, const Ix &count) {
    e.loop(0, count, 1, [&](Ix i) {
      Indices place = delinearize(e.ix().add(w, i), window);
      e.loop(
          0, valid, 1,
          [&](Ix j) {
            Ix from = source(delinearize(e.ix().add(p, j), outSize), place);
            e.store(e.ix().value(from), table, e.ix().add(e.ix().mul(i, shape.width()), j));
          },
          true);
    });
  }

  Indices delinearize(Ix number, ArrayRef<Ix> sizes) {
    Indices digits(sizes.size(), Ix(0));
    for (int64_t d = sizes.size() - 1; d > 0; --d) {
      digits[d] = e.ix().rem(number, sizes[d]);
      number = e.ix().div(number, sizes[d]);
    }
    digits[0] = number;
    return digits;
  }

  /// Element within a channel that `position` reads at `place`; -1 outside.
  Ix source(const Indices &position, const Indices &place) {
    IndexBuilder ix = e.ix();
    Ix element = 0;
    Value inside = e.constant(e.b.getI1Type(), 1);
    for (size_t d = 0; d < spatial; ++d) {
      int64_t stride = op.getStrides()[d], low = op.getPaddingLow()[d];
      Ix reach = ix.mul(place[d], op.getDilations()[d]);
      Ix at;
      if (!op.getTransposed()) {
        at = ix.sub(ix.add(ix.mul(position[d], stride), reach), low);
      } else {
        // position = at * stride + reach - low
        Ix scaled = ix.sub(ix.add(position[d], low), reach);
        Value sign = arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::sge, ix.value(scaled),
                                           ix.value(0));
        Value even = ix.equal(ix.rem(scaled, stride), 0);
        inside = arith::AndIOp::create(e.b, e.loc, inside, sign);
        inside = arith::AndIOp::create(e.b, e.loc, inside, even);
        at = ix.div(scaled, stride);
      }
      inside = arith::AndIOp::create(e.b, e.loc, inside, ix.inside(at, inputSize[d]));
      element = ix.add(element, ix.mul(at, input.strides[2 + d]));
    }
    return ix.select(inside, element, -1);
  }

  /// panel[(c, w)][j] for `taken` channels and `count` places.
  void pack(const Buffer &panel, const Buffer &table, const Ix &p, const Ix &valid, const Ix &c,
            const Ix &taken, const Ix &count) {
    IndexBuilder ix = e.ix();
    Value zero = zeroOf(e, shape.sum);
    Ix width = shape.width();
    bool dense = isDense();
    e.nest({{0, taken}, {0, count}}, [&](ArrayRef<Ix> i) {
      Ix base = ix.add(image, ix.mul(ix.add(c, i[0]), input.strides[1]));
      Ix row = ix.mul(ix.add(ix.mul(i[0], count), i[1]), width);
      e.loop(
          0, valid, 1,
          [&](Ix j) {
            Value value;
            if (dense) {
              value = e.convert(e.load(input, ix.add(base, ix.add(p, j))), shape.sum);
            } else {
              Ix from = e.load(table, ix.add(ix.mul(i[1], width), j));
              value = e.convert(e.load(input, ix.add(base, ix.max(from, 0))), shape.sum);
              value = arith::SelectOp::create(e.b, e.loc, ix.less(from, 0), zero, value);
            }
            e.store(value, panel, ix.add(row, j));
          },
          true);
      if (!valid.is(shape.width()))
        e.loop(valid, width, 1, [&](Ix j) { e.store(zero, panel, ix.add(row, j)); });
    });
  }

  void multiply(const Buffer &panel, const Ix &n, const Ix &g, const Ix &lo, const Ix &hi,
                const Ix &p, const Ix &valid, const Ix &c, const Ix &w, const Ix &depth) {
    IndexBuilder ix = e.ix();
    Ix firstOutput = ix.mul(g, outputs);
    auto rowElement = [&](Ix o) {
      IndexBuilder ix = e.ix();
      Ix first = op.getTransposed() ? ix.add(firstChannel, c) : o;
      Ix second = op.getTransposed() ? ix.sub(o, firstOutput) : c;
      return ix.add(w, ix.add(weight.offset, ix.add(ix.mul(first, weight.strides[0]),
                                                    ix.mul(second, weight.strides[1]))));
    };
    auto resultElement = [&](Ix o) {
      IndexBuilder ix = e.ix();
      return ix.add(
          p, ix.add(out.offset, ix.add(ix.mul(n, out.strides[0]), ix.mul(o, out.strides[1]))));
    };
    auto convertA = [&](Value value) { return e.convert(value, shape.sum); };
    PanelProduct product{shape,      panel,         Ix(shape.width()),
                         depth,      weight,        op.getTransposed() ? weight.strides[0] : Ix(1),
                         rowElement, convertA,      out,
                         1,          resultElement, valid};
    emitPanelProduct(e, product, lo, ix.sub(hi, lo));
  }

  //===--- rows ------------------------------------------------------------===//

  /// Few terms and few outputs a group: a panel would be used once.
  bool goesAlongRows() {
    auto terms = places.isConstant() && channels.isConstant()
                     ? *places.constant() * *channels.constant()
                     : panelDepth + 1;
    return !op.getTransposed() && outputs.isConstant() && *outputs.constant() <= 2 &&
           terms <= panelDepth && out.element == shape.sum;
  }

  void alongRows(const Ix &n, const Ix &g, const Ix &o) {
    Ix target = e.ix().add(
        out.offset, e.ix().add(e.ix().mul(n, out.strides[0]), e.ix().mul(o, out.strides[1])));
    SmallVector<Range> rows;
    for (size_t d = 0; d + 1 < spatial; ++d)
      rows.push_back({0, outSize[d]});
    SmallVector<Range> terms{{0, channels}};
    for (const Ix &size : window)
      terms.push_back({0, size});
    e.nest(rows, [&](ArrayRef<Ix> at) {
      Indices position(at);
      e.nest(terms, [&](ArrayRef<Ix> term) { oneRow(position, term, o, target); });
    });
  }

  /// Adds one term (channel, window place) to one row of results.
  void oneRow(ArrayRef<Ix> position, ArrayRef<Ix> term, const Ix &o, Ix target) {
    IndexBuilder ix = e.ix();
    Ix from = ix.add(image, ix.mul(term[0], input.strides[1]));
    Ix factorAt = ix.add(weight.offset,
                         ix.add(ix.mul(o, weight.strides[0]), ix.mul(term[0], weight.strides[1])));
    Value inside = e.constant(e.b.getI1Type(), 1);
    for (size_t d = 0; d < spatial; ++d) {
      factorAt = ix.add(factorAt, ix.mul(term[1 + d], weight.strides[2 + d]));
      if (d + 1 == spatial)
        break;
      target = ix.add(target, ix.mul(position[d], out.strides[2 + d]));
      Ix at = ix.sub(ix.add(ix.mul(position[d], op.getStrides()[d]),
                            ix.mul(term[1 + d], op.getDilations()[d])),
                     op.getPaddingLow()[d]);
      inside = arith::AndIOp::create(e.b, e.loc, inside, ix.inside(at, inputSize[d]));
      from = ix.add(from, ix.mul(at, input.strides[2 + d]));
    }
    e.ifThen(inside, [&] { rowPart(from, term.back(), factorAt, target); });
  }

  /// The part of a row whose positions read inside the input.
  void rowPart(const Ix &from, const Ix &place, const Ix &factorAt, const Ix &target) {
    IndexBuilder ix = e.ix();
    int64_t stride = op.getStrides().back();
    // position * stride + shift must be in [0, size).
    Ix shift = ix.sub(ix.mul(place, op.getDilations().back()), op.getPaddingLow().back());
    Ix lo = ix.div(ix.max(0, ix.add(ix.sub(0, shift), stride - 1)), stride);
    Ix hi = ix.div(ix.max(0, ix.add(ix.sub(inputSize.back(), shift), stride - 1)), stride);
    hi = ix.min(hi, outSize.back());
    Value factor = e.convert(e.load(weight, factorAt), shape.sum);
    e.loop(
        lo, hi, 1,
        [&](Ix i) {
          IndexBuilder ix = e.ix();
          Ix at = ix.add(from, ix.mul(ix.add(ix.mul(i, stride), shift), input.strides.back()));
          Ix to = ix.add(target, i);
          Value value = e.convert(e.load(input, at), shape.sum);
          e.store(multiplyAdd(e, factor, value, e.load(out, to)), out, to);
        },
        true);
  }

  graph::ConvOp op;
  Emitter &e;
  const Buffer input, weight, out;
  PanelShape shape;
  size_t spatial;
  int64_t groups;
  Indices window, inputSize, outSize;
  Ix places, positions, channels, outputs, firstChannel, image;
};

} // namespace

LogicalResult emitConv(Operation *op, Emitter &e) {
  auto conv = cast<graph::ConvOp>(op);
  if (conv.isResultLast())
    return emitConvChannelsLast(op, e);
  ConvEmitter(conv, e).emit();
  return success();
}

} // namespace tw::target::reference
