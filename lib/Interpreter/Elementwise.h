// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the elementwise operations of a kernel compute: one table from names to loops over cells.
#pragma once
#include "Interpreter/Number.h"
#include <string_view>

namespace tw::interpreter {

/// One operation on `count` elements. Results are not rounded; integers are wrapped.
struct ElementwiseCall {
  const Cell *operands[3] = {};
  int64_t conditionStride = 1; // of operand 0 of arith.select: 0 where it is a scalar
  Cell *result = nullptr;
  int64_t count = 0;
  int from = 0, to = 0;  // bits of the operand and of the result, where they are integers
  int64_t predicate = 0; // of arith.cmpi and arith.cmpf
};

using ElementwiseFunction = void (*)(const ElementwiseCall &);

struct ElementwiseRow {
  std::string_view name; // "arith.addf"
  ElementwiseFunction function;
};

/// The rows for arith (and keep) and for math.
std::span<const ElementwiseRow> arithFunctions();
std::span<const ElementwiseRow> mathFunctions();

/// Null when there is no such operation.
ElementwiseFunction findElementwise(std::string_view name);

/// The loops that rows are made of; F is a function of one element.
template <auto F>
void mapFloat(const ElementwiseCall &call) {
  for (int64_t i = 0; i < call.count; ++i)
    call.result[i].f = F(call.operands[0][i].f);
}

template <auto F>
void mapFloats(const ElementwiseCall &call) {
  for (int64_t i = 0; i < call.count; ++i)
    call.result[i].f = F(call.operands[0][i].f, call.operands[1][i].f);
}

/// F(a, bits) and F(a, b, bits) on integers in the form of cells.
template <auto F>
void mapInteger(const ElementwiseCall &call) {
  for (int64_t i = 0; i < call.count; ++i)
    call.result[i].i = wrap(F(call.operands[0][i].i, call.from), call.to);
}

template <auto F>
void mapIntegers(const ElementwiseCall &call) {
  for (int64_t i = 0; i < call.count; ++i)
    call.result[i].i = wrap(F(call.operands[0][i].i, call.operands[1][i].i, call.from), call.to);
}

} // namespace tw::interpreter
