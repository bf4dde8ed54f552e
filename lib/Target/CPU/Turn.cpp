// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tiles whose rows lie across memory: their elements are not gathered one by one, but read in
// square blocks along memory, which are transposed in registers.
#include "Target/CPU/Emitter.h"
#include "Target/CPU/Shapes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

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

  Value shuffle(Value a, Value b, llvm::function_ref<int32_t(unsigned)> source) {
    SmallVector<int32_t> mask;
    for (unsigned i = 0; i < lanes; ++i)
      mask.push_back(source(i));
    return LLVM::ShuffleVectorOp::create(e.b, e.loc, a, b, mask);
  }

  /// Elements of a and b in turn, from the lower or upper half of each group.
  Value zip(Value a, Value b, bool upper) {
    return shuffle(a, b, [&](unsigned i) {
      unsigned in = i % group;
      return int32_t(i - in + in / 2 + upper * (group / 2) + (in % 2) * lanes);
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
              return int32_t((2 * (j / group) + odd) * group + j % group);
            });
  }

  Emitter &e;
  unsigned lanes, group; // elements of a vector, and of 128 bits of it
};

} // namespace

/// One block of `lanes` x `lanes`, with its first element at `point`.
static LogicalResult turnBlock(Emitter &e, const Memory &room, Value tile, Point point, int lane,
                               int from) {
  Emitter::Scope scope(e);
  SmallVector<Value> rows;
  Ix first = point.at[lane], column = point.at[from];
  point.lane = from;
  for (unsigned i = 0; i < e.lanes; ++i) {
    point.at[lane] = e.ix().add(first, int64_t(i));
    FailureOr<Value> row = e.evaluate(tile, point);
    if (failed(row))
      return failure();
    rows.push_back(e.asVector(*row));
  }
  SquareBlock(e, Emitter::bytesOf(room.element)).transpose(rows);
  point.lane = lane;
  point.at[lane] = first;
  for (auto [i, row] : llvm::enumerate(rows)) {
    point.at[from] = e.ix().add(column, int64_t(i));
    e.write(room, point, row);
  }
  return success();
}

LogicalResult Emitter::fillTransposed(const Memory &room, Value tile, const Fill &fill) {
  Indices all = extents(tile);
  int lane = fill.transposition->lane, from = fill.strips.lane;
  unsigned width = fill.transposition->lanes;
  SmallVector<Value> none;
  Point point{Indices(all.size(), Ix(0)), -1, 1};
  Ix wholeLane = ix().sub(all[lane], ix().rem(all[lane], width));
  Ix wholeFrom = ix().sub(all[from], ix().rem(all[from], width));
  auto block = [&](const Ix &at) {
    point.at[from] = at;
    llvm::SaveAndRestore wide(lanes, width);
    llvm::SaveAndRestore whole(mask, Value());
    return turnBlock(*this, room, tile, point, lane, from);
  };
  /// [begin, end) along the lanes for one place along `from`: what blocks leave.
  auto rest = [&](const Ix &begin, const Ix &end) {
    return alongDimension(point, lane, begin, end, width, none,
                          [&](const Point &at, SmallVectorImpl<Value> &) -> LogicalResult {
                            FailureOr<Value> value = evaluate(tile, at);
                            if (succeeded(value))
                              write(room, at, *value);
                            return success(succeeded(value));
                          });
  };
  auto plane = [&]() -> LogicalResult {
    auto blocks = [&](const Ix &at) {
      point.at[lane] = at;
      return loop(0, wholeFrom, width, none, block);
    };
    auto below = [&](const Ix &at) {
      point.at[from] = at;
      return rest(0, wholeLane);
    };
    auto beside = [&](const Ix &at) {
      point.at[from] = at;
      return rest(wholeLane, all[lane]);
    };
    if (failed(loop(0, wholeLane, width, none, blocks)) ||
        failed(loop(wholeFrom, all[from], 1, none, below)))
      return failure();
    return loop(0, all[from], 1, none, beside);
  };
  std::function<LogicalResult(size_t)> outer = [&](size_t dim) -> LogicalResult {
    if (dim == all.size())
      return plane();
    if (int(dim) == lane || int(dim) == from)
      return outer(dim + 1);
    return loop(0, all[dim], 1, none, [&](const Ix &at) {
      point.at[dim] = at;
      return outer(dim + 1);
    });
  };
  Scope scope(*this);
  return outer(0);
}

} // namespace tw::target::cpu
