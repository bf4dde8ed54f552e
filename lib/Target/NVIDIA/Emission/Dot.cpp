// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tile.dot with ordinary arithmetic, which every GPU has: a thread computes a small block of the
// result (Layout/Fragments.h, `blocks`). Float operands are widened to the type of the sums, and
// products of f32 are f32. Long sums are sums of short ones: one long f32 chain has several times
// the error of what people compare with.
#include "Target/Common/Operations/Elementwise.h"
#include "Target/NVIDIA/Emission/DotBlock.h"
#include "Target/NVIDIA/Emission/Emitter.h"
#include "Target/NVIDIA/Layout/Fragments.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace tw::target::nvidia {
namespace {

class DotEmitter {
public:
  DotEmitter(Emitter &e, tile::DotOp op)
      : e(e), b(e.b), loc(e.loc), op(op), extents(e.extents(op.getResult())),
        depth(e.extents(op.getA()).back()), element(scalarType(op.getType().getElementType())) {
    bool isHalf = element.isF16() || element.isBF16();
    sum = isHalf ? Type(b.getF32Type()) : element;
    rank = extents.size();
  }

  LogicalResult run() {
    Scratch scratch =
        isInPlace() ? e.materialized.find(op.getAcc())->second : e.scratchFor(op.getResult());
    auto [rows, columns] =
        dotBlockOf(extents[rank - 2].constant(), extents[rank - 1].constant(),
                   e.ix().product(extents).estimate(int64_t(1) << 30), e.threads);
    // Where an extent is known only at the call, a block has one row or column.
    Layout layout =
        blocks(extents[rank - 2].estimate(1), extents[rank - 1].estimate(1), rows, columns);
    Indices grid = extents;
    grid[rank - 2] = e.ix().div(extents[rank - 2], rows);
    grid[rank - 1] = e.ix().div(extents[rank - 1], columns);
    LogicalResult done =
        e.overPoints(grid, [&, rows = rows, columns = columns](const Point &block) {
          return emitBlock(scratch, block, rows, columns, layout);
        });
    e.barrier();
    e.materialized[op.getResult()] = scratch;
    return done;
  }

private:
  /// Whether the accumulator is not used again, so that the sums take its place. Each of its
  /// elements is read only by the thread that writes the sum there.
  bool isInPlace() { return e.materialized.contains(op.getAcc()) && op.getAcc().hasOneUse(); }

  Value widened(Value value) {
    return isa<FloatType>(sum) ? convertFloat(b, loc, value, sum) : value;
  }

  Value multiplyAdd(Value x, Value y, Value z) {
    if (isa<FloatType>(sum))
      return math::FmaOp::create(b, loc, x, y, z);
    return arith::AddIOp::create(b, loc, z, arith::MulIOp::create(b, loc, x, y));
  }

  Value add(Value x, Value y) {
    return isa<FloatType>(sum) ? Value(arith::AddFOp::create(b, loc, x, y))
                               : Value(arith::AddIOp::create(b, loc, x, y));
  }

  /// The products of some terms, added to what is carried.
  LogicalResult addProducts(ArrayRef<Point> rows, ArrayRef<Point> columns, ArrayRef<Ix> terms,
                            SmallVectorImpl<Value> &carried) {
    SmallVector<Value> left, right; // term by term
    auto read = [&](Value tile, ArrayRef<Point> points, bool isLeft,
                    SmallVectorImpl<Value> &into) -> LogicalResult {
      for (const Ix &term : terms)
        for (Point point : points) {
          point[isLeft ? rank - 1 : rank - 2] = term;
          FailureOr<Value> value = e.evaluate(tile, point);
          if (failed(value))
            return failure();
          into.push_back(widened(*value));
        }
      return success();
    };
    if (failed(read(op.getA(), rows, true, left)) || failed(read(op.getB(), columns, false, right)))
      return failure();
    for (size_t term = 0; term < terms.size(); ++term)
      for (size_t i = 0; i < rows.size(); ++i)
        for (size_t j = 0; j < columns.size(); ++j) {
          Value &own = carried[i * columns.size() + j];
          own = multiplyAdd(left[term * rows.size() + i], right[term * columns.size() + j], own);
        }
    return success();
  }

  /// The same of terms [begin, end), several at a time.
  LogicalResult products(ArrayRef<Point> rows, ArrayRef<Point> columns, const Ix &begin,
                         const Ix &end, SmallVectorImpl<Value> &carried) {
    auto known = depth.constant();
    int64_t together = termsTogether({int64_t(rows.size()), int64_t(columns.size())}, known,
                                     (sum.getIntOrFloatBitWidth() + 31) / 32, e.threads);
    IndexBuilder ix = e.ix();
    bool isEven = known && *known % together == 0;
    Ix whole = end;
    if (!isEven)
      whole = ix.add(begin, ix.mul(ix.div(ix.sub(end, begin), together), together));
    auto several = [&](const Ix &term) {
      return addProducts(rows, columns, e.neighboursFrom(term, together), carried);
    };
    auto one = [&](const Ix &term) { return addProducts(rows, columns, term, carried); };
    LogicalResult done = e.loop(begin, whole, together, carried, several);
    return failed(done) || isEven ? done : e.loop(whole, end, 1, carried, one);
  }

  SmallVector<Value> zeros(size_t count) { return SmallVector<Value>(count, e.constant(sum, 0)); }

  LogicalResult sums(ArrayRef<Point> rows, ArrayRef<Point> columns, SmallVectorImpl<Value> &total) {
    auto known = depth.constant();
    total = zeros(rows.size() * columns.size());
    bool isShort = known && *known <= termsOfDotPart;
    if (isShort || !isa<FloatType>(sum) || sum.isF64())
      return products(rows, columns, 0, depth, total);
    return e.loop(0, depth, termsOfDotPart, total, [&](const Ix &begin) -> LogicalResult {
      SmallVector<Value> part = zeros(total.size());
      Ix end = e.ix().min(e.ix().add(begin, termsOfDotPart), depth);
      if (failed(products(rows, columns, begin, end, part)))
        return failure();
      for (auto [own, more] : llvm::zip(total, part))
        own = add(own, more);
      return success();
    });
  }

  LogicalResult emitBlock(const Scratch &scratch, const Point &block, int64_t rowCount,
                          int64_t columnCount, const Layout &layout) {
    IndexBuilder ix = e.ix();
    Point first = block; // the block of columns number n begins at column n
    first[rank - 2] = ix.mul(block[rank - 2], rowCount);
    SmallVector<Point> rows(rowCount, first), columns(columnCount, first);
    for (auto [i, row] : llvm::enumerate(rows))
      row[rank - 2] = ix.add(first[rank - 2], layout.offsetOfRegister(int64_t(i) * columnCount)[0]);
    for (auto [j, column] : llvm::enumerate(columns))
      column[rank - 1] = ix.add(first[rank - 1], layout.offsetOfRegister(int64_t(j))[1]);
    SmallVector<Value> total;
    if (failed(sums(rows, columns, total)))
      return failure();
    for (auto [i, row] : llvm::enumerate(rows))
      for (auto [j, column] : llvm::enumerate(columns)) {
        Point point = row;
        point[rank - 1] = column[rank - 1];
        FailureOr<Value> before = e.evaluate(op.getAcc(), point);
        if (failed(before))
          return failure();
        Value all = add(widened(*before), total[i * columns.size() + j]);
        e.write(scratch, point, isa<FloatType>(sum) ? convertFloat(b, loc, all, element) : all);
      }
    return success();
  }

  Emitter &e;
  OpBuilder &b;
  Location loc;
  tile::DotOp op;
  Indices extents;
  Ix depth;
  Type element, sum;
  size_t rank;
};

} // namespace

LogicalResult Emitter::dot(tile::DotOp op) { return DotEmitter(*this, op).run(); }

} // namespace tw::target::nvidia
