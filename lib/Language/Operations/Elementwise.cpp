// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operations element by element: which MLIR operation each is for each kind of dtype, and what
// operands of several shapes and kinds become first.
#include "Language/Elements.h"

#include <algorithm>

namespace tw::kernel::detail {
namespace {

/// The operation for floats, signed integers (and index), u8 and i1; null where there is none.
/// For comparisons these are the predicates.
struct Row {
  const char *name;
  const char *onFloat, *onSigned, *onUnsigned, *onBool;
  bool compares = false;
};

constexpr Row rows[] = {
    {"+", "arith.addf", "arith.addi", "arith.addi", nullptr},
    {"-", "arith.subf", "arith.subi", "arith.subi", nullptr},
    {"*", "arith.mulf", "arith.muli", "arith.muli", nullptr},
    {"/", "arith.divf", "arith.divsi", "arith.divui", nullptr},
    {"%", "arith.remf", "arith.remsi", "arith.remui", nullptr},
    {"maximum", "arith.maximumf", "arith.maxsi", "arith.maxui", "arith.ori"},
    {"minimum", "arith.minimumf", "arith.minsi", "arith.minui", "arith.andi"},
    {"&", nullptr, "arith.andi", "arith.andi", "arith.andi"},
    {"|", nullptr, "arith.ori", "arith.ori", "arith.ori"},
    {"^", nullptr, "arith.xori", "arith.xori", "arith.xori"},
    {"<<", nullptr, "arith.shli", "arith.shli", nullptr},
    {">>", nullptr, "arith.shrsi", "arith.shrui", nullptr},
    {"&&", nullptr, nullptr, nullptr, "arith.andi"},
    {"||", nullptr, nullptr, nullptr, "arith.ori"},
    {"==", "oeq", "eq", "eq", "eq", true},
    {"!=", "une", "ne", "ne", "ne", true},
    {"<", "olt", "slt", "ult", nullptr, true},
    {"<=", "ole", "sle", "ule", nullptr, true},
    {">", "ogt", "sgt", "ugt", nullptr, true},
    {">=", "oge", "sge", "uge", nullptr, true},
    {"pow", "math.powf", nullptr, nullptr, nullptr},
    {"atan2", "math.atan2", nullptr, nullptr, nullptr},
    {"copysign", "math.copysign", nullptr, nullptr, nullptr},
    {"fma", "math.fma", nullptr, nullptr, nullptr},
    {"compare", "ueq", nullptr, nullptr, nullptr, true},
    {"compare", "one", nullptr, nullptr, nullptr, true},
    {"compare", "ord", nullptr, nullptr, nullptr, true},
    {"compare", "uno", nullptr, nullptr, nullptr, true},
    {"compare", "ult", "ult", "ult", nullptr, true},
    {"compare", "ule", "ule", "ule", nullptr, true},
    {"compare", "ugt", "ugt", "ugt", nullptr, true},
    {"compare", "uge", "uge", "uge", nullptr, true},
    {"minimumNumber", "arith.minnumf", nullptr, nullptr, nullptr},
    {"maximumNumber", "arith.maxnumf", nullptr, nullptr, nullptr},
    {"divUnsigned", nullptr, "arith.divui", "arith.divui", nullptr},
    {"remUnsigned", nullptr, "arith.remui", "arith.remui", nullptr},
    {"minimumUnsigned", nullptr, "arith.minui", "arith.minui", nullptr},
    {"maximumUnsigned", nullptr, "arith.maxui", "arith.maxui", nullptr},
    {"shiftRightUnsigned", nullptr, "arith.shrui", "arith.shrui", nullptr},
};

const char *operation(const Row &row, DType dtype) {
  return isFloat(dtype)       ? row.onFloat
         : dtype == DType::i1 ? row.onBool
         : dtype == DType::u8 ? row.onUnsigned
                              : row.onSigned;
}

/// What an operation takes: "floats", "floats and integers".
std::string takes(const Row &row) {
  std::string text = row.onFloat ? "floats" : "";
  if (row.onSigned)
    text += text.empty() ? "integers" : " and integers";
  if (row.onBool)
    text += text.empty() ? "i1" : " and i1";
  return text;
}

[[noreturn]] void failDTypes(Tracer &tracer, const std::string &what, const Type &a, const Type &b,
                             Here here) {
  tracer.fail(here, what + ": " + typeText(a) + " and " + typeText(b) + " have different dtypes",
              "cast one of them: cast(x, " + dtypeName(a.dtype) + ")");
}

/// The dtype that all values among the operands have, of tiles or of scalars; nothing if there are
/// none. An index among scalars takes the others' dtype.
std::optional<DType> sharedDType(Tracer &tracer, const std::string &what,
                                 const std::vector<Ref> &operands, bool tiles, Here here) {
  const Type *first = nullptr;
  for (const Ref &ref : operands) {
    auto *value = std::get_if<ValuePtr>(&ref);
    const Type *type = value ? &(*value)->type : nullptr;
    if (!type || type->isTile != tiles || (first && type->dtype == DType::index))
      continue;
    if (first && first->dtype != DType::index && first->dtype != type->dtype)
      failDTypes(tracer, what, *first, *type, here);
    first = type;
  }
  return first ? std::optional(first->dtype) : std::nullopt;
}

/// The dtype in which operands meet: the tiles', else the scalars', else that of numbers.
DType commonDType(Tracer &tracer, const std::string &what, const std::vector<Ref> &operands,
                  Here here) {
  for (bool tiles : {true, false})
    if (auto dtype = sharedDType(tracer, what, operands, tiles, here))
      return *dtype;
  bool isDouble = false, isBool = false, isSize = false;
  for (const Ref &ref : operands) {
    isDouble |= std::holds_alternative<double>(ref);
    isBool |= std::holds_alternative<bool>(ref);
    isSize |= std::holds_alternative<SizePtr>(ref);
  }
  return isDouble ? DType::f64 : isSize ? DType::index : isBool ? DType::i1 : DType::i64;
}

/// Operands as values of one dtype and, if there are tiles, one shape.
Values align(Tracer &tracer, const std::string &what, const std::vector<Ref> &operands, DType dtype,
             Here here) {
  Extents shape;
  bool anyTile = false;
  for (const Ref &ref : operands)
    if (auto *value = std::get_if<ValuePtr>(&ref); value && (*value)->type.isTile) {
      tracer.checkUsable(here, *value);
      shape = anyTile ? broadcastShapes(tracer, shape, (*value)->type.shape, what, here)
                      : (*value)->type.shape;
      anyTile = true;
    }
  Values values;
  for (const Ref &ref : operands) {
    auto *value = std::get_if<ValuePtr>(&ref);
    if (value && (*value)->type.isTile) {
      values.push_back(broadcastTo(tracer, *value, shape, here));
      continue;
    }
    ValuePtr scalar = scalarOf(tracer, ref, dtype, what, here);
    values.push_back(anyTile ? fullOf(tracer, scalar, shape, here) : scalar);
  }
  return values;
}

} // namespace

ValuePtr apply(Tracer &tracer, Elementwise kind, const Values &operands, Here here) {
  const Row &row = rows[size_t(kind)];
  Type type = operands[0]->type;
  const char *name = operation(row, type.dtype);
  if (!name)
    tracer.fail(here, functionName(tracer.say(), row.name) + " is not for " + typeText(type),
                "it is for " + takes(row) + "; cast converts");
  if (!row.compares)
    return tracer.emit1(here, name, operands, type);
  Attributes attributes;
  attributes.word = name;
  bool onFloat = isFloat(type.dtype);
  type.dtype = DType::i1;
  return tracer.emit1(here, onFloat ? "arith.cmpf" : "arith.cmpi", operands, type, attributes);
}

ValuePtr elementwise(Tracer &tracer, Elementwise kind, const std::vector<Ref> &operands,
                     Here here) {
  std::string what = functionName(tracer.say(), rows[size_t(kind)].name);
  for (const Ref &ref : operands)
    if (ref.index() == 0)
      tracer.fail(here, what + " got an empty Tile, Index or Scalar", "give it a value first");
  DType dtype = commonDType(tracer, what, operands, here);
  return apply(tracer, kind, align(tracer, what, operands, dtype, here), here);
}

ValuePtr selectOf(Tracer &tracer, const Ref &condition, const Ref &a, const Ref &b, Here here) {
  ValuePtr test = valueOf(tracer, condition, here);
  if (test->type.dtype != DType::i1)
    tracer.fail(here, "select: the condition is " + typeText(test->type) + ", but must be i1",
                "compare it: x != 0");
  for (const Ref &ref : {a, b})
    if (ref.index() == 0)
      tracer.fail(here, "select got an empty Tile, Index or Scalar", "give it a value first");
  DType dtype = commonDType(tracer, "select", {a, b}, here);
  Values values = align(tracer, "select", {a, b}, dtype, here);
  Type type = values[0]->type;
  if (test->type.isTile) {
    if (isLiteral(a) && isLiteral(b))
      tracer.fail(here, "select of two numbers has no dtype",
                  "cast the condition, or give one as full(shape, number, dtype)");
    Extents shape = broadcastShapes(tracer, test->type.shape, type.shape, "select", here);
    test = broadcastTo(tracer, test, shape, here);
    for (ValuePtr &value : values)
      value = value->type.isTile ? broadcastTo(tracer, value, shape, here)
                                 : fullOf(tracer, value, shape, here);
    type = values[0]->type;
  }
  return tracer.emit1(here, "arith.select", {test, values[0], values[1]}, type);
}

namespace {

ValuePtr negate(Tracer &tracer, const Ref &ref, Here here) {
  ValuePtr value = valueOf(tracer, ref, here);
  if (isFloat(value->type.dtype))
    return tracer.emit1(here, "arith.negf", {value}, value->type);
  return elementwise(tracer, Elementwise::sub, {int64_t(0), value}, here);
}

/// Flips all bits; of i1: not.
ValuePtr flip(Tracer &tracer, const Ref &ref, Here here) {
  ValuePtr value = valueOf(tracer, ref, here);
  Ref ones = value->type.dtype == DType::i1   ? Ref(true)
             : value->type.dtype == DType::u8 ? Ref(int64_t(255))
                                              : Ref(int64_t(-1));
  if (isFloat(value->type.dtype))
    tracer.fail(here, "~ is not for " + typeText(value->type), "it is for integers and i1");
  return elementwise(tracer, Elementwise::bitXor, {value, ones}, here);
}

ValuePtr logicalNot(Tracer &tracer, const Ref &ref, Here here) {
  ValuePtr value = valueOf(tracer, ref, here);
  if (value->type.dtype != DType::i1)
    tracer.fail(here, "! is not for " + typeText(value->type), "it is for i1; compare it: x == 0");
  return flip(tracer, value, here);
}

/// What an operator of a handle does: nothing outside of kernels.
template <class Result, class Operand>
Result binary(Elementwise kind, const Operand &a, const Operand &b) {
  Tracer *tracer = Tracer::current();
  return tracer ? Result(Ref(elementwise(*tracer, kind, {a.ref, b.ref}, a.here))) : Result();
}

template <class Result, class Operand>
Result unary(ValuePtr (*function)(Tracer &, const Ref &, Here), const Operand &a) {
  Tracer *tracer = Tracer::current();
  return tracer ? Result(Ref(function(*tracer, a.ref, a.here))) : Result();
}

} // namespace
} // namespace tw::kernel::detail

namespace tw::kernel {
using namespace detail;

#define BINARY(result, function, kind)                                                             \
  result function(const result::Operand &a, const result::Operand &b) {                            \
    return binary<result>(Elementwise::kind, a, b);                                                \
  }

#define ARITHMETIC(result)                                                                         \
  BINARY(result, operator+, add)                                                                   \
  BINARY(result, operator-, sub)                                                                   \
  BINARY(result, operator*, mul)                                                                   \
  BINARY(result, operator/, div)                                                                   \
  BINARY(result, operator%, rem)                                                                   \
  BINARY(result, minimum, minimum)                                                                 \
  BINARY(result, maximum, maximum)                                                                 \
  BINARY(result, operator==, equal)                                                                \
  BINARY(result, operator!=, notEqual)                                                             \
  BINARY(result, operator<, less)                                                                  \
  BINARY(result, operator<=, lessEqual)                                                            \
  BINARY(result, operator>, greater)                                                               \
  BINARY(result, operator>=, greaterEqual)                                                         \
  BINARY(result, operator&&, logicalAnd)                                                           \
  BINARY(result, operator||, logicalOr)                                                            \
  result operator-(const result::Operand &a) { return unary<result>(negate, a); }                  \
  result operator!(const result::Operand &a) { return unary<result>(logicalNot, a); }              \
  result select(const result::Operand &condition, const result::Operand &a,                        \
                const result::Operand &b) {                                                        \
    Tracer *tracer = Tracer::current();                                                            \
    return tracer ? result(Ref(selectOf(*tracer, condition.ref, a.ref, b.ref, condition.here)))    \
                  : result();                                                                      \
  }                                                                                                \
  BINARY(result, operator&, bitAnd)                                                                \
  BINARY(result, operator|, bitOr)                                                                 \
  BINARY(result, operator^, bitXor)                                                                \
  BINARY(result, operator<<, shiftLeft)                                                            \
  BINARY(result, operator>>, shiftRight)                                                           \
  BINARY(result, pow, pow)                                                                         \
  BINARY(result, atan2, atan2)                                                                     \
  BINARY(result, copysign, copysign)                                                               \
  BINARY(result, minimumNumber, minimumNumber)                                                     \
  BINARY(result, maximumNumber, maximumNumber)                                                     \
  BINARY(result, divUnsigned, divUnsigned)                                                         \
  BINARY(result, remUnsigned, remUnsigned)                                                         \
  BINARY(result, minimumUnsigned, minimumUnsigned)                                                 \
  BINARY(result, maximumUnsigned, maximumUnsigned)                                                 \
  BINARY(result, shiftRightUnsigned, shiftRightUnsigned)                                           \
  result compare(Comparison comparison, const result::Operand &a, const result::Operand &b) {      \
    return binary<result>(Elementwise(size_t(Elementwise::ueq) + size_t(comparison)), a, b);       \
  }                                                                                                \
  result operator~(const result::Operand &a) { return unary<result>(flip, a); }                    \
  result fma(const result::Operand &a, const result::Operand &b, const result::Operand &c) {       \
    Tracer *tracer = Tracer::current();                                                            \
    return tracer ? result(Ref(                                                                    \
                        elementwise(*tracer, Elementwise::fma, {a.ref, b.ref, c.ref}, a.here)))    \
                  : result();                                                                      \
  }

ARITHMETIC(Tile)
ARITHMETIC(Scalar)

#define ASSIGNMENT(type, op)                                                                       \
  type &operator op## = (type & a, const type::Operand &b) {                                       \
    return a = type::Operand(a, b.here) op b;                                                      \
  }
ASSIGNMENT(Tile, +)
ASSIGNMENT(Tile, -)
ASSIGNMENT(Tile, *)
ASSIGNMENT(Tile, /)
ASSIGNMENT(Index, +)
ASSIGNMENT(Index, -)
ASSIGNMENT(Index, *)
#undef ASSIGNMENT

#undef ARITHMETIC
#undef BINARY

} // namespace tw::kernel
