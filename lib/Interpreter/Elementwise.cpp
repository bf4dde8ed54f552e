// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// arith, and keep. Semantics: docs/tile-programs.md, "Numbers"; nothing here has undefined
// behaviour.
#include "Interpreter/Elementwise.h"
#include <algorithm>
#include <cmath>
#include <limits>

namespace tw::interpreter {

namespace {

// Arithmetic on unsigned numbers wraps.
int64_t add(int64_t a, int64_t b, int) { return int64_t(uint64_t(a) + uint64_t(b)); }
int64_t subtract(int64_t a, int64_t b, int) { return int64_t(uint64_t(a) - uint64_t(b)); }
int64_t multiply(int64_t a, int64_t b, int) { return int64_t(uint64_t(a) * uint64_t(b)); }

int64_t divideSigned(int64_t a, int64_t b, int bits) {
  a = asSigned(a, bits), b = asSigned(b, bits);
  if (b == 0)
    return 0;
  return b == -1 ? subtract(0, a, bits) : a / b;
}
int64_t divideUnsigned(int64_t a, int64_t b, int bits) {
  return b == 0 ? 0 : int64_t(asUnsigned(a, bits) / asUnsigned(b, bits));
}
int64_t remainderSigned(int64_t a, int64_t b, int bits) {
  a = asSigned(a, bits), b = asSigned(b, bits);
  return b == 0 || b == -1 ? 0 : a % b;
}
int64_t remainderUnsigned(int64_t a, int64_t b, int bits) {
  return b == 0 ? 0 : int64_t(asUnsigned(a, bits) % asUnsigned(b, bits));
}

bool isShiftTooFar(int64_t b, int bits) { return asUnsigned(b, bits) >= uint64_t(bits); }
int64_t shiftLeft(int64_t a, int64_t b, int bits) {
  return isShiftTooFar(b, bits) ? 0 : int64_t(uint64_t(a) << b);
}
int64_t shiftRightSigned(int64_t a, int64_t b, int bits) {
  a = asSigned(a, bits);
  return isShiftTooFar(b, bits) ? (a < 0 ? -1 : 0) : a >> b;
}
int64_t shiftRightUnsigned(int64_t a, int64_t b, int bits) {
  return isShiftTooFar(b, bits) ? 0 : int64_t(asUnsigned(a, bits) >> b);
}

int64_t maxSigned(int64_t a, int64_t b, int bits) {
  return asSigned(a, bits) > asSigned(b, bits) ? a : b;
}
int64_t minSigned(int64_t a, int64_t b, int bits) {
  return asSigned(a, bits) < asSigned(b, bits) ? a : b;
}
int64_t maxUnsigned(int64_t a, int64_t b, int bits) {
  return asUnsigned(a, bits) > asUnsigned(b, bits) ? a : b;
}
int64_t minUnsigned(int64_t a, int64_t b, int bits) {
  return asUnsigned(a, bits) < asUnsigned(b, bits) ? a : b;
}

/// Like maximum and minimum, but a number wins over NaN.
double maximumNumber(double a, double b) {
  return std::isnan(a) ? b : std::isnan(b) ? a : maximum(a, b);
}
double minimumNumber(double a, double b) {
  return std::isnan(a) ? b : std::isnan(b) ? a : minimum(a, b);
}

template <auto F>
void compareFloats(const ElementwiseCall &call) {
  for (int64_t i = 0; i < call.count; ++i)
    call.result[i].i = F(call.operands[0][i].f, call.operands[1][i].f);
}

/// In the order of arith::CmpFPredicate.
constexpr ElementwiseFunction floatComparisons[] = {
    compareFloats<[](double, double) { return false; }>,
    compareFloats<[](double a, double b) { return a == b; }>,
    compareFloats<[](double a, double b) { return a > b; }>,
    compareFloats<[](double a, double b) { return a >= b; }>,
    compareFloats<[](double a, double b) { return a < b; }>,
    compareFloats<[](double a, double b) { return a <= b; }>,
    compareFloats<[](double a, double b) { return a < b || a > b; }>,
    compareFloats<[](double a, double b) { return !std::isunordered(a, b); }>,
    compareFloats<[](double a, double b) { return !(a < b || a > b); }>,
    compareFloats<[](double a, double b) { return !(a <= b); }>,
    compareFloats<[](double a, double b) { return !(a < b); }>,
    compareFloats<[](double a, double b) { return !(a >= b); }>,
    compareFloats<[](double a, double b) { return !(a > b); }>,
    compareFloats<[](double a, double b) { return a != b; }>,
    compareFloats<[](double a, double b) { return std::isunordered(a, b); }>,
    compareFloats<[](double, double) { return true; }>,
};

/// F is given the order of a and b as signed and as unsigned numbers: negative, 0 or positive.
template <auto F>
void compareIntegers(const ElementwiseCall &call) {
  for (int64_t i = 0; i < call.count; ++i) {
    int64_t a = call.operands[0][i].i, b = call.operands[1][i].i;
    int64_t sa = asSigned(a, call.from), sb = asSigned(b, call.from);
    uint64_t ua = asUnsigned(a, call.from), ub = asUnsigned(b, call.from);
    call.result[i].i = F((sa > sb) - (sa < sb), (ua > ub) - (ua < ub));
  }
}

/// In the order of arith::CmpIPredicate.
constexpr ElementwiseFunction integerComparisons[] = {
    compareIntegers<[](int s, int) { return s == 0; }>,
    compareIntegers<[](int s, int) { return s != 0; }>,
    compareIntegers<[](int s, int) { return s < 0; }>,
    compareIntegers<[](int s, int) { return s <= 0; }>,
    compareIntegers<[](int s, int) { return s > 0; }>,
    compareIntegers<[](int s, int) { return s >= 0; }>,
    compareIntegers<[](int, int u) { return u < 0; }>,
    compareIntegers<[](int, int u) { return u <= 0; }>,
    compareIntegers<[](int, int u) { return u > 0; }>,
    compareIntegers<[](int, int u) { return u >= 0; }>,
};

void cmpf(const ElementwiseCall &call) { floatComparisons[call.predicate](call); }
void cmpi(const ElementwiseCall &call) { integerComparisons[call.predicate](call); }

void select(const ElementwiseCall &call) {
  for (int64_t i = 0; i < call.count; ++i)
    call.result[i] = call.operands[call.operands[0][i * call.conditionStride].i ? 1 : 2][i];
}

/// Rounds towards zero into [least, 2^bits of magnitude); NaN gives 0.
int64_t toSigned(double value, int bits) {
  double limit = std::ldexp(1.0, bits - 1);
  if (std::isnan(value))
    return 0;
  if (value >= limit)
    return int64_t((uint64_t(1) << (bits - 1)) - 1);
  return value <= -limit ? int64_t(-limit) : int64_t(value);
}
int64_t toUnsigned(double value, int bits) {
  if (std::isnan(value) || value <= 0)
    return 0;
  if (value >= std::ldexp(1.0, bits))
    return -1;
  return int64_t(uint64_t(value));
}

template <auto F>
void toInteger(const ElementwiseCall &call) {
  for (int64_t i = 0; i < call.count; ++i)
    call.result[i].i = wrap(F(call.operands[0][i].f, call.to), call.to);
}

void sitofp(const ElementwiseCall &call) {
  for (int64_t i = 0; i < call.count; ++i)
    call.result[i].f = double(asSigned(call.operands[0][i].i, call.from));
}
void uitofp(const ElementwiseCall &call) {
  for (int64_t i = 0; i < call.count; ++i)
    call.result[i].f = double(asUnsigned(call.operands[0][i].i, call.from));
}

double same(double value) { return value; }

void keep(const ElementwiseCall &call) { std::copy_n(call.operands[0], call.count, call.result); }

constexpr ElementwiseRow rows[] = {
    {"arith.addf", mapFloats<[](double a, double b) { return a + b; }>},
    {"arith.addi", mapIntegers<add>},
    {"arith.andi", mapIntegers<[](int64_t a, int64_t b, int) { return a & b; }>},
    {"arith.cmpf", cmpf},
    {"arith.cmpi", cmpi},
    {"arith.divf", mapFloats<[](double a, double b) { return a / b; }>},
    {"arith.divsi", mapIntegers<divideSigned>},
    {"arith.divui", mapIntegers<divideUnsigned>},
    {"arith.extf", mapFloat<same>},
    {"arith.extsi", mapInteger<asSigned>},
    {"arith.extui", mapInteger<[](int64_t a, int bits) { return int64_t(asUnsigned(a, bits)); }>},
    {"arith.fptosi", toInteger<toSigned>},
    {"arith.fptoui", toInteger<toUnsigned>},
    {"arith.index_cast", mapInteger<asSigned>},
    {"arith.index_castui",
     mapInteger<[](int64_t a, int bits) { return int64_t(asUnsigned(a, bits)); }>},
    {"arith.maximumf", mapFloats<maximum>},
    {"arith.maxnumf", mapFloats<maximumNumber>},
    {"arith.maxsi", mapIntegers<maxSigned>},
    {"arith.maxui", mapIntegers<maxUnsigned>},
    {"arith.minimumf", mapFloats<minimum>},
    {"arith.minnumf", mapFloats<minimumNumber>},
    {"arith.minsi", mapIntegers<minSigned>},
    {"arith.minui", mapIntegers<minUnsigned>},
    {"arith.mulf", mapFloats<[](double a, double b) { return a * b; }>},
    {"arith.muli", mapIntegers<multiply>},
    {"arith.negf", mapFloat<[](double a) { return -a; }>},
    {"arith.ori", mapIntegers<[](int64_t a, int64_t b, int) { return a | b; }>},
    {"arith.remf", mapFloats<[](double a, double b) { return std::fmod(a, b); }>},
    {"arith.remsi", mapIntegers<remainderSigned>},
    {"arith.remui", mapIntegers<remainderUnsigned>},
    {"arith.select", select},
    {"arith.shli", mapIntegers<shiftLeft>},
    {"arith.shrsi", mapIntegers<shiftRightSigned>},
    {"arith.shrui", mapIntegers<shiftRightUnsigned>},
    {"arith.sitofp", sitofp},
    {"arith.subf", mapFloats<[](double a, double b) { return a - b; }>},
    {"arith.subi", mapIntegers<subtract>},
    {"arith.truncf", mapFloat<same>},
    {"arith.trunci", mapInteger<[](int64_t a, int) { return a; }>},
    {"arith.uitofp", uitofp},
    {"arith.xori", mapIntegers<[](int64_t a, int64_t b, int) { return a ^ b; }>},
    {"tile.keep", keep},
};

} // namespace

std::span<const ElementwiseRow> arithFunctions() { return rows; }

ElementwiseFunction findElementwise(std::string_view name) {
  for (auto table : {arithFunctions(), mathFunctions()})
    for (const ElementwiseRow &row : table)
      if (row.name == name)
        return row.function;
  return nullptr;
}

} // namespace tw::interpreter
