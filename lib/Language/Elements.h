// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What all operations on elements share: handles become values, numbers become constants, dtypes
// are adopted, shapes broadcast.
#ifndef TILEWRIGHT_LANGUAGE_ELEMENTS_H
#define TILEWRIGHT_LANGUAGE_ELEMENTS_H

#include "Language/Tracer.h"

namespace tw::kernel::detail {

// ---- Types
/// 0 for the first extent, also when the axis counts from the end; an error when there is none.
int64_t checkAxis(Tracer &tracer, Axis axis, const Extents &shape, const std::string &what,
                  Here here);
/// NumPy's rule; an error names both shapes and `what`, the operation.
Extents broadcastShapes(Tracer &tracer, const Extents &a, const Extents &b, const std::string &what,
                        Here here);
/// The product of extents; an error when it overflows.
tw::Size elementCount(Tracer &tracer, const Extents &shape, Here here);

// ---- Numbers
/// Whether a C++ number is a value of dtype; an error naming `what` if not.
void checkLiteral(Tracer &tracer, const Ref &literal, DType dtype, const std::string &what,
                  Here here);
bool isLiteral(const Ref &ref);
/// A number as the text has it: "1.5", "0xFF800000", "-3", "true".
std::string literalText(const Ref &literal, DType dtype);

// ---- Values
/// The value of a tile handle; an error when it is empty or not usable here.
ValuePtr tileOf(Tracer &tracer, const Ref &ref, const std::string &what, Here here);
/// Any handle as a value: numbers as f64, i64 or i1, sizes as index.
ValuePtr valueOf(Tracer &tracer, const Ref &ref, Here here);
/// A scalar of dtype, which numbers and other scalars adopt if that loses nothing but range.
ValuePtr scalarOf(Tracer &tracer, const Ref &ref, DType dtype, const std::string &what, Here here);
/// An index: of a number, a size, or an integer scalar.
ValuePtr indexOf(Tracer &tracer, const Ref &ref, const std::string &what, Here here);
ValuePtr constantOf(Tracer &tracer, const Ref &literal, DType dtype, Here here);
/// A tile of one value, and stretched to a shape (one that it is known to broadcast to).
ValuePtr fullOf(Tracer &tracer, const ValuePtr &scalar, const Extents &shape, Here here);
ValuePtr broadcastTo(Tracer &tracer, const ValuePtr &tile, const Extents &shape, Here here);
ValuePtr reshapeTo(Tracer &tracer, const ValuePtr &tile, const Extents &shape, Here here);
/// Any conversion between dtypes, of tiles and scalars, index included.
ValuePtr castTo(Tracer &tracer, const ValuePtr &value, DType dtype, Here here);

// ---- Elementwise
/// The row of an operation in the table of Elementwise.cpp.
enum class Elementwise : uint8_t {
  // clang-format off
  add, sub, mul, div, rem, maximum, minimum, bitAnd, bitOr, bitXor, shiftLeft, shiftRight,
  logicalAnd, logicalOr, equal, notEqual, less, lessEqual, greater, greaterEqual,
  pow, atan2, copysign, fma,
  ueq, one, ord, uno, ult, ule, ugt, uge, // in the order of Comparison
  minimumNumber, maximumNumber, divUnsigned, remUnsigned, minimumUnsigned, maximumUnsigned,
  shiftRightUnsigned
  // clang-format on
};

/// Applies it to operands of which at least one fixes the dtype; all scalars give a scalar.
ValuePtr elementwise(Tracer &tracer, Elementwise kind, const std::vector<Ref> &operands, Here here);
/// The same on values of one type.
ValuePtr apply(Tracer &tracer, Elementwise kind, const Values &operands, Here here);
ValuePtr selectOf(Tracer &tracer, const Ref &condition, const Ref &a, const Ref &b, Here here);

} // namespace tw::kernel::detail

#endif // TILEWRIGHT_LANGUAGE_ELEMENTS_H
