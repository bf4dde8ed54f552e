// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reductions, scans and sorts along an axis.
#include "Language/Elements.h"

namespace tw::kernel::detail {
namespace {

/// A reduction as the dialect calls it for signed numbers and for u8; null where there is none.
struct Row {
  const char *name;
  const char *onNumber, *onUnsigned, *onBool;
  bool givesPosition = false;
};
enum class Reduction : uint8_t { sum, prod, max, min, argmax, argmin, any, all };
constexpr Row rows[] = {
    {"sum", "sum", "sum", nullptr},
    {"prod", "prod", "prod", nullptr},
    {"max", "max", "umax", nullptr},
    {"min", "min", "umin", nullptr},
    {"argmax", "argmax", nullptr, nullptr, true},
    {"argmin", "argmin", nullptr, nullptr, true},
    {"any", nullptr, nullptr, "or"},
    {"all", nullptr, nullptr, "and"},
};

ValuePtr reduceOf(Tracer &tracer, Reduction kind, ValuePtr x, Axis axis, KeepDim keep, Here here) {
  const Row &row = rows[size_t(kind)];
  if (row.givesPosition && x->type.dtype == DType::u8)
    x = castTo(tracer, x, DType::i32, here);
  DType dtype = x->type.dtype;
  const char *word = dtype == DType::i1   ? row.onBool
                     : dtype == DType::u8 ? row.onUnsigned
                                          : row.onNumber;
  if (!word)
    tracer.fail(here, std::string(row.name) + " is not for " + typeText(x->type),
                row.onBool ? "it is for i1; compare it: x != 0"
                           : "it is for numbers; any and all are for i1, and cast converts");
  int64_t d =
      checkAxis(tracer, axis, x->type.shape, "the operand of " + std::string(row.name), here);
  Attributes attributes;
  attributes.word = word;
  attributes.axis = d;
  Extents kept = x->type.shape, dropped = x->type.shape;
  kept[size_t(d)] = tw::Size(1);
  dropped.erase(dropped.begin() + d);
  DType result = row.givesPosition ? DType::i64 : dtype;
  ValuePtr value = tracer.emit1(here, "tile.reduce", {x}, Type{result, true, dropped}, attributes);
  return keep == KeepDim::yes ? reshapeTo(tracer, value, kept, here) : value;
}

ValuePtr scanOf(Tracer &tracer, const char *name, const char *word, const ValuePtr &x, Axis axis,
                Direction direction, Here here) {
  bool isOrder = word == std::string("max") || word == std::string("min");
  if (x->type.dtype == DType::i1 || (isOrder && x->type.dtype == DType::u8))
    tracer.fail(here, std::string(name) + " is not for " + typeText(x->type),
                "cast it to i32 first");
  Attributes attributes;
  attributes.word = word;
  attributes.axis =
      checkAxis(tracer, axis, x->type.shape, "the operand of " + std::string(name), here);
  attributes.flag = direction == Direction::backward;
  return tracer.emit1(here, "tile.scan", {x}, x->type, attributes);
}

Sorted sortOf(Tracer &tracer, const ValuePtr &x, Axis axis, Order order, const Size &first,
              Here here) {
  Attributes attributes;
  attributes.axis = checkAxis(tracer, axis, x->type.shape, "the operand of sort", here);
  attributes.flag = order == Order::descending;
  attributes.word = x->type.dtype == DType::u8 ? " unsigned" : "";
  Extents shape = x->type.shape;
  tw::Size &extent = shape[size_t(attributes.axis)];
  if (tw::Size kept = tracer.checkSize(here, first.expr()); !(kept == tw::Size(0))) {
    auto have = extent.constant(), wanted = kept.constant();
    if ((have && wanted && *wanted > *have) || (wanted && *wanted < 0))
      tracer.fail(here, "sort: the first " + kept.str() + " of " + extent.str(),
                  "an axis has that many elements; 0 keeps all");
    extent = kept;
  }
  Values results =
      tracer.emit(here, "tile.sort", {x},
                  {Type{x->type.dtype, true, shape}, Type{DType::i64, true, shape}}, attributes);
  return {Tile(Ref(results[0])), Tile(Ref(results[1]))};
}

Tile reduce(Reduction kind, const Tile &x, Axis axis, KeepDim keep, Here here) {
  Tracer *tracer = Tracer::current();
  if (!tracer)
    return {};
  ValuePtr value = tileOf(*tracer, x.ref(), rows[size_t(kind)].name, here);
  return Tile(Ref(reduceOf(*tracer, kind, value, axis, keep, here)));
}

Tile scan(const char *name, const char *word, const Tile &x, Axis axis, Direction direction,
          Here here) {
  Tracer *tracer = Tracer::current();
  if (!tracer)
    return {};
  ValuePtr value = tileOf(*tracer, x.ref(), name, here);
  return Tile(Ref(scanOf(*tracer, name, word, value, axis, direction, here)));
}

} // namespace
} // namespace tw::kernel::detail

namespace tw::kernel {
using namespace detail;

#define REDUCTION(name)                                                                            \
  Tile name(const Tile &x, Axis axis, KeepDim keep, Here here) {                                   \
    return reduce(Reduction::name, x, axis, keep, here);                                           \
  }
REDUCTION(sum)
REDUCTION(prod)
REDUCTION(max)
REDUCTION(min)
REDUCTION(argmax)
REDUCTION(argmin)
REDUCTION(any)
REDUCTION(all)
#undef REDUCTION

#define SCAN(name, word)                                                                           \
  Tile name(const Tile &x, Axis axis, Direction direction, Here here) {                            \
    return scan(#name, word, x, axis, direction, here);                                            \
  }
SCAN(cumsum, "sum")
SCAN(cumprod, "prod")
SCAN(cummax, "max")
SCAN(cummin, "min")
#undef SCAN

Sorted sort(const Tile &x, Axis axis, Order order, const Size &first, Here here) {
  Tracer *tracer = Tracer::current();
  if (!tracer)
    return {};
  return sortOf(*tracer, tileOf(*tracer, x.ref(), "sort", here), axis, order, first, here);
}

} // namespace tw::kernel
