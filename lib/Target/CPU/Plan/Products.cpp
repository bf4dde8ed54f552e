// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "IR/Coded.h"
#include "IR/Tile/Elementwise.h"
#include "IR/Tile/IndexForm.h"
#include "Target/CPU/Plan/Analysis/DotOperands.h"
#include "Target/CPU/Plan/Placements.h"
#include "Target/CPU/Plan/Prefetches.h"
#include "Target/CPU/Plan/Steps.h"
#include "Target/CPU/Plan/Strips.h"
#include "Target/Common/Index/Bounds.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;

namespace tw::target::cpu {
namespace {

/// With more rows, b is read so often that transposing it pays.
constexpr int64_t mostRows = 8;
/// In tile registers: rows of a and columns of b, and steps along K.
constexpr int64_t tileRows = 16, tileDepth = 32;
/// So many rows take instructions on vectors longer than memory takes to give b.
constexpr int64_t leastTileRows = 3;
/// Columns are packed in blocks of a vector's pairs, at most 16.
constexpr int64_t leastPackedDepth = 32;

class ProductPlanner {
public:
  ProductPlanner(Scene &scene, tile::DotOp op, Step &step)
      : scene(scene), cpu(scene.cpu), op(op), step(step), rank(int(op.getType().getRank())),
        sum(sumType(op)), lanes(cpu.vectorBytes / unsigned(sumBytes(op))) {}

  LogicalResult run() {
    LogicalResult planned = success();
    if (Value pairs = pairsOf(op.getB()); pairs && takesPairs())
      planned = asPairs(pairs);
    else if (!pairs && takesPairs() && packsPairs())
      planned = asPairs(dot.packed);
    else if (takesRows())
      planned = rowsByColumns();
    else
      planned = outerProducts();
    step.detail = std::move(dot);
    return planned;
  }

private:
  //===--- pairs of bf16 ---------------------------------------------------===//

  bool fitsTiles() {
    auto type = op.getType();
    int64_t rows = type.getDimSize(0);
    bool fitsRows = rows % tileRows == 0 || (leastTileRows <= rows && rows < tileRows && isAlone());
    return cpu.hasBf16Tiles && fitsRows && type.getDimSize(1) % tileRows == 0 &&
           op.getA().getType().getDimSize(1) % tileDepth == 0;
  }

  /// Tile registers are configured once in a kernel, for all of its products.
  bool isAlone() {
    int64_t products = 0;
    op->getParentOfType<tile::KernelOp>().walk([&](tile::DotOp) { ++products; });
    return products == 1;
  }

  bool takesPairs() {
    auto type = op.getType(), a = op.getA().getType();
    bool fits = (cpu.bf16Dot || cpu.hasBf16Tiles) && type.getRank() == 2 && type.hasStaticShape() &&
                a.hasStaticShape() && type.getElementType().isF32() &&
                a.getElementType().isBF16() && type.getDimSize(1) % lanes == 0;
    return fits && (cpu.bf16Dot || fitsTiles());
  }

  /// Whether b, which lies otherwise, is to be packed in pairs first, and what then is packed: rows
  /// of b are read two by two, columns pair by pair. Steps of a box would be turned for a element
  /// by element, which takes longer than products of f32.
  bool packsPairs() {
    auto b = op.getB().getType();
    if (!b.getElementType().isBF16() || b.getDimSize(0) < leastPackedDepth ||
        b.getDimSize(0) % 2 != 0 || !isReusedMuch() || stepsOfA())
      return false;
    auto transpose = op.getB().getDefiningOp<tile::TransposeOp>();
    dot.packed = transpose && !scene.isInMemory(op.getB()) ? transpose.getOperand() : op.getB();
    return scene.isInMemory(dot.packed) || !isInBuffer(scene, dot.packed) ||
           isContiguous(dot.packed, 0) || isContiguous(dot.packed, 1);
  }

  LogicalResult asPairs(Value pairs) {
    dot.form = fitsTiles() ? DotStep::Form::Tiles : DotStep::Form::Pairs;
    scene.multipliesPairs = true;
    bool isLimited = rowsOfA().has_value();
    llvm::SaveAndRestore before(scene.inside);
    if (dot.form == DotStep::Form::Tiles)
      dot.tileRows = rowsOfBuffer();
    FailureOr<StridedPlacement> a = asStridedMemory(scene, op.getA(), /*along=*/1),
                                b = asStridedMemory(scene, pairs);
    if (failed(a) || failed(b))
      return failure();
    dot.pairsA = *std::move(a);
    dot.pairsB = *std::move(b);
    if (dot.form == DotStep::Form::Tiles)
      return sumsOfTiles();
    dot.areRowsLimited = isLimited;
    return sumsInVectors();
  }

  /// How many rows a buffer of a has that fits into one program, all of whose rows are inside then;
  /// nothing where they may be more, or those behind them are not zeros.
  std::optional<Size> rowsOfBuffer() {
    auto [load, dim] = traceToLoad(op.getA(), 0);
    int64_t most = op.getType().getDimSize(0);
    if (!load || load.getPad() || most > tileRows || !isAlone())
      return std::nullopt;
    Size rows = tile::sizesOf(load.getBuffer().getType())[dim];
    auto isFew = [&](tile::SymbolAttr symbol) {
      return rows.asSymbol() == symbol.getName() && symbol.getMax() <= most;
    };
    bool isBound = llvm::any_of(scene.kernel.getSymbols().getAsRange<tile::SymbolAttr>(), isFew);
    auto position = tile::indexForm(load.getPositions()[dim]);
    for (auto [d, count] : llvm::enumerate(scene.kernel.getGrid().getAsRange<tile::SizeAttr>()))
      if (position && count.getSize() == ceilDiv(rows, Size(most)))
        position = position->substitute({{tile::coordinateSymbol(int64_t(d)), Size(0)}});
    if (!isBound || position != Size(0))
      return std::nullopt;
    scene.inside.insert({load, unsigned(dim)});
    return rows;
  }

  LogicalResult sumsOfTiles() {
    auto full = op.getAcc().getDefiningOp<tile::FullOp>();
    bool isZero = full && matchPattern(full.getValue(), m_AnyZeroFloat());
    bool isFresh = !updatesAccumulator();
    // Rows that registers do not have keep what the sums begin with: that has to be there.
    dot.beginsWithZero = isFresh && isZero && !dot.tileRows;
    if (isFresh && !dot.beginsWithZero) {
      FailureOr<Fill> fill = planFill(scene, op.getAcc());
      if (failed(fill))
        return failure();
      dot.fill = *std::move(fill);
    }
    if (!dot.packed && op.getType().getDimSize(0) <= tileRows)
      if (auto stream = planStream(op, cpu.streamAhead))
        dot.streams = planStreams(op, *stream, tileDepth, cpu);
    // Rows pass by b once. What is read side by side comes sooner without requests.
    if (!dot.packed && dot.streams == 1 && op.getType().getDimSize(1) <= 2 * tileRows)
      dot.next = planNextBlock(op);
    putResultInMemory();
    return success();
  }

  //===--- rows of a and columns of b --------------------------------------===//

  bool takesRows() {
    auto a = op.getA().getType(), right = op.getB().getType();
    if (a.getRank() != 2 || !isa<FloatType>(a.getElementType()) || a.isDynamicDim(0) ||
        a.isDynamicDim(1) || a.getDimSize(0) > mostRows || a.getDimSize(1) % lanes != 0 ||
        a.getDimSize(1) / lanes > longestChain || lanes < 4 || scene.isPlaced(op.getB()))
      return false;
    return (right.isDynamicDim(1) || right.getDimSize(1) >= int64_t(lanes)) &&
           contiguousDim(op.getB(), 1) == 0;
  }

  LogicalResult rowsByColumns() {
    dot.form = DotStep::Form::RowsByColumns;
    step.strips = {1, lanes, false};
    if (failed(accumulator()) || failed(toMemory(scene, op.getA(), dot.a.before)))
      return failure();
    Strips along{0, lanes, false};
    if (failed(prepare(scene, op.getB(), along, 0, dot.b.before)))
      return failure();
    putResultInMemory();
    return success();
  }

  //===--- outer products --------------------------------------------------===//

  LogicalResult outerProducts() {
    limitRows();
    if (failed(operand(op.getA(), false, dot.a)) || failed(operand(op.getB(), true, dot.b)))
      return failure();
    limitDepth();
    LogicalResult planned = sumsInVectors();
    for (const Access &access : dot.insideMeanwhile)
      scene.inside.erase(access);
    return planned;
  }

  /// Elements of a are wanted one by one, of b in vectors along N; both more than once.
  LogicalResult operand(Value tile, bool isB, DotOperand &plan) {
    if (tile::LoadOp panels = isB && isUnpacked(cpu, op) ? panelsOf(cpu, tile) : tile::LoadOp()) {
      plan.form = DotOperand::Form::Panels;
      return prepare(scene, panels, {2, lanes, false}, 2, plan.before);
    }
    if (isNarrow(tile) && (!isB || isReusedMuch())) {
      plan.form = DotOperand::Form::Converted;
      auto transpose = tile == op.getA() ? computedTranspose(op) : tile::TransposeOp();
      return fillScratch(transpose ? Value(transpose.getOperand()) : tile, plan);
    }
    if (auto steps = isB ? stepsOfBox(tile) : stepsOfA(); steps && !scene.isPlaced(steps))
      return copyBox(steps, isB, plan);
    if (auto transpose = isB ? tile::TransposeOp() : spreadTranspose())
      return viewTransposed(transpose, plan);
    int lane = isB ? rank - 1 : -1;
    if (isB && isCopiedByFirstRows(tile)) {
      plan.form = DotOperand::Form::CopiedByFirstRows;
      return prepare(scene, tile, {lane, lanesFor(scene, tile), false}, lane, plan.before);
    }
    if (isReadInPlace(tile, isB) ||
        (isB && !scene.isInMemory(tile) && isPartOfTransposed(tile, lane))) {
      plan.form = DotOperand::Form::InPlace;
      return prepare(scene, tile, {lane, lanesFor(scene, tile), false}, lane, plan.before);
    }
    if (auto transpose =
            isB || scene.isInMemory(tile) ? tile::TransposeOp() : computedTranspose(op))
      return viewTransposed(transpose, plan);
    plan.form = DotOperand::Form::Scratch;
    return toMemory(scene, tile, plan.before);
  }

  tile::ReshapeOp stepsOfA() {
    auto transpose = op.getA().getDefiningOp<tile::TransposeOp>();
    return transpose ? stepsOfBox(transpose.getOperand()) : tile::ReshapeOp();
  }

  /// The box is copied as it lies, and its rows are the steps.
  LogicalResult copyBox(tile::ReshapeOp steps, bool isB, DotOperand &plan) {
    plan.form = isB ? DotOperand::Form::Scratch : DotOperand::Form::TransposedView;
    if (failed(toMemory(scene, steps.getOperand(), plan.before)))
      return failure();
    unsigned room = scene.stateOf(steps.getOperand()).room;
    plan.before.push_back({steps.getResult(), /*isView=*/true, {}});
    scene.putInMemory(steps.getResult(), room);
    if (!isB)
      scene.putInMemory(op.getA(), room);
    return success();
  }

  LogicalResult viewTransposed(tile::TransposeOp transpose, DotOperand &plan) {
    plan.form = DotOperand::Form::TransposedView;
    Value source = transpose.getOperand();
    if (!scene.isInMemory(source)) {
      if (failed(fillScratch(source, plan)))
        return failure();
      scene.putInMemory(source);
    }
    scene.putInMemory(transpose.getResult(), scene.stateOf(source).room);
    return success();
  }

  /// The transpose behind a whose rows lie far from each other along K: for each step a block would
  /// read a few elements of another line, and lines a page apart meet in few sets of the caches.
  /// Copied as they lie, they are side by side.
  tile::TransposeOp spreadTranspose() {
    auto transpose = op.getA().getDefiningOp<tile::TransposeOp>();
    auto load = transpose ? transpose.getOperand().getDefiningOp<tile::LoadOp>() : tile::LoadOp();
    if (!load || !cpu.hasSlowThirdLevel || rank != 2 || scene.isInMemory(op.getA()) ||
        !isReusedMuch() || !isContiguous(op.getA(), 0))
      return {};
    return transpose;
  }

  LogicalResult fillScratch(Value tile, DotOperand &plan) {
    FailureOr<Fill> fill = planFill(scene, tile);
    if (failed(fill))
      return failure();
    plan.fill = *std::move(fill);
    return success();
  }

  /// The load behind an operand whose elements lie in a buffer, those of b in vectors.
  tile::LoadOp loadInBuffer(Value tile, bool isB) {
    auto [load, dim] = traceToLoad(tile, isB ? rank - 1 : rank - 2);
    if (!load || isa<RankedTensorType>(load.getPositions()[dim].getType()) || load.getMask() ||
        scene.isInMemory(tile))
      return {};
    bool liesInVectors = dim + 1 == load.getType().getRank() &&
                         (load.getStrides().empty() || load.getStrides()[dim] == 1);
    return !isB || liesInVectors ? load : tile::LoadOp();
  }

  /// Whether b is to be copied because its rows are spread, and all of its vectors are whole. The
  /// stores of a copy take ports that products do not need. What is a, too, is read before.
  bool isCopiedByFirstRows(Value b) {
    auto load = loadInBuffer(b, true);
    return load && b != op.getA() && rank == 2 && op.getType().hasStaticShape() &&
           op.getType().getDimSize(1) % lanes == 0 && !scene.isBoundary && isWorthCopying(load);
  }

  bool isReadInPlace(Value tile, bool isB) {
    auto load = loadInBuffer(tile, isB);
    if (!load || isB)
      return load && !isWorthCopying(load);
    int dim = traceToLoad(tile, rank - 2).second;
    // Single elements under a mask would be as many branches.
    return !scene.isBoundary || scene.inside.contains({load, unsigned(dim)});
  }

  bool isNarrow(Value tile) {
    return isa<FloatType>(op.getType().getElementType()) &&
           cast<RankedTensorType>(tile.getType()).getElementType() != sum;
  }

  /// Whether each element of b meets more rows than are in registers at once.
  bool isReusedMuch() {
    int64_t rows = cpu.productBlock(sumBytes(op)).rows;
    return extentsOf(op.getAcc())[rank - 2].constant().value_or(rows) > 2 * rows;
  }

  /// Whether b, which that reads, passes by several blocks of rows that are in registers, and each
  /// would read its rows where they are spread.
  bool isWorthCopying(tile::LoadOp load) {
    return !registersOfSums() && isReusedMuch() && isSpread(load);
  }

  /// Whether rows of b lie far from each other: they meet in few sets of the cache when the
  /// distance is a power of two, and are on as many pages. A block of AVX-512 reads whole lines
  /// enough to make up for that, unless what they push out comes from a slow cache again.
  bool isSpread(tile::LoadOp load) {
    auto [same, dim] = traceToLoad(op.getB(), rank - 2);
    auto columns = extentsOf(op.getAcc())[rank - 1].constant();
    if (same != load || !columns)
      return false;
    Size stride = 1;
    std::vector<Size> sizes = tile::sizesOf(load.getBuffer().getType());
    for (size_t d = size_t(dim) + 1; d < sizes.size(); ++d)
      stride = stride * sizes[d];
    if (cpu.vectorBytes >= 64)
      return cpu.hasSlowThirdLevel && stride.constant() != *columns;
    return !stride.constant() || *stride.constant() > 4 * *columns;
  }

  //===--- the ends of rows and of K ---------------------------------------===//

  /// Rows of a past the end of its buffer are 0 and add nothing, where single elements are read
  /// under no mask and sums in memory have any number of rows.
  void limitRows() {
    auto access = rowsOfA();
    if (!access || isNarrow(op.getA()) || stepsOfA() || spreadTranspose())
      return;
    dot.areRowsLimited = true;
    scene.inside.insert(*access);
    dot.insideMeanwhile.push_back(*access);
  }

  /// Where rows of a may end before those of the sums, which are in memory.
  std::optional<Access> rowsOfA() {
    auto load = loadInBuffer(op.getA(), false);
    if (!isZeroPadded(load) || !op.getType().hasStaticShape() || registersOfSums())
      return std::nullopt;
    Access access(load, unsigned(traceToLoad(op.getA(), rank - 2).second));
    bool isLimit = endsAtBuffer(access) && !scene.inside.contains(access) && isOnlyA(load);
    return isLimit ? std::optional(access) : std::nullopt;
  }

  /// Whether the other operands are not made of what is loaded: they are read beyond its end.
  bool isOnlyA(tile::LoadOp load) {
    auto reads = [&](Value tile) {
      return tile.getDefiningOp() == load ||
             anyInBackwardSlice(tile, scene.placed(), [&](Operation *op) { return op == load; });
    };
    return !reads(op.getB()) && !reads(op.getAcc());
  }

  /// Beyond a buffer along K both operands are 0: these steps add nothing.
  void limitDepth() {
    auto [a, dimA] = traceToLoad(op.getA(), rank - 1);
    auto [x, dimB] = traceToLoad(op.getB(), rank - 2);
    // What is loaded once for both has rows, and columns, of the result along what ends.
    if (!isZeroPadded(a) || !isZeroPadded(x) || a == x || !endTogether(a, dimA, x, dimB))
      return;
    dot.isDepthLimited = true;
    // Now those that limit it do not read outside along K.
    for (Access access : {Access(a, dimA), Access(x, dimB)})
      if (endsAtBuffer(access) && scene.inside.insert(access).second)
        dot.insideMeanwhile.push_back(access);
  }

  static bool isZeroPadded(tile::LoadOp load) { return load && !load.getPad() && !load.getMask(); }

  /// Whether both are padded from the same place on: where only one is, the other may hold inf or
  /// NaN, of which 0 times it is NaN.
  bool endTogether(tile::LoadOp a, int dimA, tile::LoadOp x, int dimB) {
    auto size = [](tile::LoadOp load, int dim) {
      return tile::sizesOf(load.getBuffer().getType())[dim];
    };
    auto isInside = [&](tile::LoadOp load, int dim) {
      return scene.inside.contains({load, unsigned(dim)});
    };
    return (isInside(a, dimA) && isInside(x, dimB)) ||
           (size(a, dimA) == size(x, dimB) && a.getPositions()[dimA] == x.getPositions()[dimB]);
  }

  //===--- sums ------------------------------------------------------------===//

  /// The lanes of the registers that have the result; nothing where it is in memory.
  std::optional<unsigned> registersOfSums() {
    auto wide = rank == 2 ? registerLanes(op.getType(), cpu) : std::nullopt;
    return wide && *wide > 1 && !isCarriedInMemory() ? wide : std::nullopt;
  }

  LogicalResult sumsInVectors() {
    auto wide = registersOfSums();
    if (!wide)
      return sumsInMemory();
    dot.registers = wide;
    step.strips = {1, *wide, true};
    if (failed(prepare(scene, op.getAcc(), step.strips, 1, dot.before)))
      return failure();
    scene.putInRegisters(op.getResult(), *wide);
    if (!dot.packed)
      dot.next = planStream(op, streamAhead());
    if (dot.next && dot.insideMeanwhile.empty())
      dot.streams = planStreams(op, *dot.next, dot.form == DotStep::Form::Pairs ? 2 : 1, cpu);
    return crowdsOthers(*wide) ? leaveRegisters() : success();
  }

  /// By how many bytes b is prefetched where it streams from memory; 0: not at all.
  int64_t streamAhead() {
    bool isBalanced = dot.form == DotStep::Form::Pairs && cpu.pairStreamAhead > 0 &&
                      op.getType().getDimSize(0) >= cpu.balancedPairRows;
    return isBalanced ? cpu.pairStreamAhead : cpu.streamAhead;
  }

  /// Whether a loop around carries the sums in memory, though registers could hold them: as those
  /// of one trip (HandOvers.cpp).
  bool isCarriedInMemory() {
    Value sums = op.getAcc();
    return isa<BlockArgument>(sums) && scene.isInMemory(sums) && sums.hasOneUse();
  }

  LogicalResult leaveRegisters() {
    if (failed(toMemory(scene, op.getResult(), dot.after)))
      return failure();
    scene.leaveRegisters(op.getResult());
    return success();
  }

  /// Whether registers cannot hold the result together with those of other products of the block,
  /// summed before who reads the one reads the other.
  bool crowdsOthers(unsigned lanes) {
    auto vectorsOf = [&](tile::DotOp dot) { return dot.getType().getNumElements() / lanes; };
    int64_t vectors = vectorsOf(op);
    for (auto other : op->getBlock()->getOps<tile::DotOp>())
      if (other != op && registerLanes(other.getType(), cpu) &&
          (op->isBeforeInBlock(other) ? isReadAfter(op, other) : isReadAfter(other, op)))
        vectors += vectorsOf(other);
    return vectors > cpu.vectorRegisters * 7 / 8;
  }

  /// Whether a step after `other` reads what is made of `dot` element by element.
  static bool isReadAfter(tile::DotOp dot, tile::DotOp other) {
    llvm::DenseSet<Value> seen;
    SmallVector<Value> rest = {dot.getResult()};
    while (!rest.empty())
      for (Operation *user : rest.pop_back_val().getUsers()) {
        Operation *inBlock = other->getBlock()->findAncestorOpInBlock(*user);
        bool isStep = inBlock != user || !(tile::isElementwise(user) || movesElements(user));
        if (isStep && inBlock && inBlock != other && other->isBeforeInBlock(inBlock))
          return true;
        if (!isStep && seen.insert(user->getResult(0)).second)
          rest.push_back(user->getResult(0));
      }
    return false;
  }

  LogicalResult sumsInMemory() {
    step.strips = {rank - 1, lanes, false};
    if (failed(accumulator()))
      return failure();
    if (dot.form == DotStep::Form::OuterProducts)
      dot.next = planNextBlock(op);
    putResultInMemory();
    return success();
  }

  /// It is added to where it lies, if nobody else wants it.
  bool updatesAccumulator() {
    dot.updatesAccumulator = scene.isInMemory(op.getAcc()) && op.getAcc().hasOneUse();
    return dot.updatesAccumulator;
  }

  LogicalResult accumulator() {
    return updatesAccumulator()
               ? success()
               : prepare(scene, op.getAcc(), step.strips, step.strips.lane, dot.before);
  }

  void putResultInMemory() {
    scene.putInMemory(op.getResult(),
                      dot.updatesAccumulator ? scene.stateOf(op.getAcc()).room : scene.newRoom());
  }

  Scene &scene;
  const CpuFeatures &cpu;
  tile::DotOp op;
  Step &step;
  int rank;
  Type sum;
  unsigned lanes; // of vectors of sums
  DotStep dot;
};

} // namespace

LogicalResult planDot(Scene &scene, tile::DotOp op, Step &step) {
  if (!isa<FloatType, IntegerType>(op.getType().getElementType()))
    return emitCoded(op.getLoc(), Code::TARGET_2)
           << op->getName() << ": a product of " << op.getType().getRank() << "-d tiles of index";
  return ProductPlanner(scene, op, step).run();
}

} // namespace tw::target::cpu
