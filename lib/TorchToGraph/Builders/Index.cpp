// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TorchToGraph/Builders/Index.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/MathExtras.h"
#include <map>

using namespace mlir;

namespace tw::lower {

std::optional<int64_t> constantOf(OpFoldResult x) { return getConstantIntValue(x); }

SmallVector<int64_t> staticSizes(ArrayRef<OpFoldResult> sizes) {
  SmallVector<int64_t> result;
  for (OpFoldResult size : sizes)
    result.push_back(constantOf(size).value_or(ShapedType::kDynamic));
  return result;
}

// Sizes may be as large as INT64_MAX (the end of a slice): wrap instead of undefined behaviour.
static int64_t wrapAdd(int64_t x, int64_t y) { return int64_t(uint64_t(x) + uint64_t(y)); }
static int64_t wrapSub(int64_t x, int64_t y) { return int64_t(uint64_t(x) - uint64_t(y)); }
static int64_t wrapMul(int64_t x, int64_t y) { return int64_t(uint64_t(x) * uint64_t(y)); }

//===----------------------------------------------------------------------===//
// Polynomials
//===----------------------------------------------------------------------===//

namespace {

/// A product of values, sorted; empty for 1.
using Monomial = std::vector<void *>;
/// Coefficients by monomial; none of them 0.
using Polynomial = std::map<Monomial, int64_t>;

void addTerm(Polynomial &total, const Monomial &monomial, int64_t coefficient) {
  int64_t &sum = total[monomial];
  sum = wrapAdd(sum, coefficient);
  if (sum == 0)
    total.erase(monomial);
}

Polynomial sum(const Polynomial &x, const Polynomial &y, int64_t sign) {
  Polynomial result = x;
  for (const auto &[monomial, coefficient] : y)
    addTerm(result, monomial, wrapMul(sign, coefficient));
  return result;
}

Polynomial product(const Polynomial &x, const Polynomial &y) {
  Polynomial result;
  for (const auto &[a, p] : x)
    for (const auto &[c, q] : y) {
      Monomial both;
      std::merge(a.begin(), a.end(), c.begin(), c.end(), std::back_inserter(both));
      addTerm(result, both, wrapMul(p, q));
    }
  return result;
}

constexpr unsigned maxTerms = 16; // beyond, a value stands for itself
constexpr int maxDepth = 12;

Polynomial polynomialOf(OpFoldResult x, int depth = 0) {
  if (auto known = constantOf(x))
    return *known ? Polynomial{{{}, *known}} : Polynomial{};
  Value value = cast<Value>(x);
  Polynomial self{{{value.getAsOpaquePointer()}, 1}};
  Operation *op = value.getDefiningOp();
  if (!op || depth > maxDepth || !isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op))
    return self;
  Polynomial a = polynomialOf(op->getOperand(0), depth + 1);
  Polynomial c = polynomialOf(op->getOperand(1), depth + 1);
  Polynomial result =
      isa<arith::MulIOp>(op) ? product(a, c) : sum(a, c, isa<arith::AddIOp>(op) ? 1 : -1);
  return result.size() > maxTerms ? self : result;
}

/// x / y when y is one term that divides every term of x.
std::optional<Polynomial> exactQuotient(const Polynomial &x, const Polynomial &y) {
  if (y.size() != 1)
    return std::nullopt;
  const auto &[divisor, coefficient] = *y.begin();
  Polynomial result;
  for (const auto &[monomial, factor] : x) {
    if (factor % coefficient ||
        !std::includes(monomial.begin(), monomial.end(), divisor.begin(), divisor.end()))
      return std::nullopt;
    Monomial rest;
    std::set_difference(monomial.begin(), monomial.end(), divisor.begin(), divisor.end(),
                        std::back_inserter(rest));
    result[rest] = factor / coefficient;
  }
  return result;
}

OpFoldResult emit(const IndexMath &math, const Polynomial &polynomial) {
  OpFoldResult total = math.constant(0);
  for (const auto &[monomial, coefficient] : polynomial) {
    OpFoldResult term = math.constant(coefficient);
    for (void *factor : monomial)
      term = math.mul(term, Value::getFromOpaquePointer(factor));
    total = math.add(total, term);
  }
  return total;
}

} // namespace

bool knownEqual(OpFoldResult x, OpFoldResult y) {
  return x == y || polynomialOf(x) == polynomialOf(y);
}

bool knownEqualProducts(ArrayRef<OpFoldResult> x, ArrayRef<OpFoldResult> y) {
  Polynomial left{{{}, 1}}, right{{{}, 1}};
  for (OpFoldResult factor : x)
    left = product(left, polynomialOf(factor));
  for (OpFoldResult factor : y)
    right = product(right, polynomialOf(factor));
  return left == right;
}

std::optional<int64_t> lowerBound(OpFoldResult x,
                                  llvm::function_ref<std::optional<int64_t>(Value)> minimum,
                                  std::optional<OpFoldResult> y) {
  Polynomial difference = polynomialOf(x);
  if (y)
    difference = sum(difference, polynomialOf(*y), -1);
  int64_t total = 0;
  for (const auto &[monomial, coefficient] : difference) {
    int64_t term = coefficient;
    for (void *factor : monomial) {
      auto least = minimum(Value::getFromOpaquePointer(factor));
      if (coefficient < 0 || !least || *least < 0 || llvm::MulOverflow(term, *least, term))
        return std::nullopt;
    }
    if (llvm::AddOverflow(total, term, total))
      return std::nullopt;
  }
  return total;
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

Value IndexMath::value(OpFoldResult x) const {
  if (auto known = constantOf(x); known && !isa<Value>(x))
    return arith::ConstantIndexOp::create(b, loc, *known);
  return cast<Value>(x);
}

OpFoldResult IndexMath::add(OpFoldResult x, OpFoldResult y) const {
  auto a = constantOf(x), c = constantOf(y);
  if (a && c)
    return constant(wrapAdd(*a, *c));
  if (a == 0)
    return y;
  if (c == 0)
    return x;
  return arith::AddIOp::create(b, loc, value(x), value(y)).getResult();
}

OpFoldResult IndexMath::sub(OpFoldResult x, OpFoldResult y) const {
  auto a = constantOf(x), c = constantOf(y);
  if (a && c)
    return constant(wrapSub(*a, *c));
  if (c == 0)
    return x;
  if (knownEqual(x, y))
    return constant(0);
  return arith::SubIOp::create(b, loc, value(x), value(y)).getResult();
}

OpFoldResult IndexMath::mul(OpFoldResult x, OpFoldResult y) const {
  auto a = constantOf(x), c = constantOf(y);
  if (a && c)
    return constant(wrapMul(*a, *c));
  if (a == 0 || c == 0)
    return constant(0);
  if (a == 1)
    return y;
  if (c == 1)
    return x;
  return arith::MulIOp::create(b, loc, value(x), value(y)).getResult();
}

OpFoldResult IndexMath::floorDiv(OpFoldResult x, OpFoldResult y) const {
  auto a = constantOf(x), c = constantOf(y);
  if (c == 0)
    return constant(0);
  if (a && c)
    return constant(*c < 0 ? llvm::divideFloorSigned(-*a, -*c) : llvm::divideFloorSigned(*a, *c));
  if (c == 1)
    return x;
  if (auto quotient = exactDiv(x, y))
    return *quotient;
  return arith::FloorDivSIOp::create(b, loc, value(x), value(y)).getResult();
}

std::optional<OpFoldResult> IndexMath::exactDiv(OpFoldResult x, OpFoldResult y) const {
  auto quotient = exactQuotient(polynomialOf(x), polynomialOf(y));
  if (!quotient)
    return std::nullopt;
  return emit(*this, *quotient);
}

OpFoldResult IndexMath::ceilDiv(OpFoldResult x, OpFoldResult y) const {
  if (constantOf(y) == 1)
    return x;
  if (auto quotient = exactDiv(x, y))
    return *quotient;
  return floorDiv(add(x, sub(y, constant(1))), y);
}

OpFoldResult IndexMath::remainder(OpFoldResult x, OpFoldResult y) const {
  return sub(x, mul(floorDiv(x, y), y));
}

OpFoldResult IndexMath::max(OpFoldResult x, OpFoldResult y) const {
  auto a = constantOf(x), c = constantOf(y);
  if (a && c)
    return constant(std::max(*a, *c));
  if (knownEqual(x, y))
    return x;
  return arith::MaxSIOp::create(b, loc, value(x), value(y)).getResult();
}

OpFoldResult IndexMath::min(OpFoldResult x, OpFoldResult y) const {
  auto a = constantOf(x), c = constantOf(y);
  if (a && c)
    return constant(std::min(*a, *c));
  if (knownEqual(x, y))
    return x;
  return arith::MinSIOp::create(b, loc, value(x), value(y)).getResult();
}

OpFoldResult IndexMath::product(ArrayRef<OpFoldResult> factors) const {
  OpFoldResult result = constant(1);
  for (OpFoldResult factor : factors)
    result = mul(result, factor);
  return result;
}

} // namespace tw::lower
