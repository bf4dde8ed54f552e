// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tile.scan: a line by one thread, or, where there are fewer lines than threads, in parts by
// several: each combines its part, one thread scans what the parts came to, and each then scans its
// part from there.
#include "Target/Common/Operations/Combine.h"
#include "Target/Common/Operations/Elementwise.h"
#include "Target/NVIDIA/Emission/Emitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using tw::tile::ScanKind;

namespace tw::target::nvidia {
namespace {

class ScanEmitter {
public:
  ScanEmitter(Emitter &e, tile::ScanOp op)
      : e(e), b(e.b), op(op), axis(op.getAxis()), extents(e.extents(op.getOperand())),
        element(scalarType(op.getType().getElementType())) {
    bool isSum = op.getKind() == ScanKind::Sum || op.getKind() == ScanKind::Prod;
    bool isFloat = isa<FloatType>(element), isHalf = element.isF16() || element.isBF16();
    state = isFloat && isSum ? Type(b.getF64Type()) : isHalf ? Type(b.getF32Type()) : element;
  }

  LogicalResult run() {
    Scratch scratch = e.scratchFor(op.getResult());
    Indices lines = extents;
    lines[axis] = 1;
    int64_t parts = partCount();
    LogicalResult done = parts > 1 ? inParts(scratch, lines, parts) : whole(scratch, lines);
    e.barrier();
    e.materialized[op.getResult()] = scratch;
    return done;
  }

private:
  int64_t partCount() {
    int64_t lines = 1, parts = 1, length = extents[axis].estimate(e.threads * 8);
    for (auto [d, extent] : llvm::enumerate(extents))
      if (int64_t(d) != axis)
        lines *= extent.estimate(e.threads);
    while (parts * 2 * lines <= e.threads && parts * 8 <= length)
      parts *= 2;
    return parts;
  }

  Value initial() { return scanIdentity(b, e.loc, op.getKind(), state); }
  Value step(Value sum, Value next) { return emitScanStep(b, e.loc, op.getKind(), sum, next); }

  /// Combines the elements [begin, end) of a line, in order, with what is carried; `visit` sees
  /// what it comes to at each.
  LogicalResult along(Point point, const Ix &begin, const Ix &end, SmallVectorImpl<Value> &carried,
                      llvm::function_ref<void(const Point &, Value)> visit) {
    return e.loop(begin, end, 1, carried, [&](const Ix &at) -> LogicalResult {
      point[axis] = op.getReverse() ? e.ix().sub(e.ix().sub(extents[axis], 1), at) : at;
      FailureOr<Value> value = e.evaluate(op.getOperand(), point);
      if (failed(value))
        return failure();
      carried[0] = step(carried[0], convertFloat(b, e.loc, *value, state));
      visit(point, carried[0]);
      return success();
    });
  }

  void write(const Scratch &scratch, const Point &point, Value value) {
    e.write(scratch, point, convertFloat(b, e.loc, value, element));
  }

  LogicalResult whole(const Scratch &scratch, ArrayRef<Ix> lines) {
    return e.overPoints(lines, [&](const Point &line) {
      SmallVector<Value> carried{initial()};
      return along(line, 0, extents[axis], carried,
                   [&](const Point &point, Value value) { write(scratch, point, value); });
    });
  }

  LogicalResult inParts(const Scratch &scratch, ArrayRef<Ix> lines, int64_t parts) {
    std::vector<Size> sizes = tile::extentsOf(op.getType());
    sizes[axis] = parts;
    Scratch sums = e.allocate(sizes, state);
    Indices pieces(lines), last = pieces;
    pieces[axis] = parts;
    auto piece = [&](const Point &point) {
      Ix length = e.ix().ceilDiv(extents[axis], parts);
      Ix begin = e.ix().min(e.ix().mul(point[axis], length), extents[axis]);
      return std::pair(begin, e.ix().min(e.ix().add(begin, length), extents[axis]));
    };
    LogicalResult summed = e.overPoints(pieces, [&](const Point &point) {
      SmallVector<Value> carried{initial()};
      auto [begin, end] = piece(point);
      LogicalResult done = along(point, begin, end, carried, [](const Point &, Value) {});
      e.write(sums, point, carried[0]);
      return done;
    });
    e.barrier();
    // What is before each part.
    LogicalResult scanned = e.overPoints(lines, [&](Point point) {
      SmallVector<Value> carried{initial()};
      return e.loop(0, parts, 1, carried, [&](const Ix &part) {
        point[axis] = part;
        Value own = e.read(sums, point);
        e.write(sums, point, carried[0]);
        carried[0] = step(carried[0], own);
        return success();
      });
    });
    e.barrier();
    if (failed(summed) || failed(scanned))
      return failure();
    return e.overPoints(pieces, [&](const Point &point) {
      SmallVector<Value> carried{e.read(sums, point)};
      auto [begin, end] = piece(point);
      return along(point, begin, end, carried,
                   [&](const Point &at, Value value) { write(scratch, at, value); });
    });
  }

  Emitter &e;
  OpBuilder &b;
  tile::ScanOp op;
  int64_t axis;
  Indices extents;
  Type element, state;
};

} // namespace

LogicalResult Emitter::scan(tile::ScanOp op) { return ScanEmitter(*this, op).run(); }

} // namespace tw::target::nvidia
