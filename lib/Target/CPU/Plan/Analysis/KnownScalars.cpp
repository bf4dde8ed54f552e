// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/CPU/Plan/Analysis/KnownScalars.h"
#include "IR/Tile/Elementwise.h"
#include "Support/Checked.h"
#include "Target/CPU/Plan/Analysis/Expressions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tw::target::cpu {
namespace {

/// Far from where sums and products of two numbers would overflow.
constexpr int64_t mostKnown = int64_t(1) << 30;
/// Operations that are looked through, one behind the other.
constexpr int deepest = 8;

std::optional<Range> spanOf(int64_t a, int64_t b, int64_t c, int64_t d) {
  Range range{std::min({a, b, c, d}), std::max({a, b, c, d})};
  bool isSmall = range.least >= -mostKnown && range.most <= mostKnown;
  return isSmall ? std::optional(range) : std::nullopt;
}

std::optional<Range> only(int64_t number) { return spanOf(number, number, number, number); }

std::optional<Range> sum(const Range &a, const Range &b) {
  return spanOf(a.least + b.least, a.most + b.most, a.least + b.least, a.most + b.most);
}

std::optional<Range> product(const Range &a, const Range &b) {
  return spanOf(a.least * b.least, a.least * b.most, a.most * b.least, a.most * b.most);
}

Range unionOf(const Range &a, const Range &b) {
  return {std::min(a.least, b.least), std::max(a.most, b.most)};
}

/// What is computed of two numbers. Where the divisor is 0, a division by 1 is made instead, and
/// the result is 0 (Common/Operations/Elementwise.cpp).
std::optional<Range> rangeOf(Operation *op, const Range &a, const Range &b) {
  Range divisor = unionOf(b, {1, 1});
  bool isPlain = a.least >= 0 && divisor.least >= 1;
  return llvm::TypeSwitch<Operation *, std::optional<Range>>(op)
      .Case([&](arith::AddIOp) { return sum(a, b); })
      .Case([&](arith::SubIOp) { return sum(a, {-b.most, -b.least}); })
      .Case([&](arith::MulIOp) { return product(a, b); })
      .Case([&](arith::MinSIOp) {
        return Range{std::min(a.least, b.least), std::min(a.most, b.most)};
      })
      .Case([&](arith::MaxSIOp) {
        return Range{std::max(a.least, b.least), std::max(a.most, b.most)};
      })
      .Case([&](arith::SelectOp) { return unionOf(a, b); })
      .Case<arith::DivUIOp, arith::DivSIOp>([&](Operation *) {
        return isPlain ? std::optional(
                             unionOf({0, 0}, {a.least / divisor.most, a.most / divisor.least}))
                       : std::nullopt;
      })
      .Case<arith::RemUIOp, arith::RemSIOp>([&](Operation *) {
        return isPlain ? std::optional(Range{0, std::min(a.most, divisor.most - 1)}) : std::nullopt;
      })
      .Default([](Operation *) { return std::nullopt; });
}

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
  return a && b ? rangeOf(op, *a, *b) : std::nullopt;
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

std::optional<bool> KnownScalars::staysInside(std::optional<Range> first, int64_t span,
                                              const Size &size) {
  auto bound = size.constant();
  if (!first || !bound || span < 0)
    return std::nullopt;
  if (first->least >= 0 && first->most + span < *bound)
    return true;
  if (first->most < 0 || first->least + span >= *bound)
    return false;
  return std::nullopt;
}

} // namespace tw::target::cpu
