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

} // namespace tw::kernel::detail

namespace tw::kernel {
using namespace detail;

Tile cast(const Tile &x, DType dtype, Here here) {
  Tracer *tracer = Tracer::current();
  if (!tracer)
    return {};
  ValuePtr value = tileOf(*tracer, x.ref(), "cast", here);
  if (dtype == DType::index)
    tracer->fail(here, "cast: tiles of index do not exist", "use i64");
  return Tile(Ref(castTo(*tracer, value, dtype, here)));
}

Scalar cast(const Scalar &x, DType dtype, Here here) {
  Tracer *tracer = Tracer::current();
  if (!tracer)
    return {};
  return Scalar(Ref(castTo(*tracer, valueOf(*tracer, x.ref(), here), dtype, here)));
}

} // namespace tw::kernel
