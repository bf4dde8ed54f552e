// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions of one operand, element by element.
#include "Language/Elements.h"

namespace tw::kernel::detail {
namespace {

ValuePtr mathOf(Tracer &tracer, const char *name, const ValuePtr &value, Here here) {
  bool isRoundEven = name == std::string("roundEven");
  if (!isFloat(value->type.dtype))
    tracer.fail(here, functionName(tracer.say(), name) + " is not for " + typeText(value->type),
                "it is for floats: cast(x, f32)");
  std::string operation = name == std::string("abs") ? "absf" : isRoundEven ? "roundeven" : name;
  return tracer.emit1(here, "math." + operation, {value}, value->type);
}

ValuePtr absOf(Tracer &tracer, const ValuePtr &value, Here here) {
  if (value->type.dtype == DType::u8)
    return value;
  if (isInteger(value->type.dtype))
    return tracer.emit1(here, "math.absi", {value}, value->type);
  return mathOf(tracer, "abs", value, here);
}

/// In f32 for narrower dtypes: exp(-x) overflows f16 long before the result vanishes.
ValuePtr sigmoidOf(Tracer &tracer, const ValuePtr &value, Here here) {
  DType dtype = value->type.dtype;
  if (!isFloat(dtype))
    tracer.fail(here, "sigmoid is not for " + typeText(value->type),
                "it is for floats: cast(x, f32)");
  ValuePtr x = bits(dtype) < 32 ? castTo(tracer, value, DType::f32, here) : value;
  ValuePtr minus = tracer.emit1(here, "arith.negf", {x}, x->type);
  ValuePtr e = tracer.emit1(here, "math.exp", {minus}, x->type);
  ValuePtr sum = elementwise(tracer, Elementwise::add, {1.0, e}, here);
  return castTo(tracer, elementwise(tracer, Elementwise::div, {1.0, sum}, here), dtype, here);
}

ValuePtr reluOf(Tracer &tracer, const ValuePtr &value, Here here) {
  if (value->type.dtype == DType::i1)
    tracer.fail(here, "relu is not for " + typeText(value->type),
                "it is for floats and integers; cast converts");
  return elementwise(tracer, Elementwise::maximum, {value, int64_t(0)}, here);
}

Tile tileMath(const char *name, const Tile &x, Here here) {
  Tracer *tracer = Tracer::current();
  return tracer ? Tile(Ref(mathOf(*tracer, name, tileOf(*tracer, x.ref(), name, here), here)))
                : Tile();
}

Scalar scalarMath(const char *name, const Scalar &x, Here here) {
  Tracer *tracer = Tracer::current();
  return tracer ? Scalar(Ref(mathOf(*tracer, name, valueOf(*tracer, x.ref(), here), here)))
                : Scalar();
}

} // namespace
} // namespace tw::kernel::detail

namespace tw::kernel {
using namespace detail;

#define MATH(name)                                                                                 \
  Tile name(const Tile &x, Here here) { return tileMath(#name, x, here); }                         \
  Scalar name(const Scalar &x, Here here) { return scalarMath(#name, x, here); }
MATH(exp)
MATH(exp2)
MATH(expm1)
MATH(log)
MATH(log2)
MATH(log10)
MATH(log1p)
MATH(sin)
MATH(cos)
MATH(tan)
MATH(asin)
MATH(acos)
MATH(atan)
MATH(sinh)
MATH(cosh)
MATH(tanh)
MATH(asinh)
MATH(acosh)
MATH(atanh)
MATH(erf)
MATH(erfc)
MATH(sqrt)
MATH(rsqrt)
MATH(floor)
MATH(ceil)
MATH(trunc)
MATH(round)
MATH(roundEven)
#undef MATH

Tile abs(const Tile &x, Here here) {
  Tracer *tracer = Tracer::current();
  return tracer ? Tile(Ref(absOf(*tracer, tileOf(*tracer, x.ref(), "abs", here), here))) : Tile();
}

Tile sigmoid(const Tile &x, Here here) {
  Tracer *tracer = Tracer::current();
  return tracer ? Tile(Ref(sigmoidOf(*tracer, tileOf(*tracer, x.ref(), "sigmoid", here), here)))
                : Tile();
}

Tile relu(const Tile &x, Here here) {
  Tracer *tracer = Tracer::current();
  return tracer ? Tile(Ref(reluOf(*tracer, tileOf(*tracer, x.ref(), "relu", here), here))) : Tile();
}

Scalar abs(const Scalar &x, Here here) {
  Tracer *tracer = Tracer::current();
  return tracer ? Scalar(Ref(absOf(*tracer, valueOf(*tracer, x.ref(), here), here))) : Scalar();
}

Tile isNaN(const Tile &x, Here here) {
  return compare(Comparison::uno, Tile::Operand(x, here), Tile::Operand(x, here));
}

Scalar isNaN(const Scalar &x, Here here) {
  return compare(Comparison::uno, Scalar::Operand(x, here), Scalar::Operand(x, here));
}

} // namespace tw::kernel
