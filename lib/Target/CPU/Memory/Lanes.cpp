// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is known of a vector of positions while code is emitted: positions that are computed from
// coordinates (in reverse, reflected, divided by a size) are a scalar and a number for each lane,
// where the coordinates are constants, or the arithmetic is linear.
#include "Target/CPU/Emission/Emitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tw::target::cpu {

/// Strips at most whose positions are looked at.
constexpr int64_t mostStrips = 256;

std::optional<SmallVector<bool>> Emitter::constantLanes(Value mask) {
  auto elements = dyn_cast_if_present<DenseElementsAttr>(dyn_cast<Attribute>(folded(mask)));
  if (!elements || !elements.getElementType().isInteger(1))
    return std::nullopt;
  return llvm::to_vector(elements.getValues<bool>());
}

Value Emitter::sameInAll(Value mask) {
  auto folded = dyn_cast<Value>(this->folded(mask));
  return folded ? splatted(folded) : Value();
}

static BasePlusLaneOffsets sum(IndexBuilder ix, const BasePlusLaneOffsets &x,
                               const BasePlusLaneOffsets &y, bool isDifference) {
  BasePlusLaneOffsets sum{isDifference ? ix.sub(x.base, y.base) : ix.add(x.base, y.base),
                          x.offsets};
  for (auto [offset, other] : llvm::zip(sum.offsets, y.offsets))
    offset = int64_t(uint64_t(offset) + (isDifference ? -uint64_t(other) : uint64_t(other)));
  return sum;
}

static std::optional<BasePlusLaneOffsets> product(IndexBuilder ix, BasePlusLaneOffsets x,
                                                  BasePlusLaneOffsets y) {
  if (!y.isSame())
    std::swap(x, y);
  Ix factor = y.isSame() ? ix.add(y.base, y.offsets[0]) : Ix(0);
  if (!y.isSame() || !(factor.isConstant() || x.isSame()))
    return std::nullopt;
  if (!factor.isConstant())
    return BasePlusLaneOffsets{ix.mul(ix.add(x.base, x.offsets[0]), factor),
                               SmallVector<int64_t>(x.offsets.size(), 0)};
  for (int64_t &offset : x.offsets)
    offset = int64_t(uint64_t(offset) * uint64_t(*factor.constant()));
  return BasePlusLaneOffsets{ix.mul(x.base, factor), x.offsets};
}

std::optional<BasePlusLaneOffsets> Emitter::baseAndLaneOffsets(Value vector) {
  OpFoldResult known = folded(vector);
  if (auto attribute = dyn_cast<Attribute>(known)) {
    if (auto number = dyn_cast<IntegerAttr>(attribute); number && number.getType().isInteger(64))
      return BasePlusLaneOffsets{number.getInt(), SmallVector<int64_t>(lanes, 0)};
    auto elements = dyn_cast<DenseIntElementsAttr>(attribute);
    if (!elements || !elements.getElementType().isInteger(64))
      return std::nullopt;
    return BasePlusLaneOffsets{0, llvm::to_vector(elements.getValues<int64_t>())};
  }
  Value value = cast<Value>(known);
  if (!getElementTypeOrSelf(value.getType()).isInteger(64))
    return std::nullopt;
  if (!isa<VectorType>(value.getType()))
    return BasePlusLaneOffsets{Ix::of(value), SmallVector<int64_t>(lanes, 0)};
  if (Value scalar = splatted(value))
    return BasePlusLaneOffsets{Ix::of(scalar), SmallVector<int64_t>(lanes, 0)};
  Operation *op = value.getDefiningOp();
  if (!isa_and_nonnull<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op))
    return std::nullopt;
  auto x = baseAndLaneOffsets(op->getOperand(0)), y = baseAndLaneOffsets(op->getOperand(1));
  if (!x || !y)
    return std::nullopt;
  return isa<arith::MulIOp>(op) ? product(ix(), *x, *y) : sum(ix(), *x, *y, isa<arith::SubIOp>(op));
}

//===----------------------------------------------------------------------===//
// Vectors of positions
//===----------------------------------------------------------------------===//

/// The elements of a vector of i64 where `variable` is `at`, if nothing else is unknown.
static std::optional<SmallVector<int64_t>> constantElementsAt(Value vector, Value variable,
                                                              int64_t at) {
  Folding folding;
  folding.assume(variable, IntegerAttr::get(variable.getType(), at));
  auto attribute = dyn_cast<Attribute>(folding.folded(vector));
  auto elements = dyn_cast_if_present<DenseIntElementsAttr>(attribute);
  if (!elements || !elements.getElementType().isInteger(64))
    return std::nullopt;
  return llvm::to_vector(elements.getValues<int64_t>());
}

std::optional<BasePlusLaneOffsets> Emitter::positions(Value vector, const Point &point) {
  if (auto sum = baseAndLaneOffsets(vector))
    return sum;
  // In a loop over strips they may be the same in each, but for a number that grows.
  Ix at = point.lane >= 0 ? point.at[point.lane] : Ix(0);
  auto variable = dyn_cast_if_present<BlockArgument>(at.dynamic());
  auto loop = variable ? dyn_cast<scf::ForOp>(variable.getOwner()->getParentOp()) : scf::ForOp();
  auto range = ranges.ofVariable(at.dynamic());
  auto step = loop ? Ix::of(loop.getStep()).constant() : std::nullopt;
  if (!step || !range)
    return std::nullopt;
  auto [least, most] = *range;
  if (most <= least || (most - least) / *step > mostStrips)
    return std::nullopt;
  auto first = constantElementsAt(vector, variable, least),
       next = constantElementsAt(vector, variable, least + *step);
  if (!first || !next)
    return std::nullopt;
  int64_t growth = (*next)[0] - (*first)[0];
  for (int64_t from = least + *step; from <= most; from += *step) {
    next = constantElementsAt(vector, variable, from);
    int64_t grown = (from - least) / *step * growth;
    if (!next || !llvm::all_of(llvm::zip(*first, *next), [&](auto pair) {
          return std::get<1>(pair) - std::get<0>(pair) == grown;
        }))
      return std::nullopt;
  }
  Ix trips = ix().sub(at, least);
  trips = growth % *step == 0 ? ix().mul(trips, growth / *step)
                              : ix().mul(ix().div(trips, *step), growth);
  return BasePlusLaneOffsets{trips, *first};
}

} // namespace tw::target::cpu
