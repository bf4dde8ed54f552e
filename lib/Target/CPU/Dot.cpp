// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tile.dot as outer products: a block of the result in registers, and for each step along K a few
// vectors of b times single elements of a, both read where they lie.
#include "Target/CPU/DotOperands.h"
#include "Target/CPU/DotPairs.h"
#include "Target/CPU/DotRows.h"
#include "Target/CPU/Emitter.h"
#include "Target/CPU/UnpackBf16.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace tw::target::cpu {
namespace {

class DotEmitter {
public:
  /// Products in a step along K that keep the processor busy without unrolling.
  static constexpr unsigned leastWork = 8;

  static constexpr int64_t lineBytes = 64;

  DotEmitter(Emitter &e, tile::DotOp op, const Step &step)
      : e(e), b(e.b), loc(e.loc), op(op), step(step), plan(std::get<DotStep>(step.detail)),
        rank(op.getType().getRank()), element(op.getType().getElementType()),
        sumElement(sumType(op)), bytes(sumBytes(op)), extents(e.extents(op.getAcc())),
        depth(e.extents(op.getA())[rank - 1]) {}

  LogicalResult run() {
    using Form = DotStep::Form;
    if (plan.form == Form::RowsByColumns)
      return inRows();
    if (plan.form == Form::OuterProducts) {
      if (failed(prepareOperand(op.getA(), plan.a, /*isB=*/false)) ||
          failed(prepareOperand(op.getB(), plan.b, /*isB=*/true)))
        return failure();
      limitDepth();
      return inVectors();
    }
    FailureOr<PairOperands> operands = pairOperands(e, op, plan);
    if (failed(operands))
      return failure();
    pairs = *operands;
    return plan.form == Form::Tiles ? inTiles() : inVectors();
  }

private:
  LogicalResult inVectors() { return plan.registers ? inRegisters(*plan.registers) : inMemory(); }

  //===--- operands --------------------------------------------------------===//

  LogicalResult prepareOperand(Value tile, const DotOperand &operand, bool isB) {
    using Form = DotOperand::Form;
    if (failed(e.place(operand.before)))
      return failure();
    if (operand.form == Form::Panels)
      panels = panelsOf(e.cpu, tile);
    if (operand.form == Form::Converted)
      return copy(tile, *operand.fill, isB);
    return operand.form == Form::TransposedView ? viewTransposed(operand) : success();
  }

  /// Single elements are as near in what is transposed.
  LogicalResult viewTransposed(const DotOperand &operand) {
    auto transpose = computedTranspose(op);
    Value source = transpose.getOperand();
    if (operand.fill) {
      Memory room = spaced(cast<RankedTensorType>(source.getType()));
      if (failed(e.fill(room, source, *operand.fill)))
        return failure();
      e.memory[source] = room;
    }
    e.memory[transpose.getResult()] = transposed(e.memory.find(source)->second, transpose);
    return success();
  }

  static Memory transposed(const Memory &source, tile::TransposeOp op) {
    Memory view{source.base, {}, source.element};
    for (int64_t axis : op.getPermutation())
      view.strides.push_back(source.strides[axis]);
    return view;
  }

  /// Room for a tile whose columns are read, too: rows that lie a power of two apart would meet in
  /// few sets of the cache, so they get a line more.
  Memory spaced(RankedTensorType tile, Type type = {}) {
    std::vector<Size> extents = tile::extentsOf(tile);
    type = type ? type : tile.getElementType();
    int64_t bytes = Emitter::bytesOf(type);
    if (auto row = extents.back().constant(); row && *row * bytes % (4 * lineBytes) == 0)
      extents.back() = Size(*row + lineBytes / bytes);
    return e.allocate(extents, type);
  }

  /// In scratch, converted once and not at each use.
  LogicalResult copy(Value tile, const Fill &fill, bool isB) {
    auto transpose = tile == op.getA() ? computedTranspose(op) : tile::TransposeOp();
    Value source = transpose ? Value(transpose.getOperand()) : tile;
    Type type = isB && isUnpacked(e.cpu, op) ? Type(b.getBF16Type()) : sumElement;
    Memory room = spaced(cast<RankedTensorType>(source.getType()), type);
    copies[tile] = transpose ? transposed(room, transpose) : room;
    return e.fill(room, source, fill);
  }

  /// Beyond a buffer along K both operands are 0: these steps add nothing.
  void limitDepth() {
    if (!plan.isDepthLimited)
      return;
    auto [a, dimA] = traceToLoad(op.getA(), int(rank) - 1);
    auto [x, dimB] = traceToLoad(op.getB(), int(rank) - 2);
    depth = e.ix().min(inBuffer(a, dimA), inBuffer(x, dimB));
    e.inside.insert(plan.insideMeanwhile.begin(), plan.insideMeanwhile.end());
  }

  Ix inBuffer(tile::LoadOp load, int dim) {
    IndexBuilder ix = e.ix();
    if (!limitsDepth({load, unsigned(dim)}) || e.inside.contains({load, unsigned(dim)}))
      return depth;
    Ix size = e.buffers.find(load.getBuffer())->second.sizes[dim];
    Ix room = ix.max(0, ix.sub(size, e.index(load.getPositions()[dim])));
    return ix.min(depth, room);
  }

  //===--- a block of the result -------------------------------------------===//

  /// `rows` x `vectors` vectors of `width` from (row, column) on; `sums` go in and out, row-major.
  LogicalResult block(const Indices &batch, const Ix &row, const Ix &column, unsigned rows,
                      unsigned vectors, unsigned width, Value mask, SmallVectorImpl<Value> &sums) {
    if (pairs) {
      if (failed(pairBlock(e, *pairs, row, column, rows, vectors, sums)))
        return failure();
      keepRolled(sums.front());
      return success();
    }
    llvm::SaveAndRestore lanes(e.lanes, width);
    llvm::SaveAndRestore masked(e.mask, mask);
    bool inPairs = isUnpacked(e.cpu, op) && vectors % 2 == 0 && !mask;
    auto step = [&](const Ix &k, SmallVectorImpl<Value> &sums) -> LogicalResult {
      SmallVector<Value> right;
      for (unsigned j = 0; j < vectors; j += inPairs ? 2 : 1) {
        Ix at = e.ix().add(column, int64_t(j) * width);
        if (failed(inPairs ? halves(batch, k, at, right) : whole(batch, k, at, right)))
          return failure();
      }
      for (unsigned i = 0; i < rows; ++i) {
        auto value = element2(op.getA(), batch, e.ix().add(row, int64_t(i)), k, -1);
        if (failed(value))
          return failure();
        Value left = e.asVector(*value);
        for (unsigned j = 0; j < vectors; ++j)
          sums[i * vectors + j] = multiplyAdd(left, right[j], sums[i * vectors + j]);
      }
      return success();
    };
    auto sumUp = [&](const Ix &from, const Ix &to, SmallVectorImpl<Value> &partial) {
      LogicalResult done =
          e.loop(from, to, 1, partial, [&](const Ix &k) { return step(k, partial); });
      if (succeeded(done) && rows * vectors >= leastWork)
        keepRolled(partial.front());
      return done;
    };
    if (inPairs)
      reorder(e, sums, false);
    LogicalResult done = inChains(sums, sumUp);
    if (inPairs)
      reorder(e, sums, true);
    return done;
  }

  using SumUp = llvm::function_ref<LogicalResult(const Ix &, const Ix &, SmallVectorImpl<Value> &)>;

  LogicalResult inChains(SmallVectorImpl<Value> &sums, SumUp sumUp) {
    bool isShort = depth.constant() && *depth.constant() <= longestChain;
    if (isShort || !sumElement.isF32())
      return sumUp(0, depth, sums);
    return e.loop(0, depth, longestChain, sums, [&](const Ix &from) -> LogicalResult {
      SmallVector<Value> partial;
      for (Value sum : sums)
        partial.push_back(arith::ConstantOp::create(b, loc, b.getZeroAttr(sum.getType())));
      Ix to = e.ix().min(e.ix().add(from, longestChain), depth);
      if (failed(sumUp(from, to, partial)))
        return failure();
      for (auto [sum, part] : llvm::zip(sums, partial))
        sum = arith::AddFOp::create(b, loc, sum, part);
      return success();
    });
  }

  LogicalResult whole(const Indices &batch, const Ix &k, const Ix &at, SmallVector<Value> &right) {
    auto value = element2(op.getB(), batch, k, at, e.lanes > 1 ? int(rank) - 1 : -1);
    if (succeeded(value))
      right.push_back(e.asVector(*value));
    return value;
  }

  /// The columns of two vectors of b in another order, in which sums are meanwhile.
  LogicalResult halves(const Indices &batch, const Ix &k, const Ix &at, SmallVector<Value> &right) {
    llvm::SaveAndRestore lanes(e.lanes, 2 * e.lanes);
    Point point{batch, int(rank) - 1, 1};
    point.at.append({k, at});
    FailureOr<Value> value = elementOf(op.getB(), point);
    if (failed(value))
      return failure();
    auto [lower, upper] = unpack(e, e.asVector(*value));
    right.append({lower, upper});
    return success();
  }

  /// A step of many products fills the processor. Two of them in one basic block would be
  /// interleaved by the scheduler, which then has too few registers and spills.
  void keepRolled(Value sum) {
    auto loop = sum.getDefiningOp<scf::ForOp>();
    if (!loop)
      return;
    LLVM::LoopAnnotationAttr annotation;
    auto unroll =
        LLVM::LoopUnrollAttr::get(b.getContext(), b.getBoolAttr(true), {}, {}, {}, {}, {}, {});
    annotation = LLVM::LoopAnnotationAttr::get(b.getContext(), {}, {}, {}, unroll, {}, {}, {}, {},
                                               {}, {}, {}, {}, {}, {}, {});
    loop->setAttr("llvm.loop_annotation", annotation);
  }

  FailureOr<Value> element2(Value tile, const Indices &batch, const Ix &x, const Ix &y, int lane) {
    Point point{batch, lane, 1};
    point.at.push_back(x);
    point.at.push_back(y);
    FailureOr<Value> value = elementOf(tile, point);
    if (failed(value) || getElementTypeOrSelf(value->getType()) == element)
      return value;
    return e.convertFloat(*value, sumElement);
  }

  FailureOr<Value> elementOf(Value tile, const Point &point) {
    if (panels && tile == op.getB()) {
      Ix width = panels.getType().getDimSize(2);
      return e.evaluate(
          panels, {{e.ix().div(point.at[1], width), point.at[0], e.ix().rem(point.at[1], width)},
                   point.lane < 0 ? -1 : 2});
    }
    auto found = copies.find(tile);
    return found != copies.end() ? e.read(found->second, point) : e.evaluate(tile, point);
  }

  Value multiplyAdd(Value x, Value y, Value sum) {
    if (isa<FloatType>(element)) {
      Type type = getElementTypeOrSelf(sum.getType());
      x = e.convertFloat(x, type);
      y = e.convertFloat(y, type);
      return math::FmaOp::create(b, loc, x, y, sum);
    }
    return arith::AddIOp::create(b, loc, sum, arith::MulIOp::create(b, loc, x, y));
  }

  //===--- the whole -------------------------------------------------------===//

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
      if (failed(read) || failed(block({}, 0, 0, rows, vectors, width, {}, sums)))
        return failure();
    }
    forget();
    if (sumElement != element)
      for (Value &sum : sums)
        sum = e.convertFloat(sum, element);
    e.registers[op.getResult()] = {width, sums};
    return success();
  }

  void forget() {
    for (const Access &access : plan.insideMeanwhile)
      e.inside.erase(access);
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
    {
      Emitter::Scope scope(e);
      Indices batch;
      if (failed(overBatch(place, batch)))
        return failure();
    }
    forget();
    e.memory[op.getResult()] = place;
    return success();
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
        failed(tileProduct(e, *pairs, place, plan.beginsWithZero, op)))
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
    IndexBuilder ix = e.ix();
    int64_t most = e.cpu.productBlock(bytes).rows;
    Ix all = extents[rank - 2], rest = ix.rem(all, most), whole = ix.sub(all, rest);
    SmallVector<Value> none;
    auto blocks = [&](unsigned rows) {
      return [&, rows](const Ix &row) {
        return update(place, batch, row, column, rows, vectors, width);
      };
    };
    if (failed(e.loop(0, whole, most, none, blocks(most))))
      return failure();
    if (auto left = rest.constant(); left && *left)
      return blocks(*left)(whole);
    return e.loop(whole, all, 1, none, blocks(1));
  }

  LogicalResult update(const Memory &place, const Indices &batch, const Ix &row, const Ix &column,
                       unsigned rows, unsigned vectors, unsigned width) {
    Value mask = e.mask;
    llvm::SaveAndRestore lanes(e.lanes, width);
    Emitter::Scope scope(e);
    SmallVector<Point> points;
    SmallVector<Value> sums;
    for (unsigned i = 0; i < rows; ++i)
      for (unsigned j = 0; j < vectors; ++j) {
        Point point{batch, width > 1 ? int(rank) - 1 : -1, 1};
        point.at.push_back(e.ix().add(row, int64_t(i)));
        point.at.push_back(e.ix().add(column, int64_t(j) * width));
        points.push_back(point);
        FailureOr<Value> sum = isFresh ? e.evaluate(op.getAcc(), point) : e.read(place, point);
        if (failed(sum))
          return failure();
        sums.push_back(e.convertFloat(width > 1 ? e.asVector(*sum) : *sum, sumElement));
      }
    if (failed(block(batch, row, column, rows, vectors, width, mask, sums)))
      return failure();
    for (auto [point, sum] : llvm::zip(points, sums))
      e.write(place, point, e.convertFloat(sum, element));
    return success();
  }

  Emitter &e;
  OpBuilder &b;
  Location loc;
  tile::DotOp op;
  const Step &step;
  const DotStep &plan;
  int64_t rank;
  Type element, sumElement; // of the result, and of what is added up
  int64_t bytes;            // of `sumElement`, as blocks are chosen
  Indices extents;
  Ix depth;
  llvm::SmallDenseMap<Value, Memory> copies;
  std::optional<PairOperands> pairs;
  tile::LoadOp panels; // of b, where it is read so
  bool isFresh = false;
};

} // namespace

LogicalResult Emitter::dot(tile::DotOp op, const Step &step) {
  return DotEmitter(*this, op, step).run();
}

} // namespace tw::target::cpu
