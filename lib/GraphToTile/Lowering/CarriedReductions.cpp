// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "GraphToTile/Lowering/CarriedReductions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include <limits>

using namespace mlir;

namespace tw::conversion {

using tile::ReduceKind;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// How two values of a kind become one, and the value of no elements.
struct KindRow {
  ReduceKind kind;
  StringRef onFloat, onInteger;
  double neutral;
};
constexpr KindRow rows[] = {
    {ReduceKind::Sum, "arith.addf", "arith.addi", 0},
    {ReduceKind::Prod, "arith.mulf", "arith.muli", 1},
    {ReduceKind::Max, "arith.maximumf", "arith.maxsi", -infinity},
    {ReduceKind::Min, "arith.minimumf", "arith.minsi", infinity},
    {ReduceKind::And, "", "arith.andi", 1},
    {ReduceKind::Or, "", "arith.ori", 0},
};

const KindRow &rowOf(ReduceKind kind) {
  return *llvm::find_if(rows, [&](const KindRow &row) { return row.kind == kind; });
}

Attribute predicate(TileBuilder &b, arith::CmpFPredicate kind) {
  return arith::CmpFPredicateAttr::get(b.b.getContext(), kind);
}

/// Of two extremes, whether the second is taken: it is farther, or the first NaN.
Value isFarther(TileBuilder &b, ReduceKind kind, Value first, Value second) {
  Type i1 = b.b.getI1Type();
  bool isMax = kind == ReduceKind::Max;
  if (!isa<FloatType>(TileBuilder::elementOf(first)))
    return b.elementwise(
        "arith.cmpi", {second, first}, i1,
        arith::CmpIPredicateAttr::get(b.b.getContext(), isMax ? arith::CmpIPredicate::sgt
                                                              : arith::CmpIPredicate::slt));
  auto compare = [&](Value x, Value y, arith::CmpFPredicate kind) {
    return b.elementwise("arith.cmpf", {x, y}, i1, predicate(b, kind));
  };
  Value isBeyond =
      compare(second, first, isMax ? arith::CmpFPredicate::OGT : arith::CmpFPredicate::OLT);
  Value isFirstNaN = b.both(compare(second, second, arith::CmpFPredicate::UNE),
                            compare(first, first, arith::CmpFPredicate::OEQ));
  return b.elementwise("arith.ori", {isBeyond, isFirstNaN}, i1);
}

} // namespace

CarriedReduction::States CarriedReduction::neutral(TileBuilder &b) const {
  States states = {b.full(b.number(rowOf(kind).neutral, element), extents)};
  if (stateCount() > 1)
    states.push_back(b.full(b.number(0, hasPosition ? Type(b.b.getI64Type()) : element), extents));
  return states;
}

CarriedReduction::States CarriedReduction::ofChunk(TileBuilder &b, ValueRange reduced,
                                                   Value first) const {
  States states = {reduced[0]};
  if (hasPosition)
    states.push_back(b.elementwise("arith.addi", {reduced[1], b.full(b.toI64(first), extents)},
                                   b.b.getI64Type()));
  else if (hasError())
    states.push_back(b.full(b.number(0, element), extents));
  return states;
}

CarriedReduction::States CarriedReduction::combined(TileBuilder &b, ValueRange first,
                                                    ValueRange second) const {
  const KindRow &row = rowOf(kind);
  StringRef operation = isa<FloatType>(element) ? row.onFloat : row.onInteger;
  Value value = b.elementwise(operation, {first[0], second[0]}, element);
  if (hasPosition)
    return {value, b.elementwise("arith.select",
                                 {isFarther(b, kind, first[0], second[0]), second[1], first[1]},
                                 b.b.getI64Type())};
  if (!hasError())
    return {value};
  auto apply = [&](StringRef name, Value x, Value y) {
    return b.elementwise(name, {x, y}, element);
  };
  Value added = apply("arith.subf", value, first[0]);
  Value lostOfFirst = apply("arith.subf", first[0], apply("arith.subf", value, added));
  Value lost = apply("arith.addf", lostOfFirst, apply("arith.subf", second[0], added));
  return {value, apply("arith.addf", apply("arith.addf", first[1], second[1]), lost)};
}

CarriedReduction::States CarriedReduction::results(TileBuilder &b, ValueRange states) const {
  if (!hasError())
    return States(states.begin(), states.end());
  // The error of an infinite sum is NaN.
  Value sum = states[0], error = states[1];
  Value isKnown = b.elementwise("arith.cmpf", {error, error}, b.b.getI1Type(),
                                predicate(b, arith::CmpFPredicate::OEQ));
  Value exact = b.elementwise("arith.addf", {sum, error}, element);
  return {b.elementwise("arith.select", {isKnown, exact, sum}, element)};
}

} // namespace tw::conversion
