// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Folds of Python arithmetic on constants: ints of 64 bits that are not folded when they would
// overflow, floats, bools. Lowerings rely on sizes and dimensions being constants.
#include "IR/Torch/Hooks.h"
#include "Support/Checked.h"
#include <cmath>
#include <numeric>

using namespace mlir;
namespace tw::torch {

//===----------------------------------------------------------------------===//
// Attributes as numbers
//===----------------------------------------------------------------------===//

template <typename T>
static std::optional<T> read(Attribute attribute);
template <>
std::optional<bool> read(Attribute attribute) {
  auto integer = dyn_cast_or_null<IntegerAttr>(attribute);
  return integer && integer.getType().isInteger(1) ? std::optional(integer.getValue().isOne())
                                                   : std::nullopt;
}
template <>
std::optional<int64_t> read(Attribute attribute) {
  auto integer = dyn_cast_or_null<IntegerAttr>(attribute);
  return integer && !integer.getType().isInteger(1)
             ? std::optional<int64_t>(integer.getValue().getSExtValue())
             : std::nullopt;
}
template <>
std::optional<double> read(Attribute attribute) { // an int is converted
  if (auto real = dyn_cast_or_null<FloatAttr>(attribute))
    return real.getValueAsDouble();
  if (std::optional<int64_t> integer = read<int64_t>(attribute))
    return static_cast<double>(*integer);
  return std::nullopt;
}

/// A result as the attribute of a constant of `type`; null when it is no value of that type.
static Attribute write(Type type, bool value) {
  return isa<BoolType>(type) ? BoolAttr::get(type.getContext(), value) : Attribute();
}
static Attribute write(Type type, int64_t value) {
  return isa<IntType, NumberType>(type) ? Builder(type.getContext()).getI64IntegerAttr(value)
                                        : Attribute();
}
static Attribute write(Type type, double value) {
  return isa<FloatType, NumberType>(type) ? Builder(type.getContext()).getF64FloatAttr(value)
                                          : Attribute();
}

template <typename T>
static LogicalResult give(AtenOp op, std::optional<T> value,
                          SmallVectorImpl<OpFoldResult> &results) {
  Attribute attribute = value ? write(op->getResult(0).getType(), *value) : Attribute();
  if (!attribute)
    return failure();
  results.push_back(attribute);
  return success();
}

//===----------------------------------------------------------------------===//
// From functions of numbers to folds
//===----------------------------------------------------------------------===//

using Operands = ArrayRef<Attribute>;
using Results = SmallVectorImpl<OpFoldResult> &;

/// `Function` takes one or two values of the same type and gives an optional.
template <auto Function, typename In, typename Out>
static LogicalResult foldUnary(AtenOp op, Operands operands, Results results) {
  std::optional<In> a = read<In>(operands[0]);
  return give<Out>(op, a ? Function(*a) : std::optional<Out>(), results);
}
template <auto Function, typename In, typename Out>
static LogicalResult foldBinary(AtenOp op, Operands operands, Results results) {
  std::optional<In> a = read<In>(operands[0]), b = read<In>(operands[1]);
  return give<Out>(op, a && b ? Function(*a, *b) : std::optional<Out>(), results);
}

/// Two ints by `OnInts`, otherwise two floats by `OnFloats`.
template <auto OnInts, auto OnFloats>
static LogicalResult foldArithmetic(AtenOp op, Operands operands, Results results) {
  if (read<int64_t>(operands[0]) && read<int64_t>(operands[1]))
    return foldBinary<OnInts, int64_t, int64_t>(op, operands, results);
  return foldBinary<OnFloats, double, double>(op, operands, results);
}
template <typename Compare>
static LogicalResult foldCompare(AtenOp op, Operands operands, Results results) {
  constexpr auto compare = [](auto a, auto b) { return std::optional<bool>(Compare()(a, b)); };
  if (read<int64_t>(operands[0]) && read<int64_t>(operands[1]))
    return foldBinary<compare, int64_t, bool>(op, operands, results);
  return foldBinary<compare, double, bool>(op, operands, results);
}
template <typename Operate>
static LogicalResult foldBools(AtenOp op, Operands operands, Results results) {
  constexpr auto operate = [](bool a, bool b) { return std::optional<bool>(Operate()(a, b)); };
  return foldBinary<operate, bool, bool>(op, operands, results);
}

//===----------------------------------------------------------------------===//
// Python's arithmetic
//===----------------------------------------------------------------------===//

using Int = std::optional<int64_t>;
using Real = std::optional<double>;

static constexpr int64_t kMinInt = std::numeric_limits<int64_t>::min();

static Int subtract(int64_t a, int64_t b) {
  int64_t difference;
  return __builtin_sub_overflow(a, b, &difference) ? Int() : difference;
}
static Int negate(int64_t a) { return subtract(0, a); }
static Int absolute(int64_t a) { return a < 0 ? negate(a) : a; }
static Int power(int64_t base, int64_t exponent) {
  if (exponent < 0 || exponent > 64)
    return std::nullopt;
  Int result = 1;
  for (int64_t i = 0; i < exponent && result; ++i)
    result = checkedMul(*result, base);
  return result;
}
static Int shiftLeft(int64_t a, int64_t b) {
  return b >= 0 && b < 63 ? checkedMul(a, int64_t(1) << b) : Int();
}
static Int shiftRight(int64_t a, int64_t b) { return b >= 0 && b < 64 ? Int(a >> b) : Int(); }
static Int divisor(int64_t a, int64_t b) {
  return a == kMinInt || b == kMinInt ? Int() : Int(std::gcd(a, b));
}
static Int larger(int64_t a, int64_t b) { return std::max(a, b); }
static Int smaller(int64_t a, int64_t b) { return std::min(a, b); }
static Int bitAnd(int64_t a, int64_t b) { return a & b; }
static Int bitOr(int64_t a, int64_t b) { return a | b; }
static Int bitXor(int64_t a, int64_t b) { return a ^ b; }

static Real addReal(double a, double b) { return a + b; }
static Real subtractReal(double a, double b) { return a - b; }
static Real multiplyReal(double a, double b) { return a * b; }
static Real divideReal(double a, double b) { return b == 0 ? Real() : a / b; }
static Real floorDivideReal(double a, double b) { return b == 0 ? Real() : std::floor(a / b); }
static Real remainderReal(double a, double b) {
  if (b == 0)
    return std::nullopt;
  double rest = std::fmod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
static Real powerReal(double a, double b) { return std::pow(a, b); }
static Real largerReal(double a, double b) { return std::max(a, b); }
static Real smallerReal(double a, double b) { return std::min(a, b); }
static Real negateReal(double a) { return -a; }
static Real absoluteReal(double a) { return std::abs(a); }
static Real squareRoot(double a) { return a < 0 ? Real() : std::sqrt(a); }
static Real exponential(double a) { return std::exp(a); }
static Real logarithm(double a) { return a <= 0 ? Real() : std::log(a); }

/// A float that is already whole, as an int.
static Int whole(double a) { return std::abs(a) < 0x1p63 ? Int(static_cast<int64_t>(a)) : Int(); }
static Int truncated(double a) { return whole(std::trunc(a)); }
static Int floored(double a) { return whole(std::floor(a)); }
static Int ceiled(double a) { return whole(std::ceil(a)); }
static Int sameInt(int64_t a) { return a; }
static Real sameReal(double a) { return a; }
static Int intOfBool(bool a) { return a; }
static Real realOfBool(bool a) { return a; }
static std::optional<bool> isNonzero(int64_t a) { return a != 0; }
static std::optional<bool> isNonzeroReal(double a) { return a != 0; }
static std::optional<bool> inverted(bool a) { return !a; }

ArrayRef<NamedFold> scalarFolds() {
  // A name with ".*" stands for the overloads of two Python numbers.
  static constexpr NamedFold table[] = {
      {"aten.add.*", foldArithmetic<checkedAdd, addReal>},
      {"aten.sub.*", foldArithmetic<subtract, subtractReal>},
      {"aten.mul.*", foldArithmetic<checkedMul, multiplyReal>},
      {"aten.div.*", foldBinary<divideReal, double, double>},
      {"aten.floordiv.*", foldArithmetic<checkedFloorDiv, floorDivideReal>},
      {"aten.remainder.*", foldArithmetic<checkedMod, remainderReal>},
      {"aten.pow.*", foldBinary<powerReal, double, double>},
      {"aten.pow.Scalar_Scalar", foldBinary<powerReal, double, double>},
      {"aten.pow.int_to_int", foldBinary<power, int64_t, int64_t>},
      {"prim.max.*", foldArithmetic<larger, largerReal>},
      {"prim.min.*", foldArithmetic<smaller, smallerReal>},
      {"aten.gcd.int", foldBinary<divisor, int64_t, int64_t>},
      {"aten.__and__.int", foldBinary<bitAnd, int64_t, int64_t>},
      {"aten.__or__.int", foldBinary<bitOr, int64_t, int64_t>},
      {"aten.__xor__.int", foldBinary<bitXor, int64_t, int64_t>},
      {"aten.__lshift__.int", foldBinary<shiftLeft, int64_t, int64_t>},
      {"aten.__rshift__.int", foldBinary<shiftRight, int64_t, int64_t>},

      {"aten.eq.*", foldCompare<std::equal_to<>>},
      {"aten.ne.*", foldCompare<std::not_equal_to<>>},
      {"aten.lt.*", foldCompare<std::less<>>},
      {"aten.le.*", foldCompare<std::less_equal<>>},
      {"aten.gt.*", foldCompare<std::greater<>>},
      {"aten.ge.*", foldCompare<std::greater_equal<>>},
      {"aten.eq.bool", foldBools<std::equal_to<>>},
      {"aten.ne.bool", foldBools<std::not_equal_to<>>},
      {"aten.__and__.bool", foldBools<std::logical_and<>>},
      {"aten.__or__.bool", foldBools<std::logical_or<>>},
      {"aten.__xor__.bool", foldBools<std::not_equal_to<>>},
      {"aten.__not__", foldUnary<inverted, bool, bool>},

      {"aten.neg.int", foldUnary<negate, int64_t, int64_t>},
      {"aten.neg.float", foldUnary<negateReal, double, double>},
      {"prim.abs.int", foldUnary<absolute, int64_t, int64_t>},
      {"prim.abs.float", foldUnary<absoluteReal, double, double>},
      {"aten.sqrt.int", foldUnary<squareRoot, double, double>},
      {"aten.sqrt.float", foldUnary<squareRoot, double, double>},
      {"aten.exp.float", foldUnary<exponential, double, double>},
      {"aten.log.int", foldUnary<logarithm, double, double>},
      {"aten.log.float", foldUnary<logarithm, double, double>},
      {"aten.floor.int", foldUnary<sameInt, int64_t, int64_t>},
      {"aten.floor.float", foldUnary<floored, double, int64_t>},
      {"aten.ceil.int", foldUnary<sameInt, int64_t, int64_t>},
      {"aten.ceil.float", foldUnary<ceiled, double, int64_t>},

      {"aten.Int.bool", foldUnary<intOfBool, bool, int64_t>},
      {"aten.Int.float", foldUnary<truncated, double, int64_t>},
      {"aten.Int.Scalar", foldUnary<truncated, double, int64_t>},
      {"aten.Float.bool", foldUnary<realOfBool, bool, double>},
      {"aten.Float.int", foldUnary<sameReal, double, double>},
      {"aten.Float.Scalar", foldUnary<sameReal, double, double>},
      {"aten.Bool.int", foldUnary<isNonzero, int64_t, bool>},
      {"aten.Bool.float", foldUnary<isNonzeroReal, double, bool>},
  };
  return table;
}

} // namespace tw::torch
