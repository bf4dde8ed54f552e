// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tiles whose rows lie across memory: their elements are not gathered one by one, but read in
// square blocks along memory, which are transposed in registers.
#include "Target/CPU/Emission/Emitter.h"
#include "Target/CPU/Emission/Shapes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace tw::target::cpu {

namespace {

/// Transposes a block of vectors with shuffles that processors have: pairs of elements within 128
/// bits, then pairs of 128 bits.
class SquareBlock {
public:
  SquareBlock(Emitter &e, unsigned bytes)
      : e(e), lanes(e.lanes), group(std::min(16 / bytes, e.lanes)) {}

  void transpose(SmallVectorImpl<Value> &rows) {
    auto type = cast<VectorType>(rows.front().getType());
    // Without a vector unit for it, LLVM takes vectors of bf16 apart.
    if (type.getElementTypeBitWidth() == 16)
      reinterpret(rows, type.clone(e.b.getI16Type()));
    shuffleAll(rows);
    reinterpret(rows, type);
  }

private:
  void reinterpret(SmallVectorImpl<Value> &rows, Type type) {
    for (Value &row : rows)
      if (row.getType() != type)
        row = arith::BitcastOp::create(e.b, e.loc, type, row);
  }

  void shuffleAll(SmallVectorImpl<Value> &rows) {
    for (unsigned done = 1; done < group; done *= 2)
      for (unsigned first = 0; first < lanes; first += group)
        zipGroup(MutableArrayRef(rows).slice(first, group));
    gather(rows);
    for (unsigned done = group; done < lanes; done *= 2)
      for (unsigned place = 0; place < group; ++place)
        halve(MutableArrayRef(rows).slice(place * (lanes / group), lanes / group));
    spread(rows);
  }

  Value shuffle(Value a, Value b, llvm::function_ref<int64_t(unsigned)> source) {
    SmallVector<int64_t> mask;
    for (unsigned i = 0; i < lanes; ++i)
      mask.push_back(source(i));
    return vector::ShuffleOp::create(e.b, e.loc, a, b, mask);
  }

  /// Elements of a and b in turn, from the lower or upper half of each group.
  Value zip(Value a, Value b, bool upper) {
    return shuffle(a, b, [&](unsigned i) {
      unsigned in = i % group;
      return int64_t(i) - in + in / 2 + upper * (group / 2) + (in % 2) * lanes;
    });
  }

  void zipGroup(MutableArrayRef<Value> rows) {
    SmallVector<Value> before(rows.begin(), rows.end());
    for (unsigned i = 0; i < group / 2; ++i) {
      rows[2 * i] = zip(before[i], before[i + group / 2], false);
      rows[2 * i + 1] = zip(before[i], before[i + group / 2], true);
    }
  }

  /// Row j of every group next to each other; and back, column by column.
  void gather(SmallVectorImpl<Value> &rows) {
    SmallVector<Value> before = llvm::to_vector(rows);
    unsigned groups = lanes / group;
    for (unsigned i = 0; i < lanes; ++i)
      rows[i] = before[i % groups * group + i / groups];
  }
  void spread(SmallVectorImpl<Value> &rows) {
    SmallVector<Value> before = llvm::to_vector(rows);
    unsigned groups = lanes / group;
    for (unsigned i = 0; i < lanes; ++i)
      rows[i] = before[i % group * groups + i / group];
  }

  /// The even groups of neighbouring rows, then the odd ones.
  void halve(MutableArrayRef<Value> rows) {
    SmallVector<Value> before(rows.begin(), rows.end());
    for (unsigned i = 0; i < rows.size() / 2; ++i)
      for (unsigned odd : {0, 1})
        rows[i + odd * rows.size() / 2] =
            shuffle(before[2 * i], before[2 * i + 1], [&](unsigned j) {
              return int64_t(2 * (j / group) + odd) * group + int64_t(j % group);
            });
  }

  Emitter &e;
  unsigned lanes, group; // elements of a vector, and of 128 bits of it
};

} // namespace

namespace {

/// Computes a tile into memory, plane by plane of the dimension along which it lies and that along
/// which vectors are to lie.
class TransposedFill {
public:
  TransposedFill(Emitter &e, const Memory &room, Value tile, const Fill &fill)
      : e(e), room(room), tile(tile), lane(fill.transposition->lane), from(fill.strips.lane),
        width(fill.transposition->lanes), partOfBlock(fill.transposition->rest),
        partOfVector(fill.transposition->laneRest), extents(e.extents(tile)),
        point{Indices(extents.size(), Ix(0)), -1, 1} {
    IndexBuilder ix = e.ix();
    wholeLane = ix.sub(extents[lane], ix.rem(extents[lane], width));
    wholeFrom = ix.sub(extents[from], ix.rem(extents[from], width));
  }

  LogicalResult run(size_t dim = 0) {
    if (dim == extents.size())
      return plane();
    if (int(dim) == lane || int(dim) == from)
      return run(dim + 1);
    return along(int(dim), 0, extents[dim], 1, [&] { return run(dim + 1); });
  }

private:
  /// Square blocks, then what they leave below and beside them.
  LogicalResult plane() {
    auto blocks = [&](unsigned rows) -> LogicalResult {
      if (failed(along(from, 0, wholeFrom, width, [&] { return block(rows, width); })))
        return failure();
      point.at[from] = wholeFrom;
      return partOfBlock > 0 ? block(rows, partOfBlock) : success();
    };
    if (failed(along(lane, 0, wholeLane, width, [&] { return blocks(width); })))
      return failure();
    point.at[lane] = wholeLane;
    if (partOfVector > 0 && failed(blocks(partOfVector)))
      return failure();
    const Ix &done = partOfVector > 0 ? extents[lane] : wholeLane;
    auto below = [&] {
      return along(from, wholeFrom, extents[from], 1, [&] { return rest(0, done); });
    };
    if (partOfBlock == 0 && failed(below()))
      return failure();
    return along(from, 0, extents[from], 1, [&] { return rest(done, extents[lane]); });
  }

  LogicalResult along(int dim, const Ix &begin, const Ix &end, int64_t step,
                      llvm::function_ref<LogicalResult()> body) {
    SmallVector<Value> none;
    return e.loop(begin, end, step, none, [&](const Ix &at) {
      point.at[dim] = at;
      return body();
    });
  }

  /// `rowCount` rows and `columnCount` columns of a block of `width` x `width`, with its first
  /// element at `point`. Only these are read, and columns become rows.
  LogicalResult block(unsigned rowCount, unsigned columnCount) {
    llvm::SaveAndRestore wide(e.lanes, width);
    llvm::SaveAndRestore part(e.mask, firstLanes(columnCount));
    Emitter::Scope scope(e);
    SmallVector<Value> rows;
    Point at = point;
    at.lane = from;
    for (unsigned i = 0; i < rowCount; ++i) {
      at.at[lane] = e.ix().add(point.at[lane], int64_t(i));
      FailureOr<Value> row = e.evaluate(tile, at);
      if (failed(row))
        return failure();
      rows.push_back(e.asVector(*row));
    }
    if (rowCount < width)
      rows.resize(width, LLVM::PoisonOp::create(e.b, e.loc, rows.front().getType()));
    e.transposeSquare(rows);
    at = point;
    at.lane = lane;
    e.mask = firstLanes(rowCount);
    for (auto [i, row] : llvm::enumerate(ArrayRef(rows).take_front(columnCount))) {
      at.at[from] = e.ix().add(point.at[from], int64_t(i));
      e.write(room, at, row);
    }
    return success();
  }

  Value firstLanes(unsigned count) { return count < width ? e.firstLanes(count, width) : Value(); }

  /// [begin, end) along the lanes for one place along `from`.
  LogicalResult rest(const Ix &begin, const Ix &end) {
    SmallVector<Value> none;
    return e.alongDimension(point, lane, begin, end, width, none,
                            [&](const Point &at, SmallVectorImpl<Value> &) -> LogicalResult {
                              FailureOr<Value> value = e.evaluate(tile, at);
                              if (succeeded(value))
                                e.write(room, at, *value);
                              return success(succeeded(value));
                            });
  }

  Emitter &e;
  const Memory &room;
  Value tile;
  int lane, from;
  unsigned width, partOfBlock, partOfVector;
  Indices extents;
  Point point;
  Ix wholeLane, wholeFrom;
};

} // namespace

void Emitter::transposeSquare(SmallVectorImpl<Value> &rows) {
  Type element = cast<VectorType>(rows.front().getType()).getElementType();
  SquareBlock(*this, element.getIntOrFloatBitWidth() / 8).transpose(rows);
}

LogicalResult Emitter::fillTransposed(const Memory &room, Value tile, const Fill &fill) {
  Scope scope(*this);
  return TransposedFill(*this, room, tile, fill).run();
}

} // namespace tw::target::cpu
