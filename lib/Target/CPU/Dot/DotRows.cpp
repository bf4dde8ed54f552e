// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/CPU/Dot/DotRows.h"
#include "Target/CPU/Plan/Analysis/DotOperands.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace tw::target::cpu {
namespace {

unsigned lanesOf(Emitter &e, tile::DotOp op) {
  return e.cpu.vectorBytes / unsigned(Emitter::bytesOf(sumType(op)));
}

class RowProduct {
public:
  RowProduct(Emitter &e, tile::DotOp op, const Memory &place, bool isFresh)
      : e(e), b(e.b), loc(e.loc), op(op), place(place), isFresh(isFresh),
        vector(VectorType::get(int64_t(lanesOf(e, op)), sumType(op))), lanes(lanesOf(e, op)),
        extents(e.extents(op.getAcc())), rows(op.getA().getType().getDimSize(0)),
        depth(op.getA().getType().getDimSize(1)) {}

  LogicalResult run() {
    SmallVector<Value> none;
    return e.alongDimension(
        {{Ix(0), Ix(0)}, -1, 1}, 1, 0, extents[1], lanes, none,
        [&](const Point &point, SmallVectorImpl<Value> &) { return columns(point.at[1]); });
  }

private:
  /// As many results as there are lanes, of all rows.
  LogicalResult columns(const Ix &column) {
    SmallVector<Value> none;
    return e.loop(0, rows, rowsAtOnce(), none, [&](const Ix &first) {
      if (failed(products(first, column)))
        return failure();
      SmallVector<Value> none;
      return e.loop(0, rowsAtOnce(), 1, none, [&](const Ix &row) {
        return addUp(row, {{e.ix().add(first, row), column}, 1, 1});
      });
    });
  }

  /// Rows that share a column while it is in a register: equal parts of them, which stay in the
  /// first-level cache from column to column. One after the other each would read the column from
  /// the second level.
  int64_t rowsAtOnce() const {
    constexpr int64_t mostBytes = 1 << 14;
    int64_t bytesOfRow = depth * Emitter::bytesOf(vector.getElementType()), some = rows;
    while (some > 1 && (rows % some != 0 || some * bytesOfRow > mostBytes))
      --some;
    return some;
  }

  /// The sums of a row of those at once are added to what there is at `point`.
  LogicalResult addUp(const Ix &row, const Point &point) {
    SmallVector<Value> parts;
    for (unsigned lane = 0; lane < lanes; ++lane)
      parts.push_back(LLVM::LoadOp::create(b, loc, vector, placeOf(row, int64_t(lane)), 64));
    Value sums = acrossLanes(parts);
    FailureOr<Value> before =
        isFresh ? e.evaluate(op.getAcc(), point) : FailureOr<Value>(e.read(place, point));
    if (failed(before))
      return failure();
    Value sum = e.convertFloat(e.asVector(*before), vector.getElementType());
    sum = arith::AddFOp::create(b, loc, sum, sums);
    e.write(place, point, e.convertFloat(sum, op.getType().getElementType()));
    return success();
  }

  /// The products of rows of a from `first` on with columns of b from `column` on. The columns,
  /// which lie along memory, are read from start to end, one after the other, in a loop that LLVM
  /// cannot reorder: side by side, processors do not see that they could read ahead (a decoding
  /// step on an EPYC then takes 1.8 times as long).
  LogicalResult products(const Ix &first, const Ix &column) {
    IndexBuilder ix = e.ix();
    Ix last = ix.sub(extents[1], 1);
    bool isMasked = bool(e.mask);
    llvm::SaveAndRestore masked(e.mask, Value());
    if (!room)
      room = e.allocate({Size(rowsAtOnce()), Size(int64_t(lanes)), Size(int64_t(lanes))},
                        vector.getElementType());
    SmallVector<Value> none;
    return e.loop(0, int64_t(lanes), 1, none, [&](const Ix &lane) -> LogicalResult {
      Ix at = ix.add(column, lane); // what is beyond is computed for nothing
      SmallVector<Value> sums;
      if (failed(product(first, isMasked ? ix.min(at, last) : at, sums)))
        return failure();
      for (auto [row, sum] : llvm::enumerate(sums))
        LLVM::StoreOp::create(b, loc, sum, placeOf(int64_t(row), lane), 64);
      return success();
    });
  }

  /// The products of rows and a column, each as sums of every lanes-th term.
  LogicalResult product(const Ix &first, const Ix &column, SmallVectorImpl<Value> &sums) {
    sums.assign(size_t(rowsAtOnce()), arith::ConstantOp::create(b, loc, b.getZeroAttr(vector)));
    auto step = [&](const Point &at, SmallVectorImpl<Value> &sums) -> LogicalResult {
      FailureOr<Value> right = element(op.getB(), {{at.at[0], column}, 0, 1});
      if (failed(right))
        return failure();
      for (auto [row, sum] : llvm::enumerate(sums)) {
        FailureOr<Value> left =
            element(op.getA(), {{e.ix().add(first, int64_t(row)), at.at[0]}, 1, 1});
        if (failed(left))
          return failure();
        sum = math::FmaOp::create(b, loc, *left, *right, sum);
      }
      return success();
    };
    return e.alongDimension({{Ix(0)}, -1, 1}, 0, 0, depth, lanes, sums, step);
  }

  /// Where the sums of a row and a column are.
  Value placeOf(const Ix &row, const Ix &lane) {
    Ix index = e.ix().add(e.ix().mul(row, int64_t(lanes)), lane);
    return LLVM::GEPOp::create(b, loc, room->base.getType(), vector, room->base,
                               ArrayRef<LLVM::GEPArg>{e.ix().value(index)});
  }

  FailureOr<Value> element(Value tile, const Point &point) {
    FailureOr<Value> value = e.evaluate(tile, point);
    if (succeeded(value))
      value = e.convertFloat(e.asVector(*value), vector.getElementType());
    return value;
  }

  /// The sum over the lanes of each vector, in one vector: neighbours are shuffled together and
  /// added, within 128 bits first, as processors do it in one instruction.
  Value acrossLanes(SmallVector<Value> vectors) {
    int64_t group = std::min<int64_t>(16 / Emitter::bytesOf(vector.getElementType()), lanes);
    for (int64_t chunk = 1; chunk < group; chunk *= 2)
      vectors = addPairs(
          vectors,
          [&](int64_t place) { // halves of 128 bits, chunk by chunk
            int64_t inGroup = place % group, number = inGroup / chunk;
            int64_t from = place - inGroup + number / 2 * chunk + inGroup % chunk;
            return number % 2 * int64_t(lanes) + from;
          },
          group / 2);
    while (vectors.size() > 1)
      vectors = addPairs(
          vectors,
          [&](int64_t place) { // every other 128 bits
            int64_t number = place / group, half = int64_t(lanes) / group / 2;
            return number / half * int64_t(lanes) + number % half * 2 * group + place % group;
          },
          group);
    return vectors.front();
  }

  /// Adds to each other, for each pair of neighbours, what `first` takes of them, and what lies
  /// `distance` further.
  SmallVector<Value> addPairs(ArrayRef<Value> vectors, llvm::function_ref<int64_t(int64_t)> first,
                              int64_t distance) {
    SmallVector<int64_t> low, high;
    for (int64_t place = 0; place < int64_t(lanes); ++place) {
      low.push_back(int64_t(first(place)));
      high.push_back(int64_t(first(place) + distance));
    }
    SmallVector<Value> sums;
    for (size_t i = 0; i + 1 < vectors.size(); i += 2) {
      Value x = vector::ShuffleOp::create(b, loc, vectors[i], vectors[i + 1], low);
      Value y = vector::ShuffleOp::create(b, loc, vectors[i], vectors[i + 1], high);
      sums.push_back(arith::AddFOp::create(b, loc, x, y));
    }
    return sums;
  }

  Emitter &e;
  OpBuilder &b;
  Location loc;
  tile::DotOp op;
  const Memory &place;
  bool isFresh;
  VectorType vector;
  unsigned lanes;
  Indices extents;
  int64_t rows, depth;
  std::optional<Memory> room; // for a vector of each row at once and each lane
};

} // namespace

LogicalResult rowProduct(Emitter &e, tile::DotOp op, const Memory &place, bool isFresh) {
  return RowProduct(e, op, place, isFresh).run();
}

} // namespace tw::target::cpu
