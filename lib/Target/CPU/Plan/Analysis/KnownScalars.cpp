// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/CPU/Plan/Analysis/KnownScalars.h"
#include "IR/Tile/Elementwise.h"
#include "Support/Checked.h"
#include "Target/CPU/Plan/Analysis/Expressions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tw::target::cpu {
namespace {

/// Operations that are looked through, one behind the other.
constexpr int deepest = 8;

/// What is emitted for `op`: where a divisor is 0, a division by 1, and the result is 0
/// (Common/Operations/Elementwise.cpp).
std::optional<Range> emittedRange(Operation *op, const Range &a, const Range &b) {
  if (!isa<arith::DivUIOp, arith::DivSIOp, arith::RemUIOp, arith::RemSIOp>(op))
    return rangeOf(op, a, b);
  auto range = rangeOf(op, a, unionOf(b, {1, 1}));
  return range ? std::optional(unionOf(*range, {0, 0})) : std::nullopt;
}

std::optional<Range> only(int64_t number) { return Range::of(number, number); }

bool isIndexLike(Type type) { return type.isIndex() || type.isInteger(64); }

/// The value that a loop of at most one trip hands on as `value`: an initial value, or what the
/// trip yields; null for others.
Value handedOn(Value value, llvm::function_ref<std::optional<int64_t>(tile::ForOp)> tripCount) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<tile::ForOp>(argument.getOwner()->getParentOp());
    bool isOnce = loop && argument.getArgNumber() > 0 && tripCount(loop) == 1;
    return isOnce ? loop.getInitial()[argument.getArgNumber() - 1] : Value();
  }
  auto loop = value.getDefiningOp<tile::ForOp>();
  auto trips = loop ? tripCount(loop) : std::nullopt;
  if (!trips || *trips > 1)
    return {};
  unsigned number = cast<OpResult>(value).getResultNumber();
  return *trips == 0 ? loop.getInitial()[number]
                     : loop.getBody().front().getTerminator()->getOperand(number);
}

} // namespace

std::optional<int64_t> KnownScalars::tripCount(tile::ForOp loop) const {
  if (auto trips = loop.constantTripCount())
    return trips;
  auto begin = constant(loop.getBegin()), end = constant(loop.getEnd()),
       step = constant(loop.getStep());
  if (!begin || !end || !step)
    return std::nullopt;
  uint64_t trips = tw::tripCount(*begin, *end, *step);
  return trips <= INT64_MAX ? std::optional(int64_t(trips)) : std::nullopt;
}

Attribute KnownScalars::known(Value scalar) const {
  if (auto found = values.find(scalar); found != values.end())
    return found->second;
  return values[scalar] = computed(scalar);
}

Attribute KnownScalars::computed(Value value) const {
  Attribute attribute;
  if (matchPattern(value, m_Constant(&attribute)))
    return attribute;
  auto number = [&](int64_t n) { return IntegerAttr::get(IndexType::get(value.getContext()), n); };
  if (Value same = handedOn(value, [&](tile::ForOp loop) { return tripCount(loop); }))
    return known(same);
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<tile::ForOp>(argument.getOwner()->getParentOp());
    bool isOnce = loop && argument == loop.getInductionVar() && tripCount(loop) == 1;
    return isOnce ? known(loop.getBegin()) : Attribute();
  }
  Operation *op = value.getDefiningOp();
  if (auto id = dyn_cast<tile::ProgramIdOp>(op)) {
    auto programs = cast<tile::SizeAttr>(grid[id.getDim()]).getSize().constant();
    // The number along the first dimension is what the loop over blocks counts.
    return id.getDim() > 0 && programs == 1 ? number(0) : Attribute();
  }
  if (auto size = dyn_cast<tile::SizeOp>(op)) {
    auto constant = size.getSize().getSize().constant();
    return constant ? number(*constant) : Attribute();
  }
  if (auto extract = dyn_cast<tile::ExtractOp>(op))
    return onlyElement(extract.getOperand());
  bool isScalar = op->getNumResults() == 1 && op->getNumRegions() == 0 && tile::isElementwise(op) &&
                  llvm::none_of(op->getOperandTypes(), llvm::IsaPred<RankedTensorType>);
  if (!isScalar)
    return {};
  SmallVector<Attribute> operands;
  for (Value operand : op->getOperands())
    operands.push_back(known(operand));
  return foldedTo(op, operands);
}

Attribute KnownScalars::onlyElement(Value tile) const {
  Operation *op = tile.getDefiningOp();
  while (isa_and_present<tile::BroadcastOp, tile::ReshapeOp, tile::TransposeOp>(op))
    op = op->getOperand(0).getDefiningOp();
  if (auto full = dyn_cast_if_present<tile::FullOp>(op))
    return known(full.getValue());
  auto iota = dyn_cast_if_present<tile::IotaOp>(op);
  return iota && isIndexLike(iota.getType().getElementType()) ? known(iota.getStart())
                                                              : Attribute();
}

Attribute KnownScalars::foldedTo(Operation *op, ArrayRef<Attribute> operands) const {
  Operation *copy = op->clone(); // folding may change it
  SmallVector<OpFoldResult> results;
  Attribute result;
  if (succeeded(copy->fold(operands, results)) && results.size() == 1) {
    result = dyn_cast<Attribute>(results[0]);
    if (auto other = dyn_cast<Value>(results[0]); other && other != copy->getResult(0))
      result = isa<RankedTensorType>(other.getType()) ? Attribute() : known(other);
  }
  copy->destroy();
  return result;
}

std::optional<int64_t> KnownScalars::constant(Value scalar) const {
  auto number = dyn_cast_if_present<IntegerAttr>(known(scalar));
  return number ? std::optional(number.getValue().getSExtValue()) : std::nullopt;
}

std::optional<Range> KnownScalars::rangeOfVariable(tile::ForOp loop, int depth) const {
  auto trips = tripCount(loop);
  auto begin = range(loop.getBegin(), {}, depth + 1), step = range(loop.getStep(), {}, depth + 2);
  if (!trips || *trips < 2 || !begin || !step)
    return std::nullopt;
  auto distance = product({0, *trips - 1}, *step);
  return distance ? sum(*begin, *distance) : std::nullopt;
}

std::optional<Range> KnownScalars::range(Value value, std::optional<bool> atEnd, int depth) const {
  Operation *op = value.getDefiningOp();
  if (isa<RankedTensorType>(value.getType()) && !(op && tile::isElementwise(op)))
    return rangeOfTile(value, atEnd.value_or(false), depth);
  if (!isa<RankedTensorType>(value.getType())) {
    if (auto number = constant(value))
      return only(*number);
    if (Value same = handedOn(value, [&](tile::ForOp loop) { return tripCount(loop); }))
      return range(same, atEnd, depth);
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      auto loop = dyn_cast<tile::ForOp>(argument.getOwner()->getParentOp());
      return loop && argument == loop.getInductionVar() ? rangeOfVariable(loop, depth)
                                                        : std::nullopt;
    }
  }
  if (auto id = dyn_cast<tile::ProgramIdOp>(op)) {
    auto programs = cast<tile::SizeAttr>(grid[id.getDim()]).getSize().constant();
    return programs ? std::optional(Range{0, *programs - 1}) : std::nullopt;
  }
  if (auto extract = dyn_cast<tile::ExtractOp>(op))
    return range(extract.getOperand(), /*atEnd=*/false, depth);
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp>(op) &&
      isIndexLike(getElementTypeOrSelf(op->getOperand(0).getType())) &&
      isIndexLike(getElementTypeOrSelf(value.getType())))
    return range(op->getOperand(0), atEnd, depth);
  if (op->getNumOperands() < 2 || depth > deepest || !tile::isElementwise(op))
    return std::nullopt;
  unsigned first = isa<arith::SelectOp>(op) ? 1 : 0;
  auto a = range(op->getOperand(first), atEnd, depth + 1),
       b = range(op->getOperand(first + 1), atEnd, depth + 1);
  return a && b ? emittedRange(op, *a, *b) : std::nullopt;
}

std::optional<Range> KnownScalars::rangeOfTile(Value tile, bool atEnd, int depth) const {
  Operation *op = tile.getDefiningOp();
  if (auto full = dyn_cast_if_present<tile::FullOp>(op))
    return range(full.getValue(), {}, depth);
  if (isa_and_present<tile::BroadcastOp, tile::ReshapeOp, tile::TransposeOp>(op))
    return range(op->getOperand(0), atEnd, depth);
  auto iota = dyn_cast_if_present<tile::IotaOp>(op);
  auto extent = iota ? extentsOf(tile)[iota.getDim()].constant() : std::nullopt;
  if (!iota || !isIndexLike(iota.getType().getElementType()) || (atEnd && !extent))
    return std::nullopt;
  int64_t at = atEnd ? *extent - 1 : 0;
  if (at == 0)
    return range(iota.getStart(), {}, depth);
  auto start = range(iota.getStart(), {}, depth + 1);
  return start ? sum(*start, {at, at}) : std::nullopt;
}

} // namespace tw::target::cpu
