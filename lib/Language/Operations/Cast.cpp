// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversions between all dtypes, as sequences of arith operations.
#include "Language/Elements.h"

namespace tw::kernel::detail {
namespace {

/// One operation to another dtype.
ValuePtr step(Tracer &tracer, const char *name, const ValuePtr &value, DType dtype, Here here) {
  Type type = value->type;
  type.dtype = dtype;
  return tracer.emit1(here, name, {value}, type);
}

/// The same bits, seen as another dtype: i8 and u8 are one in the text.
ValuePtr retag(const ValuePtr &value, DType dtype) {
  auto result = std::make_shared<Value>(*value);
  result->type.dtype = dtype;
  result->alias = value;
  return result;
}

bool isUnsigned(DType dtype) { return dtype == DType::u8 || dtype == DType::i1; }

ValuePtr floatToFloat(Tracer &tracer, const ValuePtr &value, DType to, Here here) {
  DType from = value->type.dtype;
  if (bits(from) == bits(to)) // f16 and bf16: neither has the other's values
    return step(tracer, "arith.truncf", step(tracer, "arith.extf", value, DType::f32, here), to,
                here);
  return step(tracer, bits(from) < bits(to) ? "arith.extf" : "arith.truncf", value, to, here);
}

ValuePtr notZero(Tracer &tracer, const ValuePtr &value, Here here) {
  DType from = value->type.dtype;
  ValuePtr zero = constantOf(tracer, int64_t(0), from, here);
  if (value->type.isTile)
    zero = fullOf(tracer, zero, value->type.shape, here);
  Attributes attributes;
  attributes.word = isFloat(from) ? "une" : "ne";
  Type type = value->type;
  type.dtype = DType::i1;
  return tracer.emit1(here, isFloat(from) ? "arith.cmpf" : "arith.cmpi", {value, zero}, type,
                      attributes);
}

ValuePtr integerToInteger(Tracer &tracer, const ValuePtr &value, DType to, Here here) {
  DType from = value->type.dtype;
  if (bits(from) == bits(to))
    return retag(value, to);
  if (bits(from) > bits(to))
    return step(tracer, "arith.trunci", value, to, here);
  return step(tracer, isUnsigned(from) ? "arith.extui" : "arith.extsi", value, to, here);
}

/// Scalars only: there are no tiles of index.
ValuePtr fromIndex(Tracer &tracer, const ValuePtr &value, DType to, Here here) {
  if (isFloat(to))
    return castTo(tracer, castTo(tracer, value, DType::i64, here), to, here);
  return step(tracer, isUnsigned(to) ? "arith.index_castui" : "arith.index_cast", value, to, here);
}

ValuePtr toIndex(Tracer &tracer, const ValuePtr &value, Here here) {
  DType from = value->type.dtype;
  if (isFloat(from))
    return toIndex(tracer, castTo(tracer, value, DType::i64, here), here);
  const char *name = isUnsigned(from) ? "arith.index_castui" : "arith.index_cast";
  return step(tracer, name, value, DType::index, here);
}

} // namespace

ValuePtr castTo(Tracer &tracer, const ValuePtr &value, DType to, Here here) {
  DType from = value->type.dtype;
  if (from == to)
    return value;
  if (to == DType::i1)
    return notZero(tracer, value, here);
  if (to == DType::index)
    return toIndex(tracer, value, here);
  if (from == DType::index)
    return fromIndex(tracer, value, to, here);
  if (isFloat(from) && isFloat(to))
    return floatToFloat(tracer, value, to, here);
  if (isFloat(from))
    return step(tracer, to == DType::u8 ? "arith.fptoui" : "arith.fptosi", value, to, here);
  if (isFloat(to))
    return step(tracer, isUnsigned(from) ? "arith.uitofp" : "arith.sitofp", value, to, here);
  return integerToInteger(tracer, value, to, here);
}

namespace {

/// The operation from one dtype to another that takes integers as signed or not; null: none needed.
const char *plainConversion(DType from, DType to, bool isSigned) {
  if (isFloat(from) && isFloat(to))
    return bits(from) < bits(to) ? "arith.extf" : "arith.truncf";
  if (isFloat(from))
    return isSigned ? "arith.fptosi" : "arith.fptoui";
  if (isFloat(to))
    return isSigned ? "arith.sitofp" : "arith.uitofp";
  if (from == DType::index || to == DType::index)
    return isSigned ? "arith.index_cast" : "arith.index_castui";
  if (bits(from) > bits(to))
    return "arith.trunci";
  return bits(from) == bits(to) ? nullptr : isSigned ? "arith.extsi" : "arith.extui";
}

ValuePtr castPlainly(Tracer &tracer, const ValuePtr &value, DType to, bool isSigned, Here here) {
  DType from = value->type.dtype;
  const char *what = isSigned ? "castSigned" : "castUnsigned";
  if ((isFloat(from) && to == DType::index) || (from == DType::index && isFloat(to)) ||
      (isFloat(from) && isFloat(to) && bits(from) == bits(to) && from != to))
    tracer.fail(here,
                functionName(tracer.say(), what) + ": there is no step from " + dtypeName(from) +
                    " to " + dtypeName(to),
                "cast goes over a dtype between them");
  const char *name = from == to ? nullptr : plainConversion(from, to, isSigned);
  return name ? step(tracer, name, value, to, here) : retag(value, to);
}

Tile castPlainly(const char *what, const Tile &x, DType dtype, bool isSigned, Here here) {
  Tracer *tracer = Tracer::current();
  if (!tracer)
    return {};
  ValuePtr value = tileOf(*tracer, x.ref(), what, here);
  return Tile(Ref(castPlainly(*tracer, value, dtype, isSigned, here)));
}

Scalar castPlainly(const Scalar &x, DType dtype, bool isSigned, Here here) {
  Tracer *tracer = Tracer::current();
  if (!tracer)
    return {};
  return Scalar(Ref(castPlainly(*tracer, valueOf(*tracer, x.ref(), here), dtype, isSigned, here)));
}

} // namespace
} // namespace tw::kernel::detail

namespace tw::kernel {
using namespace detail;

Tile castSigned(const Tile &x, DType dtype, Here here) {
  return castPlainly("castSigned", x, dtype, true, here);
}
Tile castUnsigned(const Tile &x, DType dtype, Here here) {
  return castPlainly("castUnsigned", x, dtype, false, here);
}
Scalar castSigned(const Scalar &x, DType dtype, Here here) {
  return castPlainly(x, dtype, true, here);
}
Scalar castUnsigned(const Scalar &x, DType dtype, Here here) {
  return castPlainly(x, dtype, false, here);
}

Tile cast(const Tile &x, DType dtype, Here here) {
  Tracer *tracer = Tracer::current();
  if (!tracer)
    return {};
  ValuePtr value = tileOf(*tracer, x.ref(), "cast", here);
  return Tile(Ref(castTo(*tracer, value, dtype, here)));
}

Scalar cast(const Scalar &x, DType dtype, Here here) {
  Tracer *tracer = Tracer::current();
  if (!tracer)
    return {};
  return Scalar(Ref(castTo(*tracer, valueOf(*tracer, x.ref(), here), dtype, here)));
}

} // namespace tw::kernel
