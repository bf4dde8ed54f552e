// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is known of a vector of positions while code is emitted: positions that are computed from
// coordinates (in reverse, reflected, divided by a size) are a scalar and a number for each lane,
// where the coordinates are constants, or the arithmetic is linear.
#include "IR/Tile/Elementwise.h"
#include "Target/CPU/Emitter.h"
#include "Target/CPU/Shapes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace tw::target::cpu {

/// Places at most where a loop over strips is cut because of positions.
constexpr size_t mostCuts = 8;
/// Strips at most whose positions are looked at.
constexpr int64_t mostStrips = 256;

/// MLIR compares vectors of integers, not of floats.
static Attribute comparedFloats(arith::CmpFOp op, ArrayRef<Attribute> operands) {
  auto x = dyn_cast_if_present<DenseFPElementsAttr>(operands[0]),
       y = dyn_cast_if_present<DenseFPElementsAttr>(operands[1]);
  if (!x || !y)
    return {};
  SmallVector<bool> holds;
  for (auto [a, b] : llvm::zip(x.getValues<APFloat>(), y.getValues<APFloat>()))
    holds.push_back(arith::applyCmpPredicate(op.getPredicate(), a, b));
  return DenseElementsAttr::get(cast<VectorType>(op.getType()), ArrayRef(holds));
}

OpFoldResult Emitter::folded(Value value) {
  if (auto found = foldedValues.find(value); found != foldedValues.end())
    return found->second;
  Operation *op = value.getDefiningOp();
  OpFoldResult result = value;
  Attribute attribute;
  if (matchPattern(value, m_Constant(&attribute))) {
    result = attribute;
  } else if (op && op->getNumResults() == 1 && op->getNumRegions() == 0 &&
             isa<arith::ArithDialect, math::MathDialect>(op->getDialect())) {
    SmallVector<Attribute> operands;
    for (Value operand : op->getOperands())
      operands.push_back(dyn_cast<Attribute>(folded(operand)));
    SmallVector<OpFoldResult> results;
    auto compare = dyn_cast<arith::CmpFOp>(op);
    if (Attribute holds = compare ? comparedFloats(compare, operands) : Attribute())
      result = holds;
    else if (succeeded(op->fold(operands, results)) && results.size() == 1) {
      auto other = dyn_cast<Value>(results[0]);
      result = other && other != value ? folded(other) : results[0];
    }
  }
  foldedValues[value] = result;
  return result;
}

std::optional<SmallVector<bool>> Emitter::constantLanes(Value mask) {
  auto elements = dyn_cast_if_present<DenseElementsAttr>(dyn_cast<Attribute>(folded(mask)));
  if (!elements || !elements.getElementType().isInteger(1))
    return std::nullopt;
  return llvm::to_vector(elements.getValues<bool>());
}

/// The scalar that all lanes hold.
static Value splatted(Value vector) {
  auto shuffle = vector.getDefiningOp<LLVM::ShuffleVectorOp>();
  auto insert =
      shuffle ? shuffle.getV1().getDefiningOp<LLVM::InsertElementOp>() : LLVM::InsertElementOp();
  bool isFirst = insert && matchPattern(insert.getPosition(), m_Zero()) &&
                 llvm::all_of(shuffle.getMask(), [](int32_t from) { return from == 0; });
  return isFirst ? insert.getValue() : Value();
}

Value Emitter::sameInAll(Value mask) {
  auto folded = dyn_cast<Value>(this->folded(mask));
  return folded ? splatted(folded) : Value();
}

static LaneSum sum(IndexBuilder ix, const LaneSum &x, const LaneSum &y, bool isDifference) {
  LaneSum sum{isDifference ? ix.sub(x.base, y.base) : ix.add(x.base, y.base), x.offsets};
  for (auto [offset, other] : llvm::zip(sum.offsets, y.offsets))
    offset = int64_t(uint64_t(offset) + (isDifference ? -uint64_t(other) : uint64_t(other)));
  return sum;
}

static std::optional<LaneSum> product(IndexBuilder ix, LaneSum x, LaneSum y) {
  if (!y.isSame())
    std::swap(x, y);
  Ix factor = y.isSame() ? ix.add(y.base, y.offsets[0]) : Ix(0);
  if (!y.isSame() || !(factor.isConstant() || x.isSame()))
    return std::nullopt;
  if (!factor.isConstant())
    return LaneSum{ix.mul(ix.add(x.base, x.offsets[0]), factor),
                   SmallVector<int64_t>(x.offsets.size(), 0)};
  for (int64_t &offset : x.offsets)
    offset = int64_t(uint64_t(offset) * uint64_t(*factor.constant()));
  return LaneSum{ix.mul(x.base, factor), x.offsets};
}

std::optional<LaneSum> Emitter::laneSum(Value vector) {
  OpFoldResult known = folded(vector);
  if (auto attribute = dyn_cast<Attribute>(known)) {
    if (auto number = dyn_cast<IntegerAttr>(attribute); number && number.getType().isInteger(64))
      return LaneSum{number.getInt(), SmallVector<int64_t>(lanes, 0)};
    auto elements = dyn_cast<DenseIntElementsAttr>(attribute);
    if (!elements || !elements.getElementType().isInteger(64))
      return std::nullopt;
    return LaneSum{0, llvm::to_vector(elements.getValues<int64_t>())};
  }
  Value value = cast<Value>(known);
  if (!getElementTypeOrSelf(value.getType()).isInteger(64))
    return std::nullopt;
  if (!isa<VectorType>(value.getType()))
    return LaneSum{Ix::of(value), SmallVector<int64_t>(lanes, 0)};
  if (Value scalar = splatted(value))
    return LaneSum{Ix::of(scalar), SmallVector<int64_t>(lanes, 0)};
  Operation *op = value.getDefiningOp();
  if (!isa_and_nonnull<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op))
    return std::nullopt;
  auto x = laneSum(op->getOperand(0)), y = laneSum(op->getOperand(1));
  if (!x || !y)
    return std::nullopt;
  return isa<arith::MulIOp>(op) ? product(ix(), *x, *y) : sum(ix(), *x, *y, isa<arith::SubIOp>(op));
}

//===----------------------------------------------------------------------===//
// Tiles of positions
//===----------------------------------------------------------------------===//

bool Emitter::isComputed(Value tile, bool fromConstants) {
  constexpr size_t mostOperations = 64;
  llvm::DenseSet<Value> seen;
  SmallVector<Value> rest = {tile};
  while (!rest.empty()) {
    Value value = rest.pop_back_val();
    if (!isa<RankedTensorType>(value.getType())) {
      if (fromConstants && !matchPattern(value, m_Constant()))
        return false;
      continue;
    }
    if (!seen.insert(value).second)
      continue;
    Operation *op = value.getDefiningOp();
    if (!op || isPlaced(value) || seen.size() > mostOperations ||
        !(tile::isElementwise(op) || isa<tile::IotaOp, tile::FullOp, tile::BroadcastOp,
                                         tile::ReshapeOp, tile::TransposeOp, tile::SliceOp>(op)))
      return false;
    llvm::append_range(rest, op->getOperands());
  }
  return true;
}

std::optional<SmallVector<int64_t>> Emitter::numbersAt(Value tile, Point point, int64_t at) {
  Block scratch;
  std::optional<SmallVector<int64_t>> numbers;
  {
    OpBuilder::InsertionGuard guard(b);
    llvm::SaveAndRestore before(known, decltype(known)());
    llvm::SaveAndRestore all(mask, Value());
    b.setInsertionPointToStart(&scratch);
    point.at[point.lane] = at;
    FailureOr<Value> value = evaluate(tile, point);
    if (auto sum = succeeded(value) ? laneSum(*value) : std::nullopt; sum && sum->base.isConstant())
      numbers = sum->numbers();
  }
  foldedValues.clear(); // some were of what goes now
  return numbers;
}

std::optional<LaneSum> Emitter::positions(Value tile, const Point &point, Value evaluated) {
  if (auto sum = laneSum(evaluated))
    return sum;
  // In a loop over strips they may be the same in each, but for a number that grows.
  Ix at = point.lane >= 0 ? point.at[point.lane] : Ix(0);
  auto variable = dyn_cast_if_present<BlockArgument>(at.dynamic());
  auto loop = variable ? dyn_cast<scf::ForOp>(variable.getOwner()->getParentOp()) : scf::ForOp();
  auto range = ranges.ofVariable(at.dynamic());
  auto step = loop ? Ix::of(loop.getStep()).constant() : std::nullopt;
  if (!step || !range || !isComputed(tile))
    return std::nullopt;
  auto [least, most] = *range;
  if (most <= least || (most - least) / *step > mostStrips)
    return std::nullopt;
  auto first = numbersAt(tile, point, least), next = numbersAt(tile, point, least + *step);
  if (!first || !next)
    return std::nullopt;
  int64_t growth = (*next)[0] - (*first)[0];
  for (int64_t from = least + *step; from <= most; from += *step) {
    next = numbersAt(tile, point, from);
    int64_t grown = (from - least) / *step * growth;
    if (!next || !llvm::all_of(llvm::zip(*first, *next), [&](auto pair) {
          return std::get<1>(pair) - std::get<0>(pair) == grown;
        }))
      return std::nullopt;
  }
  Ix trips = ix().sub(at, least);
  trips = growth % *step == 0 ? ix().mul(trips, growth / *step)
                              : ix().mul(ix().div(trips, *step), growth);
  return LaneSum{trips, *first};
}

namespace {

/// A tile of positions that is read where vectors lie along dimension `lane` of it.
struct PositionTile {
  Value tile;
  int lane;
};

/// All behind `tile`, where vectors lie along its dimension `lane`.
SmallVector<PositionTile> positionTiles(Emitter &e, Value tile, int lane) {
  SmallVector<PositionTile> found;
  std::set<std::pair<void *, int>> seen;
  SmallVector<PositionTile> rest = {{tile, lane}};
  while (!rest.empty()) {
    auto [value, along] = rest.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (!op || along < 0 || e.isPlaced(value) || !isa<RankedTensorType>(value.getType()) ||
        !seen.insert({value.getAsOpaquePointer(), along}).second)
      continue;
    if (auto load = dyn_cast<tile::LoadOp>(op)) {
      if (Value position = load.getPositions()[along]; isa<RankedTensorType>(position.getType()))
        found.push_back({position, 0});
    } else if (auto gather = dyn_cast<tile::GatherOp>(op)) {
      for (Value position : gather.getPositions())
        found.push_back({position, along});
    } else if (tile::isElementwise(op)) {
      for (Value operand : op->getOperands())
        rest.push_back({operand, along});
    } else if (auto source = sourceLane(op, along); source && !isa<tile::SliceOp>(op)) {
      rest.push_back({op->getOperand(0), *source});
    }
  }
  return found;
}

} // namespace

bool Emitter::readsAtComputed(Value tile, int lane) {
  return llvm::any_of(positionTiles(*this, tile, lane),
                      [&](const PositionTile &one) { return isComputed(one.tile); });
}

bool Emitter::hasKnownEdges(Value tile) const {
  return anyBehind(tile, [&](Operation *op) {
    auto load = dyn_cast<tile::LoadOp>(op);
    for (unsigned d = 0; load && d < load.getPositions().size(); ++d)
      if (matchPattern(load.getPositions()[d], m_Constant()) && !inside.contains({op, d}))
        return true;
    return false;
  });
}

SmallVector<int64_t> Emitter::cutsFor(Value tile, const Domain &domain) {
  SmallVector<int64_t> cuts;
  auto extent = domain.lane >= 0 ? domain.extents[domain.lane].constant() : std::nullopt;
  int64_t width = domain.lanes, strips = domain.isUnrolled ? 0 : extent.value_or(0) / width;
  if (width == 1 || strips < 2)
    return cuts;
  if (hasKnownEdges(tile))
    cuts = {width, (strips - 1) * width};
  llvm::SaveAndRestore wide(lanes, domain.lanes);
  for (auto [positions, lane] : positionTiles(*this, tile, domain.lane)) {
    if (strips > mostStrips || !isComputed(positions))
      continue;
    Point point{Indices(cast<RankedTensorType>(positions.getType()).getRank(), Ix(0)), lane, 1};
    SmallVector<int64_t> own;
    std::optional<SmallVector<int64_t>> before;
    std::optional<int64_t> growth;
    for (int64_t strip = 0; strip < strips; ++strip) {
      auto numbers = numbersAt(positions, point, strip * width);
      if (!numbers) {
        own.clear();
        break;
      }
      if (before) {
        int64_t grown = (*numbers)[0] - (*before)[0];
        bool isSame = llvm::all_of(llvm::zip(*before, *numbers), [&](auto pair) {
          return std::get<1>(pair) - std::get<0>(pair) == grown;
        });
        if (!isSame || (growth && *growth != grown)) {
          own.push_back(strip * width);
          growth.reset();
        } else {
          growth = grown;
        }
      }
      before = std::move(numbers);
    }
    if (own.size() <= mostCuts)
      llvm::append_range(cuts, own);
  }
  llvm::sort(cuts);
  cuts.erase(llvm::unique(cuts), cuts.end());
  return cuts;
}

} // namespace tw::target::cpu
