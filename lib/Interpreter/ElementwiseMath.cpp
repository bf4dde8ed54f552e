// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// math, in f64: a result rounded to f32 or narrower is off by half a unit at most.
#include "Interpreter/Elementwise.h"
#include <cmath>

namespace tw::interpreter {

namespace {

void fma(const ElementwiseCall &call) {
  for (int64_t i = 0; i < call.count; ++i)
    call.result[i].f =
        std::fma(call.operands[0][i].f, call.operands[1][i].f, call.operands[2][i].f);
}

int64_t absolute(int64_t a, int bits) {
  a = asSigned(a, bits);
  return a < 0 ? int64_t(-uint64_t(a)) : a;
}

constexpr ElementwiseRow rows[] = {
    {"math.absf", mapFloat<[](double a) { return std::fabs(a); }>},
    {"math.absi", mapInteger<absolute>},
    {"math.acos", mapFloat<[](double a) { return std::acos(a); }>},
    {"math.acosh", mapFloat<[](double a) { return std::acosh(a); }>},
    {"math.asin", mapFloat<[](double a) { return std::asin(a); }>},
    {"math.asinh", mapFloat<[](double a) { return std::asinh(a); }>},
    {"math.atan", mapFloat<[](double a) { return std::atan(a); }>},
    {"math.atan2", mapFloats<[](double a, double b) { return std::atan2(a, b); }>},
    {"math.atanh", mapFloat<[](double a) { return std::atanh(a); }>},
    {"math.ceil", mapFloat<[](double a) { return std::ceil(a); }>},
    {"math.copysign", mapFloats<[](double a, double b) { return std::copysign(a, b); }>},
    {"math.cos", mapFloat<[](double a) { return std::cos(a); }>},
    {"math.cosh", mapFloat<[](double a) { return std::cosh(a); }>},
    {"math.erf", mapFloat<[](double a) { return std::erf(a); }>},
    {"math.erfc", mapFloat<[](double a) { return std::erfc(a); }>},
    {"math.exp", mapFloat<[](double a) { return std::exp(a); }>},
    {"math.exp2", mapFloat<[](double a) { return std::exp2(a); }>},
    {"math.expm1", mapFloat<[](double a) { return std::expm1(a); }>},
    {"math.floor", mapFloat<[](double a) { return std::floor(a); }>},
    {"math.fma", fma},
    {"math.log", mapFloat<[](double a) { return std::log(a); }>},
    {"math.log10", mapFloat<[](double a) { return std::log10(a); }>},
    {"math.log1p", mapFloat<[](double a) { return std::log1p(a); }>},
    {"math.log2", mapFloat<[](double a) { return std::log2(a); }>},
    {"math.powf", mapFloats<[](double a, double b) { return std::pow(a, b); }>},
    {"math.round", mapFloat<[](double a) { return std::round(a); }>},
    {"math.roundeven", mapFloat<[](double a) { return std::nearbyint(a); }>},
    {"math.rsqrt", mapFloat<[](double a) { return 1 / std::sqrt(a); }>},
    {"math.sin", mapFloat<[](double a) { return std::sin(a); }>},
    {"math.sinh", mapFloat<[](double a) { return std::sinh(a); }>},
    {"math.sqrt", mapFloat<[](double a) { return std::sqrt(a); }>},
    {"math.tan", mapFloat<[](double a) { return std::tan(a); }>},
    {"math.tanh", mapFloat<[](double a) { return std::tanh(a); }>},
    {"math.trunc", mapFloat<[](double a) { return std::trunc(a); }>},
};

} // namespace

std::span<const ElementwiseRow> mathFunctions() { return rows; }

} // namespace tw::interpreter
