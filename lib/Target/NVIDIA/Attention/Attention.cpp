// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/NVIDIA/Attention/Attention.h"
#include "Support/Checked.h"
#include "Target/Common/Index/Bounds.h"
#include "Target/Common/Index/ScalarValues.h"
#include "Target/NVIDIA/Emission/Emitter.h"
#include "Target/NVIDIA/Product/Emission/RowReduction.h"
#include "Target/NVIDIA/Product/TileRoles.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tw::target::nvidia {

SmallVector<unsigned, 4> wideDims(Value tile) {
  SmallVector<unsigned, 4> dims;
  for (auto [d, extent] : llvm::enumerate(cast<RankedTensorType>(tile.getType()).getShape()))
    if (extent != 1)
      dims.push_back(unsigned(d));
  return dims;
}

Value AttentionPart::sumsAfter() const {
  tile::ForOp own = loop;
  tile::DotOp dot = output;
  return own ? own.getResult(sums) : dot.getResult();
}

Value AttentionPart::carriedSums() const {
  tile::ForOp own = loop;
  return own ? Value(own.getCarried()[sums]) : Value();
}

/// Loads and gathers of `block` that elements of `tile` are computed from.
static void findReads(Value tile, Block *block, llvm::SmallSetVector<Operation *, 4> &reads) {
  Operation *op = tile.getDefiningOp();
  if (!op || op->getBlock() != block || !isOfSingleElements(op))
    return;
  if (isa<tile::LoadOp, tile::GatherOp>(op))
    reads.insert(op);
  else
    for (Value operand : op->getOperands())
      findReads(operand, block, reads);
}

SmallVector<tile::LoadOp, 2> maskLoads(const AttentionPart &part) {
  tile::DotOp output = part.output;
  auto kernel = output->getParentOfType<tile::KernelOp>();
  llvm::SmallSetVector<Operation *, 4> reads;
  findReads(output.getA(), output->getBlock(), reads);
  SmallVector<tile::LoadOp, 2> loads;
  for (Operation *read : reads) {
    auto load = dyn_cast<tile::LoadOp>(read);
    auto isInside = [&](unsigned dim) { return isSurelyInside(kernel, *boxOf(read), dim); };
    if (!load || load.getMask() ||
        !llvm::all_of(llvm::seq(unsigned(load.getPositions().size())), isInside))
      return {};
    loads.push_back(load);
  }
  return loads;
}

namespace {

constexpr int64_t rowsOfGroup = 64, mostRows = 192, mostExtent = 256, extentUnit = 8;

class Matcher {
public:
  explicit Matcher(tile::KernelOp kernel) : kernel(kernel) {}

  AttentionMatch run() {
    AttentionMatch match;
    if (findParts() && findOperands() && checkExtents() && checkCarried() && followAll() &&
        roles.findStores(kernel, found.stores, why, found.tileRows == 1) &&
        readsNoResult(kernel, why)) {
      findTrips();
      findMasks();
      findHidden();
      findDealing();
      match.attention = std::move(found);
    }
    match.why = std::move(why);
    return match;
  }

private:
  bool no(const Twine &reason) {
    why = reason.str();
    return false;
  }

  //===--- loops and dots --------------------------------------------------===//

  /// Loops, and pairs of dots beside them, in order.
  bool findParts() {
    Block &top = kernel.getBody().front();
    SmallVector<tile::DotOp> dots;
    for (Operation &op : top) {
      if (auto dot = dyn_cast<tile::DotOp>(op))
        dots.push_back(dot);
      if (auto loop = dyn_cast<tile::ForOp>(op)) {
        if (!dots.empty())
          return no("one dot is beside a loop and another one is in it");
        found.parts.push_back({loop, {}, {}, {}, {}});
        SmallVector<tile::DotOp> inner(loop.getBody().front().getOps<tile::DotOp>());
        if (!checkOperations(loop.getBody().front()) || !setDots(found.parts.back(), inner))
          return false;
      } else if (dots.size() == 2) {
        found.parts.push_back({{}, {}, {}, {}, {}});
        if (!setDots(found.parts.back(), dots))
          return false;
        dots.clear();
      }
    }
    if (!dots.empty() || found.parts.empty())
      return no("it has no pair of dots");
    return checkOperations(top);
  }

  bool checkOperations(Block &block) {
    for (Operation &op : block) {
      bool isTop = block.getParentOp() == kernel && isa<tile::StoreOp, tile::ForOp>(op);
      if (!isOfSingleElements(&op) && !isTop && !isa<tile::DotOp, tile::ReduceOp>(op))
        return no("it has " + op.getName().getStringRef() + " beside its dots");
    }
    return true;
  }

  bool setDots(AttentionPart &part, ArrayRef<tile::DotOp> dots) {
    if (dots.size() != 2)
      return no("a trip has " + Twine(dots.size()) + " dots, not two");
    part.scores = dots[0];
    part.output = dots[1];
    for (tile::DotOp dot : dots) {
      auto sums = cast<RankedTensorType>(dot.getType());
      Type a = cast<RankedTensorType>(dot.getA().getType()).getElementType();
      Type b = cast<RankedTensorType>(dot.getB().getType()).getElementType();
      if (!found.element)
        found.element = a;
      if (!isHalf(a) || a != found.element || b != a || !sums.getElementType().isF32() ||
          sums.getRank() != 2 || !sums.hasStaticShape())
        return no("its dots are not all of f16, or of bf16, summed in f32");
    }
    return isZero(part.scores.getAcc()) || no("its scores do not begin at 0");
  }

  /// Also 0 times a number, as where nothing is before the first trip.
  static bool isZero(Value tile) {
    if (auto product = tile.getDefiningOp<arith::MulFOp>())
      return isZero(product.getLhs());
    auto full = tile.getDefiningOp<tile::FullOp>();
    return full && matchPattern(full.getValue(), m_AnyZeroFloat());
  }

  //===--- operands --------------------------------------------------------===//

  bool findOperands() {
    AttentionPart &first = found.parts[0];
    if (!findOperand(first.scores.getA(), 0, found.queries, why, /*mayBeOne=*/true))
      return false;
    if (found.queries.load->getParentOp() != kernel)
      return no("the first product's left operand changes from trip to trip");
    for (AttentionPart &part : found.parts) {
      ProductOperand queries;
      if (!findOperand(part.scores.getA(), 0, queries, why, /*mayBeOne=*/true) ||
          !findOperand(part.scores.getB(), 1, part.keys, why) ||
          !findOperand(part.output.getB(), 1, part.values, why))
        return false;
      if (queries.load != found.queries.load || queries.freeDim != found.queries.freeDim ||
          !isSame(part.keys, first.keys) || !isSame(part.values, first.values))
        return no("its loops have different operands");
      for (const ProductOperand *operand : {&queries, &part.keys, &part.values})
        if (operand->needsAlignedRows)
          found.conditions.addAlignedRows(tile::LoadOp(operand->load).getBuffer());
      if (part.values.isSumInnermost)
        return no("the second product's right operand has its terms innermost");
    }
    return true;
  }

  static bool isSame(const ProductOperand &a, const ProductOperand &b) {
    tile::LoadOp x = a.load, y = b.load;
    return x.getBuffer() == y.getBuffer() && x.getType() == y.getType() && a.freeDim == b.freeDim &&
           a.sumDim == b.sumDim;
  }

  bool checkExtents() {
    const AttentionPart &part = found.parts[0];
    found.tileRows = found.queries.freeExtent;
    found.rows = std::max(found.tileRows, rowsOfGroup);
    found.depth = paddedTerms(found.queries.sumExtent);
    found.terms = part.keys.freeExtent;
    found.width = part.values.freeExtent;
    if (found.rows % rowsOfGroup != 0 || found.rows > mostRows)
      return no("its block has " + Twine(found.rows) + " rows, no multiple of 64 to 192");
    for (int64_t extent : {found.queries.sumExtent, found.width})
      if (extent % extentUnit != 0 || extent > mostExtent)
        return no("rows of " + Twine(extent) + " elements, which are no multiple of 8 to 256");
    if (found.depth != found.queries.sumExtent &&
        (!endsWithBuffer(found.queries.load, found.queries.sumDim) ||
         !endsWithBuffer(part.keys.load, part.keys.sumDim)))
      return no("rows of " + Twine(found.queries.sumExtent) +
                " elements, no multiple of 16, with others behind them");
    if (found.terms > mostExtent)
      return no("a trip has " + Twine(found.terms) + " terms, more than 256");
    if (paddedTerms(found.terms) != found.terms &&
        (!endsWithBuffer(part.keys.load, part.keys.freeDim) ||
         !endsWithBuffer(part.values.load, part.values.sumDim)))
      return no("a trip has " + Twine(found.terms) + " terms, no multiple of 16");
    return true;
  }

  /// Whether a load takes all of a dimension, so that TMA brings zeros beyond it.
  static bool endsWithBuffer(tile::LoadOp load, unsigned dim) {
    auto size = tile::sizesOf(cast<tile::BufferType>(load.getBuffer().getType()))[dim].constant();
    auto type = cast<RankedTensorType>(load.getType());
    return matchPattern(load.getPositions()[dim], m_Zero()) && size == type.getDimSize(dim);
  }

  //===--- what is carried -------------------------------------------------===//

  bool checkCarried() {
    Value before;
    for (AttentionPart &part : found.parts) {
      if (part.loop && !checkLoop(part))
        return false;
      if (before ? !before.hasOneUse() : !isZero(firstSums(part)))
        return no("its sums do not begin at 0, or are used on their way");
      if (before && part.loop && part.loop.getInitial()[part.sums] != before)
        return no("its loops do not follow each other");
      before = part.sumsAfter();
    }
    return findFirst();
  }

  static Value firstSums(AttentionPart &part) {
    return part.loop ? part.loop.getInitial()[part.sums] : part.output.getAcc();
  }

  bool checkLoop(AttentionPart &part) {
    auto yielded = part.loop.getBody().front().getTerminator()->getOperands();
    auto at = llvm::find(yielded, part.output.getResult());
    if (at == yielded.end() || !part.output.getResult().hasOneUse())
      return no("its loop does not carry the second product's sums");
    part.sums = unsigned(at - yielded.begin());
    llvm::APInt step;
    if (!matchPattern(part.loop.getStep(), m_ConstantInt(&step)) || step.getSExtValue() <= 0)
      return no("how its loop goes on is not known");
    for (auto [number, initial] : llvm::enumerate(part.loop.getInitial())) {
      auto type = dyn_cast<RankedTensorType>(initial.getType());
      if (!type || !type.getElementType().isF32() ||
          (number != part.sums && (type.getNumElements() != found.tileRows ||
                                   wideDims(initial).size() != (found.tileRows > 1))))
        return no("its loop carries something else than a number for each row");
    }
    return true;
  }

  /// Which parts may have the first trip.
  bool findFirst() {
    if (!found.parts[0].loop || knownTrips(found.parts[0].loop).value_or(0) > 0)
      return true;
    llvm::APInt begin;
    if (!matchPattern(found.parts[0].loop.getBegin(), m_ConstantInt(&begin)))
      return lookForTrips();
    for (size_t i = 0; i < found.parts.size() && found.parts[i].loop; ++i) {
      if (i > 0 && !goesOn(found.parts[i].loop, found.parts[i - 1].loop))
        return no("its loops do not follow each other");
      found.firstRuns = i;
      if (lowerBound(found.parts[i].loop.getEnd()) > begin.getSExtValue())
        return true;
    }
    LaunchConditions before = found.conditions;
    if (runs(found.parts[found.firstRuns].loop.getEnd(), begin.getSExtValue()))
      return true;
    found.conditions = std::move(before);
    return lookForTrips();
  }

  /// In each program, of one loop.
  bool lookForTrips() {
    if (found.parts.size() > 1)
      return no("its loops may not run at all");
    found.mayBeEmpty = true;
    for (const ProductOperand *operand :
         {&found.queries, &found.parts[0].keys, &found.parts[0].values})
      found.conditions.addFilled(tile::LoadOp(operand->load).getBuffer());
    return true;
  }

  /// Whether a loop's end is behind `begin` in every program, if the host looks at what is known at
  /// the launch.
  bool runs(Value end, int64_t begin) {
    if (lowerBound(end) > begin)
      return true;
    if (auto least = end.getDefiningOp<arith::MinSIOp>())
      return runs(least.getLhs(), begin) && runs(least.getRhs(), begin);
    if (!isKnownAtLaunch(end))
      return false;
    found.conditions.loops.push_back({found.parts[0].loop.getBegin(), end});
    return true;
  }

  int64_t registersOf(tile::LoadOp load) {
    auto type = cast<RankedTensorType>(load.getType());
    return registersOfMask(paddedTerms(found.terms), type.getNumElements() > found.terms,
                           Emitter::bytesOf(type.getElementType()));
  }

  void findMasks() {
    auto isOperand = [&](Operation *load) {
      return load == found.queries.load || llvm::any_of(found.parts, [&](AttentionPart &part) {
               return load == part.keys.load || load == part.values.load;
             });
    };
    for (const AttentionPart &part : found.parts) { // one trip has nothing to read ahead of
      int64_t registers = 0;
      if (part.loop || found.parts.size() > 1)
        for (tile::LoadOp load : maskLoads(part))
          registers += registersOf(load);
      found.maskRegisters = std::max(found.maskRegisters, registers);
    }
    AttentionPart &last = found.parts.back();
    Operation *end = last.loop ? last.loop.getOperation() : last.output.getOperation();
    kernel.walk([&](Operation *op) { // what is read behind all trips belongs to the epilogue
      bool isBehind = op->getBlock() == end->getBlock() && end->isBeforeInBlock(op);
      found.isMasked |= isa<tile::LoadOp, tile::GatherOp>(op) && !isOperand(op) && !isBehind;
    });
  }

  /// By comparisons of places, of terms or of scores.
  void findHidden() {
    if (found.parts.size() > 1 || !found.parts[0].loop)
      return;
    for (auto compare : found.parts[0].loop.getBody().front().getOps<arith::CmpIOp>())
      if (auto type = dyn_cast<RankedTensorType>(compare.getType()))
        found.hides =
            std::max(found.hides, type.getNumElements() > found.terms ? Hides::ByRow : Hides::End);
  }

  /// How many trips each program along the last dimension has, if they differ.
  void findTrips() {
    auto dim = unsigned(kernel.getGrid().size()) - 1;
    auto count = cast<tile::SizeAttr>(kernel.getGrid()[dim]).getSize().constant();
    constexpr int64_t mostPrograms = 1 << 14;
    for (int64_t id = 0; id < std::min(count.value_or(0), mostPrograms); ++id) {
      int64_t trips = 0;
      for (AttentionPart &part : found.parts) {
        auto own = part.loop
                       ? tripsInProgram(part.loop,
                                        [&](unsigned along) {
                                          return along == dim ? std::optional(id) : std::nullopt;
                                        })
                       : std::optional<int64_t>(1);
        if (!own)
          return found.trips.clear();
        trips += *own;
      }
      found.trips.push_back(trips);
    }
    if (llvm::all_equal(found.trips) || int64_t(found.trips.size()) != count)
      found.trips.clear();
  }

  //===--- trips that are dealt --------------------------------------------===//

  void findDealing() {
    tile::ForOp loop = found.parts[0].loop;
    if (found.parts.size() != 1 || !loop || !loop.getCommutative())
      return;
    auto lastDim = unsigned(kernel.getGrid().size()) - 1;
    auto isSame = [&](ValueRange scalars) {
      return llvm::none_of(scalars, [&](Value one) { return dependsOnProgram(one, lastDim); });
    };
    auto isSameLoad = [&](tile::LoadOp load) { return isSame(load.getPositions()); };
    found.sharesOperands = isSame({loop.getBegin(), loop.getEnd()}) &&
                           isSameLoad(found.parts[0].keys.load) &&
                           isSameLoad(found.parts[0].values.load);
    found.knownTrips = knownTrips(loop);
    found.isDealable = followCombine(loop);
  }

  static bool dependsOnProgram(Value scalar, unsigned dim) {
    Operation *op = scalar.getDefiningOp();
    if (auto program = dyn_cast_or_null<tile::ProgramIdOp>(op))
      return program.getDim() == dim;
    return op &&
           llvm::any_of(op->getOperands(), [&](Value one) { return dependsOnProgram(one, dim); });
  }

  /// Whether a thread can combine what it has of two states.
  bool followCombine(tile::ForOp loop) {
    const AttentionPart &part = found.parts[0];
    Block &combine = loop.getCombine().front();
    auto rolesOf = [&](unsigned number, Value tile) {
      return number == part.sums ? Roles{Along::Rows, Along::Columns} : rowsOf(tile);
    };
    unsigned count = loop.getNumResults();
    for (BlockArgument argument : combine.getArguments())
      roles.set(argument, rolesOf(argument.getArgNumber() % count, argument));
    std::string ignored;
    for (Operation &op : combine)
      if (!isOfSingleElements(&op) ||
          (!op.hasTrait<OpTrait::IsTerminator>() && !roles.follow(&op, ignored)))
        return false;
    for (auto [number, tile] : llvm::enumerate(combine.getTerminator()->getOperands()))
      if (!roles.of(tile) || *roles.of(tile) != rolesOf(unsigned(number), tile))
        return false;
    return true;
  }

  static bool goesOn(tile::ForOp loop, tile::ForOp before) {
    return loop.getBegin() == before.getEnd() &&
           llvm::equal(loop.getInitial(), before.getResults());
  }

  //===--- what sums get to ------------------------------------------------===//

  bool followAll() { return followBlock(kernel.getBody().front()); }

  bool followLoop(const AttentionPart &part) {
    tile::ForOp loop = part.loop;
    auto set = [&](ValueRange carried) {
      for (auto [number, tile] : llvm::enumerate(carried))
        roles.set(tile, number == part.sums ? Roles{Along::Rows, Along::Columns} : rowsOf(tile));
    };
    set(loop.getCarried());
    Block &body = loop.getBody().front();
    if (!followBlock(body))
      return false;
    for (auto [number, tile] : llvm::enumerate(body.getTerminator()->getOperands()))
      if (number != part.sums && roles.of(tile) && *roles.of(tile) != rowsOf(tile))
        return no("its loop carries something else than a number for each row");
    set(loop.getResults());
    return true;
  }

  static Roles rowsOf(Value tile) {
    Roles rows(size_t(cast<RankedTensorType>(tile.getType()).getRank()), Along::Nothing);
    for (unsigned dim : wideDims(tile))
      rows[dim] = Along::Rows;
    return rows;
  }

  bool followBlock(Block &block) {
    for (Operation &op : block) {
      bool isFine = true;
      if (auto loop = dyn_cast<tile::ForOp>(op))
        isFine = followLoop(*llvm::find_if(
            found.parts, [&](const AttentionPart &part) { return part.loop == loop; }));
      else if (auto dot = dyn_cast<tile::DotOp>(op))
        isFine = followDot(dot);
      else if (auto reduce = dyn_cast<tile::ReduceOp>(op))
        isFine = checkReduce(reduce) && roles.follow(&op, why);
      else if (!op.hasTrait<OpTrait::IsTerminator>())
        isFine = roles.follow(&op, why);
      if (!isFine)
        return false;
    }
    return true;
  }

  bool followDot(tile::DotOp dot) {
    Roles ofScores = {Along::Rows, Along::Terms}, ofOutput = {Along::Rows, Along::Columns};
    bool isFirst =
        llvm::any_of(found.parts, [&](AttentionPart &part) { return part.scores == dot; });
    const Roles *left = roles.of(dot.getA()), *sums = roles.of(dot.getAcc());
    if (!isFirst && (!left || *left != ofScores || roles.of(dot.getB()) ||
                     (!isZero(dot.getAcc()) && (!sums || *sums != ofOutput))))
      return no("its second product is no sum over what the first one gives");
    roles.set(dot.getResult(), isFirst ? ofScores : ofOutput);
    return true;
  }

  bool checkReduce(tile::ReduceOp reduce) {
    return (isReductionOfSums(reduce) && roles.runsAlong(reduce.getOperand(), Along::Terms)) ||
           no("it reduces something else than its scores");
  }

  tile::KernelOp kernel;
  Attention found;
  TileRoles roles;
  std::string why;
};

} // namespace

AttentionMatch matchAttention(tile::KernelOp kernel) { return Matcher(kernel).run(); }

} // namespace tw::target::nvidia
