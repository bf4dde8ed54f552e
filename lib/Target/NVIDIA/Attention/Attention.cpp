// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/NVIDIA/Attention/Attention.h"
#include "IR/Tile/Elementwise.h"
#include "Target/NVIDIA/Emission/Emitter.h"
#include "Target/NVIDIA/Product/TileRoles.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tw::target::nvidia {

int64_t paddedTerms(int64_t terms) { return (terms + 15) / 16 * 16; }

SmallVector<unsigned, 4> wideDims(Value tile) {
  SmallVector<unsigned, 4> dims;
  for (auto [d, extent] : llvm::enumerate(cast<RankedTensorType>(tile.getType()).getShape()))
    if (extent != 1)
      dims.push_back(unsigned(d));
  return dims;
}

namespace {

constexpr int64_t rowsOfGroup = 64, mostRows = 192, mostExtent = 256, extentUnit = 16;

/// A number that a scalar of index type is not below; programs and sizes are not negative.
int64_t lowerBound(Value value) {
  constexpr int64_t none = std::numeric_limits<int32_t>::min();
  llvm::APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constant.getSExtValue();
  Operation *op = value.getDefiningOp();
  if (!op)
    return none;
  SmallVector<int64_t> x;
  for (Value operand : op->getOperands())
    x.push_back(operand.getType().isIndex() ? lowerBound(operand) : none);
  return llvm::TypeSwitch<Operation *, int64_t>(op)
      .Case<tile::ProgramIdOp, tile::SizeOp>([](auto) { return int64_t(0); })
      .Case([&](arith::AddIOp) { return x[0] == none || x[1] == none ? none : x[0] + x[1]; })
      .Case([&](arith::MulIOp) { return x[0] < 0 || x[1] < 0 ? none : x[0] * x[1]; })
      .Case([&](arith::MinSIOp) { return std::min(x[0], x[1]); })
      .Case([&](arith::MaxSIOp) { return std::max(x[0], x[1]); })
      .Case([&](arith::SelectOp) { return std::min(x[1], x[2]); })
      .Case([&](arith::DivSIOp o) {
        bool isKnown = matchPattern(o.getRhs(), m_ConstantInt(&constant));
        return isKnown && x[0] >= 0 && constant.getSExtValue() > 0 ? x[0] / constant.getSExtValue()
                                                                   : none;
      })
      .Default([&](Operation *) { return none; });
}

class Matcher {
public:
  explicit Matcher(tile::KernelOp kernel) : kernel(kernel) {}

  AttentionMatch run() {
    AttentionMatch match;
    if (findParts() && findOperands() && checkExtents() && checkLoops() && followAll() &&
        roles.findStores(kernel, found.stores, why) && readsNoResult(kernel, why))
      match.attention = std::move(found);
    match.why = std::move(why);
    return match;
  }

private:
  bool no(const Twine &reason) {
    why = reason.str();
    return false;
  }

  //===--- loops and dots --------------------------------------------------===//

  bool findParts() {
    Block &top = kernel.getBody().front();
    for (auto loop : top.getOps<tile::ForOp>())
      found.parts.push_back({loop, &loop.getBody().front(), {}, {}, {}, {}});
    if (found.parts.empty())
      found.parts.push_back({{}, &top, {}, {}, {}, {}});
    bool hasLoops = found.parts[0].loop != nullptr;
    if (!checkOperations(top, !hasLoops))
      return false;
    for (AttentionPart &part : found.parts)
      if ((hasLoops && !checkOperations(*part.block, true)) || !findDots(part))
        return false;
    return true;
  }

  bool checkOperations(Block &block, bool hasDots) {
    for (Operation &op : block) {
      bool isPart = hasDots && isa<tile::DotOp, tile::ReduceOp>(op);
      bool isPure = Emitter::isScalar(&op) || tile::isElementwise(&op) ||
                    isa<tile::LoadOp, tile::GatherOp, tile::FullOp, tile::IotaOp, tile::BroadcastOp,
                        tile::ReshapeOp, tile::TransposeOp, tile::SliceOp>(op);
      bool isTop = block.getParentOp() == kernel && isa<tile::StoreOp, tile::ForOp>(op);
      if (!isPart && !isPure && !isTop && !op.hasTrait<OpTrait::IsTerminator>())
        return no("it has " + op.getName().getStringRef() + " beside its dots");
    }
    return true;
  }

  bool findDots(AttentionPart &part) {
    SmallVector<tile::DotOp> dots(part.block->getOps<tile::DotOp>());
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
    bool isStraight = !part.loop;
    if (!isZero(part.scores.getAcc()) || (isStraight && !isZero(part.output.getAcc())))
      return no("its sums do not begin at 0");
    return true;
  }

  static bool isZero(Value tile) {
    auto full = tile.getDefiningOp<tile::FullOp>();
    return full && matchPattern(full.getValue(), m_AnyZeroFloat());
  }

  //===--- operands --------------------------------------------------------===//

  bool findOperands() {
    AttentionPart &first = found.parts[0];
    if (!findOperand(first.scores.getA(), 0, found.queries, why))
      return false;
    if (found.queries.load->getParentOp() != kernel)
      return no("the first product's left operand changes from trip to trip");
    for (AttentionPart &part : found.parts) {
      ProductOperand queries;
      if (!findOperand(part.scores.getA(), 0, queries, why) ||
          !findOperand(part.scores.getB(), 1, part.keys, why) ||
          !findOperand(part.output.getB(), 1, part.values, why))
        return false;
      if (queries.load != found.queries.load || queries.freeDim != found.queries.freeDim ||
          !isSame(part.keys, first.keys) || !isSame(part.values, first.values))
        return no("its loops have different operands");
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
    found.rows = found.queries.freeExtent;
    found.depth = found.queries.sumExtent;
    found.terms = part.keys.freeExtent;
    found.width = part.values.freeExtent;
    if (found.rows % rowsOfGroup != 0 || found.rows > mostRows)
      return no("its block has " + Twine(found.rows) + " rows, no multiple of 64 to 192");
    for (int64_t extent : {found.depth, found.width})
      if (extent % extentUnit != 0 || extent > mostExtent)
        return no("rows of " + Twine(extent) + " elements, which are no multiple of 16 to 256");
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

  bool checkLoops() {
    if (!found.parts[0].loop)
      return true;
    for (size_t i = 0; i < found.parts.size(); ++i) {
      tile::ForOp loop = found.parts[i].loop;
      auto yielded = loop.getBody().front().getTerminator()->getOperands();
      auto at = llvm::find(yielded, found.parts[i].output.getResult());
      auto number = unsigned(at - yielded.begin());
      if (at == yielded.end() || !found.parts[i].output.getResult().hasOneUse() ||
          (i > 0 && number != found.sums))
        return no("its loop does not carry the second product's sums");
      found.sums = number;
      if (!checkStep(i) || !checkCarried(i))
        return false;
    }
    return true;
  }

  bool checkStep(size_t i) {
    tile::ForOp loop = found.parts[i].loop;
    llvm::APInt step, begin;
    if (!matchPattern(loop.getStep(), m_ConstantInt(&step)) || step.getSExtValue() <= 0)
      return no("how its loop goes on is not known");
    if (i > 0 && loop.getBegin() != found.parts[i - 1].loop.getEnd())
      return no("its loops do not follow each other");
    tile::ForOp first = found.parts[0].loop;
    if (i + 1 == found.parts.size() && (!matchPattern(first.getBegin(), m_ConstantInt(&begin)) ||
                                        lowerBound(loop.getEnd()) <= begin.getSExtValue()))
      return no("its loop may not run at all");
    return true;
  }

  bool checkCarried(size_t i) {
    tile::ForOp loop = found.parts[i].loop;
    for (auto [number, initial] : llvm::enumerate(loop.getInitial())) {
      auto type = dyn_cast<RankedTensorType>(initial.getType());
      bool isSums = number == found.sums;
      if (!type || !type.getElementType().isF32() ||
          (!isSums && (type.getNumElements() != found.rows || wideDims(initial).size() != 1)))
        return no("its loop carries something else than a number for each row");
      if (i > 0 && initial != found.parts[i - 1].loop.getResult(unsigned(number)))
        return no("its loops do not follow each other");
      if (i == 0 && isSums && !isZero(initial))
        return no("its sums do not begin at 0");
    }
    return true;
  }

  //===--- what sums get to ------------------------------------------------===//

  bool followAll() {
    if (!found.parts[0].loop)
      return followPart(found.parts[0]);
    for (AttentionPart &part : found.parts) {
      auto set = [&](ValueRange carried) {
        for (auto [number, tile] : llvm::enumerate(carried))
          roles.set(tile, number == found.sums ? Roles{Along::Rows, Along::Columns} : rowsOf(tile));
      };
      set(part.loop.getCarried());
      if (!followPart(part))
        return false;
      for (auto [number, tile] : llvm::enumerate(part.block->getTerminator()->getOperands()))
        if (number != found.sums && roles.of(tile) && *roles.of(tile) != rowsOf(tile))
          return no("its loop carries something else than a number for each row");
      set(part.loop.getResults());
    }
    for (Operation &op : kernel.getBody().front())
      if (!isa<tile::ForOp>(op) && !roles.follow(&op, why))
        return false;
    return true;
  }

  static Roles rowsOf(Value tile) {
    Roles rows(size_t(cast<RankedTensorType>(tile.getType()).getRank()), Along::Nothing);
    for (unsigned dim : wideDims(tile))
      rows[dim] = Along::Rows;
    return rows;
  }

  bool followPart(AttentionPart &part) {
    Roles ofScores = {Along::Rows, Along::Terms}, ofOutput = {Along::Rows, Along::Columns};
    for (Operation &op : *part.block) {
      if (op.hasTrait<OpTrait::IsTerminator>())
        continue;
      if (&op == part.scores) {
        roles.set(part.scores.getResult(), ofScores);
      } else if (&op == part.output) {
        const Roles *left = roles.of(part.output.getA()), *sums = roles.of(part.output.getAcc());
        if (!left || *left != ofScores || roles.of(part.output.getB()) ||
            (part.loop && (!sums || *sums != ofOutput)))
          return no("its second product is no sum over what the first one gives");
        roles.set(part.output.getResult(), ofOutput);
      } else if (auto reduce = dyn_cast<tile::ReduceOp>(op); reduce && !checkReduce(reduce)) {
        return false;
      } else if (!roles.follow(&op, why)) {
        return false;
      }
    }
    return true;
  }

  bool checkReduce(tile::ReduceOp reduce) {
    bool isKnown = llvm::is_contained(
        {tile::ReduceKind::Sum, tile::ReduceKind::Max, tile::ReduceKind::Min}, reduce.getKind());
    return (isKnown && roles.runsAlong(reduce.getOperand(), Along::Terms) &&
            reduce.getOperand().getType().getElementType().isF32()) ||
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
