// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tile.dot in the form that its plan has, over the blocks of its result.
#include "Target/CPU/Dot/DotPairs.h"
#include "Target/CPU/Dot/DotRows.h"
#include "Target/CPU/Dot/OuterProducts.h"
#include "Target/CPU/Emission/SharedFunction.h"
#include "Target/CPU/Plan/Analysis/DotOperands.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tw::target::cpu {
namespace {

class DotEmitter {
public:
  DotEmitter(Emitter &e, tile::DotOp op, const Step &step)
      : e(e), op(op), step(step), plan(std::get<DotStep>(step.detail)),
        rank(op.getType().getRank()), element(op.getType().getElementType()),
        sumElement(sumType(op)), bytes(sumBytes(op)), extents(e.extents(op.getAcc())),
        products(e, op, plan) {}

  LogicalResult run() {
    using Form = DotStep::Form;
    if (plan.form == Form::RowsByColumns)
      return inRows();
    if (plan.form == Form::OuterProducts)
      return failed(products.prepare(isWorthACall())) ? failure() : inVectors();
    FailureOr<PairOperands> operands = pairOperands(e, op, plan);
    if (failed(operands))
      return failure();
    pairs = *operands;
    products.limitToBuffers();
    if (plan.form == Form::Pairs && plan.next)
      prefetch.emplace(e, op, *plan.next);
    return plan.form == Form::Tiles ? inTiles() : inVectors();
  }

private:
  LogicalResult inVectors() { return plan.registers ? inRegisters(*plan.registers) : inMemory(); }

  /// Adds to the sums of a block of the result.
  LogicalResult addTo(SmallVectorImpl<Value> &sums, const ResultBlock &block) {
    if (!pairs)
      return products.addTo(sums, block);
    LogicalResult done = pairBlock(e, *pairs, block.row, block.column, block.rows, block.vectors,
                                   prefetch ? &*prefetch : nullptr, plan.streams, sums);
    if (succeeded(done) && !sums.empty())
      keepRolled(sums.front());
    return done;
  }

  LogicalResult inRegisters(unsigned width) {
    if (failed(e.place(plan.before)))
      return failure();
    unsigned rows = *extents[0].constant(), vectors = *extents[1].constant() / width;
    SmallVector<Value> sums;
    {
      Emitter::Scope scope(e);
      LogicalResult read =
          e.overElements(extents, step.strips, [&](const Point &point) -> LogicalResult {
            FailureOr<Value> value = e.evaluate(op.getAcc(), point);
            if (succeeded(value))
              sums.push_back(e.convertFloat(e.asVector(*value), sumElement));
            return success(succeeded(value));
          });
      if (failed(read) || failed(addTo(sums, {{}, 0, 0, rows, vectors, width, {}})))
        return failure();
    }
    products.finish();
    if (sumElement != element)
      for (Value &sum : sums)
        sum = e.convertFloat(sum, element);
    e.registers[op.getResult()] = {width, sums};
    if (plan.after.empty())
      return success();
    LogicalResult placed = e.place(plan.after);
    e.registers.erase(op.getResult());
    return placed;
  }

  /// The accumulator is added to where it lies, if nobody else wants it. Else what is in the room
  /// does not matter yet (`isFresh`).
  Memory room() {
    if (plan.updatesAccumulator)
      return e.memory.find(op.getAcc())->second;
    isFresh = true;
    return e.allocate(tile::extentsOf(op.getType()), element);
  }

  LogicalResult inMemory() {
    Memory place = room();
    if (failed(e.place(plan.before)))
      return failure();
    SharedFunction function(e);
    {
      Emitter::Scope scope(e);
      Indices batch;
      if (failed(overBatch(place, batch)))
        return failure();
    }
    if (isWorthACall())
      function.finish("product");
    products.finish();
    e.memory[op.getResult()] = place;
    return success();
  }

  /// Enough products to take some hundred times as long as a call.
  bool isWorthACall() {
    constexpr int64_t least = 1 << 15;
    auto a = op.getA().getType(), result = op.getType();
    return a.hasStaticShape() && result.hasStaticShape() &&
           result.getNumElements() * a.getShape().back() >= least;
  }

  LogicalResult inRows() {
    Memory place = room();
    if (failed(e.place(plan.before)) || failed(e.place(plan.a.before)) ||
        failed(e.place(plan.b.before)))
      return failure();
    {
      Emitter::Scope scope(e);
      if (failed(rowProduct(e, op, place, isFresh)))
        return failure();
    }
    e.memory[op.getResult()] = place;
    return success();
  }

  LogicalResult inTiles() {
    Memory place = room();
    if ((plan.fill && failed(e.fill(place, op.getAcc(), *plan.fill))) ||
        failed(tileProduct(e, *pairs, place, op, plan)))
      return failure();
    e.memory[op.getResult()] = place;
    return success();
  }

  LogicalResult overBatch(const Memory &place, Indices &batch) {
    if (int64_t(batch.size()) == rank - 2)
      return overColumns(place, batch);
    SmallVector<Value> none;
    return e.loop(0, extents[batch.size()], 1, none, [&](const Ix &at) {
      batch.push_back(at);
      LogicalResult done = overBatch(place, batch);
      batch.pop_back();
      return done;
    });
  }

  /// Columns outermost: those of b in use stay in the first-level cache while rows of a pass by.
  LogicalResult overColumns(const Memory &place, const Indices &batch) {
    unsigned width = e.cpu.vectorBytes / bytes;
    int64_t step = e.cpu.productBlock(bytes).columns, vectors = step / width;
    IndexBuilder ix = e.ix();
    Ix all = extents[rank - 1];
    Ix whole = ix.sub(all, ix.rem(all, step));
    SmallVector<Value> none;
    auto wide = [&](const Ix &column) { return overRows(place, batch, column, vectors, width); };
    if (failed(e.loop(0, whole, step, none, wide)))
      return failure();
    // What is left over, where it is several vectors, of which the last may be a part.
    auto rest = ix.sub(all, whole).constant();
    if (rest && *rest > width) {
      Value part = *rest % width > 0 ? e.firstLanes(*rest % width, width) : Value();
      llvm::SaveAndRestore masked(e.mask, part);
      return overRows(place, batch, whole, unsigned(llvm::divideCeil(*rest, width)), width);
    }
    Point point{batch, -1, 1};
    point.at.push_back(0);
    point.at.push_back(0);
    return e.alongDimension(point, rank - 1, whole, all, width, none,
                            [&](const Point &at, SmallVectorImpl<Value> &) {
                              return overRows(place, batch, at.at.back(), 1, width);
                            });
  }

  LogicalResult overRows(const Memory &place, const Indices &batch, const Ix &column,
                         unsigned vectors, unsigned width) {
    int64_t most = e.cpu.productRows(vectors);
    auto over = [&](const Ix &from, const Ix &to, int64_t rows, bool isFirst = false) {
      SmallVector<Value> none;
      return e.loop(from, to, rows, none, [&](const Ix &row) {
        return update(place, {batch, row, column, unsigned(rows), vectors, width, e.mask, isFirst});
      });
    };
    Ix all = products.rows();
    LogicalResult done =
        all.constant() ? overKnownRows(*all.constant(), most, over) : overSomeRows(all, most, over);
    if (failed(done) || !isFresh || !plan.areRowsLimited)
      return done;
    SmallVector<Value> none;
    return e.loop(all, extents[rank - 2], 1, none, [&](const Ix &row) {
      return begin(place, {batch, row, column, 1, vectors, width, e.mask});
    });
  }

  /// Blocks of so many rows each.
  using OverBlocks =
      llvm::function_ref<LogicalResult(const Ix &from, const Ix &to, int64_t rows, bool isFirst)>;

  /// Even blocks, of two heights: the last one is not left with a row or two, for which b would be
  /// read as for all.
  LogicalResult overKnownRows(int64_t rows, int64_t most, OverBlocks over) {
    if (rows == 0)
      return success();
    int64_t count = llvm::divideCeil(rows, most), height = rows / count;
    int64_t taller = (rows - count * height) * (height + 1);
    int64_t first = !products.copiesByFirstRows() ? 0 : taller > 0 ? height + 1 : height;
    if (first > 0 && failed(over(0, first, first, true)))
      return failure();
    return success(succeeded(over(taller > 0 ? first : 0, taller, height + 1, false)) &&
                   succeeded(over(taller > 0 ? taller : first, rows, height, false)));
  }

  /// What is left over goes in halves, for one row at a time would read b as often.
  LogicalResult overSomeRows(const Ix &rows, int64_t most, OverBlocks over) {
    IndexBuilder ix = e.ix();
    Ix at = ix.sub(rows, ix.rem(rows, most));
    if (failed(over(0, at, most, false)))
      return failure();
    for (int64_t height = llvm::bit_floor(uint64_t(most - 1)); height > 0; height /= 2) {
      Ix next = ix.add(at, ix.mul(ix.div(ix.sub(rows, at), height), height));
      if (failed(over(at, next, height, false)))
        return failure();
      at = next;
    }
    return success();
  }

  /// Rows that nothing is added to.
  LogicalResult begin(const Memory &place, const ResultBlock &block) {
    llvm::SaveAndRestore lanes(e.lanes, block.width);
    Emitter::Scope scope(e);
    for (unsigned j = 0; j < block.vectors; ++j) {
      Point point{block.batch, block.width > 1 ? int(rank) - 1 : -1, 1};
      point.at.append({block.row, e.ix().add(block.column, int64_t(j) * block.width)});
      llvm::SaveAndRestore masked(e.mask, block.maskOf(j));
      FailureOr<Value> sum = before(place, point);
      if (failed(sum))
        return failure();
      e.write(place, point, e.convertFloat(*sum, element));
    }
    return success();
  }

  /// What is added to in f32 may be the sum of many trips of a loop: this trip has a sum of its
  /// own, so that chains of additions stay short.
  LogicalResult update(const Memory &place, const ResultBlock &block) {
    unsigned width = block.width;
    bool isApart = !isFresh && sumElement.isF32();
    llvm::SaveAndRestore lanes(e.lanes, width);
    Emitter::Scope scope(e);
    SmallVector<Point> points;
    SmallVector<Value> sums;
    for (unsigned i = 0; i < block.rows; ++i)
      for (unsigned j = 0; j < block.vectors; ++j) {
        Point point{block.batch, width > 1 ? int(rank) - 1 : -1, 1};
        point.at.push_back(e.ix().add(block.row, int64_t(i)));
        point.at.push_back(e.ix().add(block.column, int64_t(j) * width));
        points.push_back(point);
        llvm::SaveAndRestore masked(e.mask, block.maskOf(j));
        FailureOr<Value> sum = isApart ? zero(width) : before(place, point);
        if (failed(sum))
          return failure();
        sums.push_back(*sum);
      }
    if (failed(addTo(sums, block)))
      return failure();
    for (auto [i, point, sum] : llvm::enumerate(points, sums)) {
      llvm::SaveAndRestore masked(e.mask, block.maskOf(i % block.vectors));
      if (isApart) {
        FailureOr<Value> held = before(place, point);
        if (failed(held))
          return failure();
        sum = arith::AddFOp::create(e.b, e.loc, *held, sum);
      }
      e.write(place, point, e.convertFloat(sum, element));
    }
    return success();
  }

  /// The accumulator at a point.
  FailureOr<Value> before(const Memory &place, const Point &point) {
    FailureOr<Value> sum = isFresh ? e.evaluate(op.getAcc(), point) : e.read(place, point);
    if (failed(sum))
      return failure();
    return e.convertFloat(point.lane >= 0 ? e.asVector(*sum) : *sum, sumElement);
  }

  Value zero(unsigned width) {
    Type type = width > 1 ? Type(VectorType::get(int64_t(width), sumElement)) : sumElement;
    return arith::ConstantOp::create(e.b, e.loc, e.b.getZeroAttr(type));
  }

  Emitter &e;
  tile::DotOp op;
  const Step &step;
  const DotStep &plan;
  int64_t rank;
  Type element, sumElement; // of the result, and of what is added up
  int64_t bytes;            // of `sumElement`, as blocks are chosen
  Indices extents;
  OuterProducts products;
  std::optional<PairOperands> pairs;
  std::optional<BlockPrefetch> prefetch; // beside pairs in vectors
  bool isFresh = false;
};

} // namespace

LogicalResult Emitter::dot(tile::DotOp op, const Step &step) {
  return DotEmitter(*this, op, step).run();
}

} // namespace tw::target::cpu
