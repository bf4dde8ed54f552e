// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tile.dot as outer products: a block of the result in registers, and for each step along K a few
// vectors of b times single elements of a, both read where they lie.
#include "Target/CPU/DotPairs.h"
#include "Target/CPU/DotRows.h"
#include "Target/CPU/Emitter.h"
#include "Target/CPU/UnpackBf16.h"
#include "Target/Common/Bounds.h"
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

  static constexpr int64_t longestChain = Emitter::longestChain;
  static constexpr int64_t lineBytes = 64;

  DotEmitter(Emitter &e, tile::DotOp op)
      : e(e), b(e.b), loc(e.loc), op(op), rank(op.getType().getRank()),
        element(op.getType().getElementType()), extents(e.extents(op.getAcc())),
        depth(e.extents(op.getA())[rank - 1]) {}

  LogicalResult run() {
    if (!isa<FloatType, IntegerType>(element))
      return e.refuse(op, "a product of " + llvm::Twine(rank) + "-d tiles of index");
    auto found = pairOperands(e, op);
    if (failed(found))
      return failure();
    pairs = *found;
    if (pairs)
      return fitsTiles(e, op) ? inTiles() : inVectors();
    if (fitsRows(e, op))
      return inRows();
    if (failed(bringNear(op.getA(), false)) || failed(bringNear(op.getB(), true)))
      return failure();
    limitDepth();
    return inVectors();
  }

private:
  LogicalResult inVectors() {
    auto wide = rank == 2 ? e.registerLanes(op.getType()) : std::nullopt;
    if (wide && *wide > 1)
      return inRegisters(*wide);
    return inMemory();
  }

  //===--- operands --------------------------------------------------------===//

  /// Elements of a are wanted one by one, of b in vectors along N; both more than once.
  LogicalResult bringNear(Value tile, bool isB) {
    if (isB && isUnpacked(e, op))
      panels = panelsOf(e, tile);
    if (isB && panels)
      return nearPanels();
    if (isNarrow(tile) && (!isB || isReusedMuch()))
      return copy(tile, isB && isUnpacked(e, op) ? b.getBF16Type() : sumType());
    int lane = isB ? int(rank) - 1 : -1;
    auto [load, dim] = e.loadBehind(tile, isB ? lane : int(rank) - 2);
    bool isPlain = load && !isa<RankedTensorType>(load.getPositions()[dim].getType());
    if (isPlain && isB)
      isPlain = dim + 1 == load.getType().getRank() &&
                (load.getStrides().empty() || load.getStrides()[dim] == 1);
    if (isPlain && !isB && e.isEdge && !e.inside.contains({load, unsigned(dim)}))
      isPlain = false; // single elements under a mask would be as many branches
    if (isPlain && isB && isReusedMuch() && isSpread(load))
      isPlain = false;
    if (isPlain && !load.getMask() && !e.memory.contains(tile)) {
      Domain domain{e.extents(tile), lane, e.lanesFor(tile), false};
      return e.prepare(tile, domain, lane);
    }
    if (auto turn = computedTranspose(tile); turn && !isB && !e.memory.contains(tile))
      return viewTransposed(turn);
    return e.toMemory(tile);
  }

  /// A transpose of what is no load.
  tile::TransposeOp computedTranspose(Value tile) {
    auto turn = tile.getDefiningOp<tile::TransposeOp>();
    return turn && !e.loadBehind(tile, int(rank) - 2).first ? turn : tile::TransposeOp();
  }

  /// Single elements are as near in what is transposed.
  LogicalResult viewTransposed(tile::TransposeOp op) {
    Value source = op.getOperand();
    if (!e.memory.contains(source)) {
      Memory room = spaced(cast<RankedTensorType>(source.getType()));
      if (failed(e.fill(room, source)))
        return failure();
      e.memory[source] = room;
    }
    e.memory[op.getResult()] = transposed(e.memory.find(source)->second, op);
    return success();
  }

  static Memory transposed(const Memory &source, tile::TransposeOp op) {
    Memory view{source.base, {}, source.element};
    for (int64_t axis : op.getPermutation())
      view.strides.push_back(source.strides[axis]);
    return view;
  }

  LogicalResult nearPanels() {
    Domain domain{e.extents(panels), 2, unsigned(e.cpu.vectorBytes / sumBytes()), false};
    return e.prepare(panels, domain, 2);
  }

  bool isNarrow(Value tile) {
    return isa<FloatType>(element) &&
           cast<RankedTensorType>(tile.getType()).getElementType() != sumType();
  }

  /// Whether each element of b meets more rows than are in registers at once.
  bool isReusedMuch() {
    int64_t rows = e.cpu.productBlock(sumBytes()).rows;
    return extents[rank - 2].estimate(rows) > 2 * rows;
  }

  /// Whether rows of b lie far from each other, so that they meet in few sets of the cache when the
  /// distance is a power of two. A block of AVX-512 reads whole lines enough to make up for that.
  bool isSpread(tile::LoadOp load) {
    auto [same, dim] = e.loadBehind(op.getB(), rank - 2);
    if (same != load || !extents[rank - 1].isConstant() || e.cpu.vectorBytes >= 64)
      return false;
    auto stride = e.buffers.find(load.getBuffer())->second.strides[dim].constant();
    return !stride || *stride > 4 * *extents[rank - 1].constant();
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
  LogicalResult copy(Value tile, Type type) {
    auto turn = tile == op.getA() ? computedTranspose(tile) : tile::TransposeOp();
    Value source = turn ? turn.getOperand() : tile;
    Memory room = spaced(cast<RankedTensorType>(source.getType()), type);
    copies[tile] = turn ? transposed(room, turn) : room;
    return e.fill(room, source);
  }

  /// Beyond a buffer along K both operands are 0: these steps add nothing.
  void limitDepth() {
    auto [a, dimA] = e.loadBehind(op.getA(), rank - 1);
    auto [x, dimB] = e.loadBehind(op.getB(), rank - 2);
    if (!isZeroPadded(a) || !isZeroPadded(x) || !endTogether(a, dimA, x, dimB))
      return;
    depth = e.ix().min(inBuffer(a, dimA), inBuffer(x, dimB));
    // Now those that limit it do not read outside along K.
    for (auto [load, dim] : {std::pair(a, dimA), std::pair(x, dimB)})
      if (isPlain(load, dim) && e.inside.insert({load, unsigned(dim)}).second)
        limited.push_back({load, unsigned(dim)});
  }

  /// Whether both are padded from the same place on: where only one is, the other may hold inf or
  /// NaN, of which 0 times it is NaN.
  bool endTogether(tile::LoadOp a, int dimA, tile::LoadOp x, int dimB) {
    auto size = [](tile::LoadOp load, int dim) {
      return tile::sizesOf(load.getBuffer().getType())[dim];
    };
    auto isInside = [&](tile::LoadOp load, int dim) {
      return e.inside.contains({load, unsigned(dim)});
    };
    return (isInside(a, dimA) && isInside(x, dimB)) ||
           (size(a, dimA) == size(x, dimB) && a.getPositions()[dimA] == x.getPositions()[dimB]);
  }

  bool isZeroPadded(tile::LoadOp load) { return load && !load.getPad() && !load.getMask(); }

  static bool isPlain(tile::LoadOp load, int dim) {
    return (load.getStrides().empty() || load.getStrides()[dim] == 1) &&
           !isa<RankedTensorType>(load.getPositions()[dim].getType()) &&
           isNeverNegative(load.getPositions()[dim]);
  }

  Ix inBuffer(tile::LoadOp load, int dim) {
    IndexBuilder ix = e.ix();
    if (!isPlain(load, dim) || e.inside.contains({load, unsigned(dim)}))
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
    bool inPairs = isUnpacked(e, op) && vectors % 2 == 0 && !mask;
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
    if (isShort || !sumType().isF32())
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
    return e.convertFloat(*value, sumType());
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

  int64_t sumBytes() const { return std::max<int64_t>(Emitter::bytesOf(element), 4); }

  Type sumType() const {
    bool isHalf = element.isF16() || element.isBF16();
    return isHalf ? Type(b.getF32Type()) : element;
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
    Domain domain{extents, 1, width, true};
    if (failed(e.prepare(op.getAcc(), domain, 1)))
      return failure();
    unsigned rows = *extents[0].constant(), vectors = *extents[1].constant() / width;
    SmallVector<Value> sums;
    {
      Emitter::Scope scope(e);
      LogicalResult read = e.overElements(domain, [&](const Point &point) -> LogicalResult {
        FailureOr<Value> value = e.evaluate(op.getAcc(), point);
        if (succeeded(value))
          sums.push_back(e.convertFloat(e.asVector(*value), sumType()));
        return success(succeeded(value));
      });
      if (failed(read) || failed(block({}, 0, 0, rows, vectors, width, {}, sums)))
        return failure();
    }
    forget();
    if (sumType() != element)
      for (Value &sum : sums)
        sum = e.convertFloat(sum, element);
    e.registers[op.getResult()] = {width, sums};
    return success();
  }

  void forget() {
    for (auto &one : limited)
      e.inside.erase(one);
  }

  /// The accumulator is added to where it lies, if nobody else wants it. Else what is in the room
  /// does not matter yet (`isFresh`).
  FailureOr<Memory> room() {
    if (auto found = e.memory.find(op.getAcc()); found != e.memory.end() && op.getAcc().hasOneUse())
      return found->second;
    isFresh = true;
    return e.allocate(tile::extentsOf(op.getType()), element);
  }

  LogicalResult inMemory() {
    FailureOr<Memory> place = room();
    Domain domain{extents, int(rank) - 1, unsigned(e.cpu.vectorBytes / sumBytes()), false};
    if (failed(place) || (isFresh && failed(e.prepare(op.getAcc(), domain, domain.lane))))
      return failure();
    {
      Emitter::Scope scope(e);
      Indices batch;
      if (failed(overBatch(*place, batch)))
        return failure();
    }
    forget();
    e.memory[op.getResult()] = *place;
    return success();
  }

  LogicalResult inRows() {
    FailureOr<Memory> place = room();
    Domain domain{extents, 1, unsigned(e.cpu.vectorBytes / sumBytes()), false};
    if (failed(place) || (isFresh && failed(e.prepare(op.getAcc(), domain, domain.lane))) ||
        failed(prepareRows(e, op)))
      return failure();
    {
      Emitter::Scope scope(e);
      if (failed(rowProduct(e, op, *place, isFresh)))
        return failure();
    }
    e.memory[op.getResult()] = *place;
    return success();
  }

  LogicalResult inTiles() {
    FailureOr<Memory> place = room();
    auto full = op.getAcc().getDefiningOp<tile::FullOp>();
    bool isZero = full && matchPattern(full.getValue(), m_AnyZeroFloat());
    if (failed(place) || (isFresh && !isZero && failed(e.fill(*place, op.getAcc()))) ||
        failed(tileProduct(e, *pairs, *place, isFresh && isZero, op)))
      return failure();
    e.memory[op.getResult()] = *place;
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
    unsigned width = e.cpu.vectorBytes / sumBytes();
    int64_t step = e.cpu.productBlock(sumBytes()).columns, vectors = step / width;
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
    int64_t most = e.cpu.productBlock(sumBytes()).rows;
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
        sums.push_back(e.convertFloat(width > 1 ? e.asVector(*sum) : *sum, sumType()));
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
  int64_t rank;
  Type element;
  Indices extents;
  Ix depth;
  SmallVector<std::pair<Operation *, unsigned>> limited;
  llvm::SmallDenseMap<Value, Memory> copies;
  std::optional<PairOperands> pairs;
  tile::LoadOp panels; // of b, where it is read so
  bool isFresh = false;
};

} // namespace

LogicalResult Emitter::dot(tile::DotOp op) { return DotEmitter(*this, op).run(); }

} // namespace tw::target::cpu
