// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions of the kernel language that make values of values.
#include "Docs.h"
#include "Function.h"
#include <algorithm>
#include <fmt/format.h>
#include <nanobind/stl/string.h>

namespace nb = nanobind;
using namespace tw::kernel::detail;
using tw::kernel::Direction;
using tw::kernel::KeepDim;
using tw::kernel::Order;
using tw::kernel::Sorted;

namespace tw::python::kernel {

using KSize = tw::kernel::Size;

namespace {

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

using TileFunction = Tile(const Tile &, Here);
using ScalarFunction = Scalar(const Scalar &, Here);

struct MathRow {
  const char *name, *meaning;
  TileFunction *onTile;
  ScalarFunction *onScalar = nullptr; // none: tiles alone
};

#define ONE(name, function, meaning)                                                               \
  #name, meaning, static_cast<TileFunction *>(tw::kernel::function),                               \
      static_cast<ScalarFunction *>(tw::kernel::function)
#define MATH(name, meaning) ONE(name, name, meaning ", of floats.")
const MathRow mathRows[] = {
    {MATH(exp, "e^x")},
    {MATH(exp2, "2^x")},
    {MATH(expm1, "e^x - 1, exact near 0")},
    {MATH(log, "The natural logarithm")},
    {MATH(log2, "The logarithm to base 2")},
    {MATH(log10, "The logarithm to base 10")},
    {MATH(log1p, "log(1 + x), exact near 0")},
    {MATH(sin, "The sine")},
    {MATH(cos, "The cosine")},
    {MATH(tan, "The tangent")},
    {MATH(asin, "The inverse sine")},
    {MATH(acos, "The inverse cosine")},
    {MATH(atan, "The inverse tangent")},
    {MATH(sinh, "The hyperbolic sine")},
    {MATH(cosh, "The hyperbolic cosine")},
    {MATH(tanh, "The hyperbolic tangent")},
    {MATH(asinh, "The inverse hyperbolic sine")},
    {MATH(acosh, "The inverse hyperbolic cosine")},
    {MATH(atanh, "The inverse hyperbolic tangent")},
    {MATH(erf, "The error function")},
    {MATH(erfc, "1 - erf(x)")},
    {MATH(sqrt, "The square root")},
    {MATH(rsqrt, "1 / sqrt(x)")},
    {MATH(floor, "Rounded down")},
    {MATH(ceil, "Rounded up")},
    {MATH(trunc, "Rounded toward 0")},
    {ONE(round, round, "To nearest, halves away from zero.")},
    {ONE(round_even, roundEven, "To nearest, halves to even.")},
    {ONE(abs, abs, "Without its sign; of integers too.")},
    {ONE(is_nan, isNaN, "Whether an element is NaN, as i1; of floats.")},
    {"sigmoid", "1 / (1 + e^-x), of tiles of floats.", tw::kernel::sigmoid},
    {"relu", "The larger one of x and 0, of tiles; of integers too.", tw::kernel::relu},
};
#undef MATH
#undef ONE

struct ReductionRow {
  const char *name;
  Tile (*function)(const Tile &, Axis, KeepDim, Here);
};
const ReductionRow reductionRows[] = {
    {"sum", tw::kernel::sum}, {"prod", tw::kernel::prod},     {"max", tw::kernel::max},
    {"min", tw::kernel::min}, {"argmax", tw::kernel::argmax}, {"argmin", tw::kernel::argmin},
    {"any", tw::kernel::any}, {"all", tw::kernel::all},
};

struct ScanRow {
  const char *name;
  Tile (*function)(const Tile &, Axis, Direction, Here);
};
const ScanRow scanRows[] = {
    {"cumsum", tw::kernel::cumsum},
    {"cumprod", tw::kernel::cumprod},
    {"cummax", tw::kernel::cummax},
    {"cummin", tw::kernel::cummin},
};

/// Of two operands; the C++ name where Python's is another.
struct PairRow {
  const char *name;
  Elementwise kind;
};
const PairRow pairRows[] = {{"pow", Elementwise::pow},
                            {"atan2", Elementwise::atan2},
                            {"copysign", Elementwise::copysign},
                            {"div", Elementwise::div},
                            {"rem", Elementwise::rem},
                            {"minimum_number", Elementwise::minimumNumber},
                            {"maximum_number", Elementwise::maximumNumber},
                            {"div_unsigned", Elementwise::divUnsigned},
                            {"rem_unsigned", Elementwise::remUnsigned},
                            {"minimum_unsigned", Elementwise::minimumUnsigned},
                            {"maximum_unsigned", Elementwise::maximumUnsigned},
                            {"shift_right_unsigned", Elementwise::shiftRightUnsigned}};

/// What has no operator.
constexpr std::pair<std::string_view, Elementwise> comparisons[] = {
    {"ueq", Elementwise::ueq}, {"one", Elementwise::one}, {"ord", Elementwise::ord},
    {"uno", Elementwise::uno}, {"ult", Elementwise::ult}, {"ule", Elementwise::ule},
    {"ugt", Elementwise::ugt}, {"uge", Elementwise::uge}};

/// How a value gets another dtype.
struct CastRow {
  const char *name;
  Tile (*onTile)(const Tile &, DType, Here);
  Scalar (*onScalar)(const Scalar &, DType, Here);
};
const CastRow castRows[] = {{"cast", tw::kernel::cast, tw::kernel::cast},
                            {"cast_signed", tw::kernel::castSigned, tw::kernel::castSigned},
                            {"cast_unsigned", tw::kernel::castUnsigned, tw::kernel::castUnsigned}};

//===----------------------------------------------------------------------===//
// Element by element
//===----------------------------------------------------------------------===//

nb::object math(const MathRow &row, nb::handle x) {
  return traced(row.name, [&](Tracer &tracer) -> nb::object {
    Kind kind = kindOf(x);
    if (row.onScalar && kind != Kind::Tile && kind != Kind::None)
      return nb::cast(row.onScalar(scalarOf(tracer, x, row.name, here()), here()));
    return nb::cast(row.onTile(tileOf(tracer, x, row.name, here()), here()));
  });
}

/// An operand that is a value, a size or a number.
Ref operandOf(Tracer &tracer, nb::handle object, const char *what, Here place) {
  if (kindOf(object) == Kind::None)
    tracer.fail(place, fmt::format("{} got {}", what, described(object)),
                "it takes tiles, scalars, sizes and numbers");
  return refOf(object);
}

nb::object elementwiseOf(const char *name, Elementwise kind, std::vector<nb::handle> objects) {
  return traced(name, [&](Tracer &tracer) {
    Here place = here();
    std::vector<Ref> refs;
    for (nb::handle object : objects)
      refs.push_back(operandOf(tracer, object, name, place));
    return wrap(elementwise(tracer, kind, refs, place));
  });
}

/// Between two; of indices and sizes an Index.
nb::object extremum(const char *name, nb::handle a, nb::handle b, bool isMost) {
  Kind kind = std::max(kindOf(a), kindOf(b));
  if (kind == Kind::Tile || kind == Kind::Scalar || kindOf(a) == Kind::None ||
      kindOf(b) == Kind::None)
    return elementwiseOf(name, isMost ? Elementwise::maximum : Elementwise::minimum, {a, b});
  return traced(name, [&](Tracer &tracer) {
    Here place = here();
    Index::Operand x(indexOf(tracer, a, name, place), place), y(indexOf(tracer, b, name, place));
    return nb::cast(isMost ? maximum(x, y) : minimum(x, y));
  });
}

nb::object select(nb::handle condition, nb::handle a, nb::handle b) {
  return traced("select", [&](Tracer &tracer) {
    Here place = here();
    Ref test = operandOf(tracer, condition, "select", place);
    return wrap(selectOf(tracer, test, operandOf(tracer, a, "select", place),
                         operandOf(tracer, b, "select", place), place));
  });
}

nb::object castTo(const CastRow &row, nb::handle x, nb::handle dtype) {
  return traced(row.name, [&](Tracer &tracer) -> nb::object {
    Here place = here();
    DType to = dtypeOf(tracer, dtype, row.name, place);
    if (kindOf(x) == Kind::Tile)
      return nb::cast(row.onTile(tileOf(tracer, x, row.name, place), to, place));
    return nb::cast(row.onScalar(scalarOf(tracer, x, row.name, place), to, place));
  });
}

nb::object compared(Given<std::string> given, nb::handle a, nb::handle b) {
  return traced("compare", [&](Tracer &tracer) {
    Here place = here();
    std::string name = taken(given, "the comparison", place);
    for (const auto &[known, kind] : comparisons)
      if (name == known)
        return elementwiseOf("compare", kind, {a, b});
    tracer.fail(place, fmt::format("compare: there is no comparison \"{}\"", name),
                "there are ueq, one, ord, uno, ult, ule, ugt and uge; the others are operators");
  });
}

/// A size or integer of which a ceilDiv outside of kernels is made.
KSize::Operand plainSize(nb::handle object, Here place) {
  return {kindOf(object) == Kind::Size ? KSize(nb::cast<const Size &>(object))
                                       : KSize(std::get<int64_t>(refOf(object))),
          place};
}

/// Rounded up; of sizes a size, of integers an integer.
nb::object ceilDivOf(nb::handle a, nb::handle b) {
  Here place = here();
  Kind kind = std::max(kindOf(a), kindOf(b));
  bool hasNone = kindOf(a) == Kind::None || kindOf(b) == Kind::None;
  if (!hasNone && !activeTrace() && (kind == Kind::Integer || kind == Kind::Size)) {
    Size result = sizeFrom(ceilDiv(plainSize(a, place), plainSize(b, place)), a, b);
    return kind == Kind::Integer ? nb::object(nb::int_(result.constant())) : nb::cast(result);
  }
  return traced("cdiv", [&](Tracer &tracer) -> nb::object {
    if (hasNone || kind > Kind::Size)
      return nb::cast(ceilDiv(Index::Operand(indexOf(tracer, a, "cdiv", place), place),
                              Index::Operand(indexOf(tracer, b, "cdiv", place), place)));
    Size result = sizeFrom(ceilDiv(KSize::Operand(sizeOf(tracer, a, "cdiv", place), place),
                                   KSize::Operand(sizeOf(tracer, b, "cdiv", place), place)),
                           a, b);
    return kind == Kind::Integer ? nb::object(nb::int_(result.constant())) : nb::cast(result);
  });
}

//===----------------------------------------------------------------------===//
// Along axes, shapes, contraction
//===----------------------------------------------------------------------===//

Axis axisOf(Tracer &tracer, nb::handle axis, const char *what) {
  return sizeOf(tracer, axis, what, here()).constant(here());
}

Tile transposed(nb::handle x, nb::handle permutation) {
  return traced("transpose", [&](Tracer &tracer) {
    Tile tile = tileOf(tracer, x, "transpose", here());
    if (permutation.is_none())
      return transpose(tile, here());
    std::vector<int> axes;
    for (int64_t axis : integersOf(tracer, permutation, "transpose", here()))
      axes.push_back(static_cast<int>(std::clamp<int64_t>(axis, INT_MIN, INT_MAX)));
    return transpose(tile, axes, here());
  });
}

Tile dotOf(nb::handle a, nb::handle b, nb::handle acc) {
  return traced("dot", [&](Tracer &tracer) {
    Tile x = tileOf(tracer, a, "dot", here()), y = tileOf(tracer, b, "dot", here());
    return acc.is_none() ? dot(x, y, here())
                         : dot(x, y, tileOf(tracer, acc, "dot", here()), here());
  });
}

Tile sliced(nb::handle x, nb::handle offsets, nb::handle extents, nb::handle strides) {
  return traced("slice", [&](Tracer &tracer) {
    Here place = here();
    return slice(tileOf(tracer, x, "slice", place), integersOf(tracer, offsets, "slice", place),
                 shapeOf(tracer, extents, "slice", place),
                 strides.is_none() ? std::vector<int64_t>()
                                   : integersOf(tracer, strides, "slice", place),
                 place);
  });
}

Tile reshaped(nb::handle x, nb::handle shape) {
  return traced("reshape", [&](Tracer &tracer) {
    return reshape(tileOf(tracer, x, "reshape", here()), shapeOf(tracer, shape, "reshape", here()),
                   here());
  });
}

Tile broadcasted(nb::handle x, nb::handle shape) {
  return traced("broadcast", [&](Tracer &tracer) {
    return broadcast(tileOf(tracer, x, "broadcast", here()),
                     shapeOf(tracer, shape, "broadcast", here()), here());
  });
}

nb::tuple sorted(nb::handle x, nb::handle axis, Given<bool> descending, nb::handle first) {
  return traced("sort", [&](Tracer &tracer) {
    bool isDescending = taken(descending, "descending", here());
    Sorted both = sort(tileOf(tracer, x, "sort", here()), axisOf(tracer, axis, "sort"),
                       isDescending ? Order::descending : Order::ascending,
                       sizeOf(tracer, first, "sort", here()), here());
    return nb::make_tuple(both.values, both.positions);
  });
}

Tile kept(nb::handle x) {
  return traced("keep",
                [&](Tracer &tracer) { return keep(tileOf(tracer, x, "keep", here()), here()); });
}

Scalar extracted(nb::handle x) {
  return traced("extract", [&](Tracer &tracer) {
    return extract(tileOf(tracer, x, "extract", here()), here());
  });
}

//===----------------------------------------------------------------------===//
// New tiles
//===----------------------------------------------------------------------===//

Tile fullOf(nb::handle shape, nb::handle value, nb::handle dtype) {
  return traced("full", [&](Tracer &tracer) {
    Here place = here();
    Shape extents = shapeOf(tracer, shape, "full", place);
    Scalar scalar = scalarOf(tracer, value, "full", place);
    return dtype.is_none() ? full(extents, scalar, place)
                           : full(extents, scalar, dtypeOf(tracer, dtype, "full", place), place);
  });
}

Tile zerosOf(nb::handle shape, nb::handle dtype) {
  return traced("zeros", [&](Tracer &tracer) {
    return zeros(shapeOf(tracer, shape, "zeros", here()), dtypeOf(tracer, dtype, "zeros", here()),
                 here());
  });
}

Scalar constantOf(nb::handle value, nb::handle dtype) {
  return traced("constant", [&](Tracer &tracer) {
    return constant(scalarOf(tracer, value, "constant", here()),
                    dtypeOf(tracer, dtype, "constant", here()), here());
  });
}

Tile iotaOf(nb::handle shape, nb::handle axis, nb::handle dtype, nb::handle start) {
  return traced("iota", [&](Tracer &tracer) {
    Here place = here();
    return iota(shapeOf(tracer, shape, "iota", place), axisOf(tracer, axis, "iota"),
                dtype.is_none() ? DType::i64 : dtypeOf(tracer, dtype, "iota", place),
                indexOf(tracer, start, "iota", place), place);
  });
}

void defineTables(nb::module_ &module) {
  Parameter x{"x"}, tile{.name = "x", .type = "Tile"}, axis{"axis"};
  for (const MathRow &row : mathRows)
    define(module, row.name, [&row](nb::handle x) { return math(row, x); }, {x}, row.meaning);
  for (const ReductionRow &row : reductionRows)
    define(
        module, row.name,
        [&row](nb::handle x, nb::handle axis, Given<bool> keepdim) {
          return traced(row.name, [&](Tracer &tracer) {
            bool keepDim = taken(keepdim, "keepdim", here());
            return row.function(tileOf(tracer, x, row.name, here()), axisOf(tracer, axis, row.name),
                                keepDim ? KeepDim::yes : KeepDim::no, here());
          });
        },
        {tile, axis, {"keepdim", nb::bool_(true)}}, docOf(row.name));
  for (const ScanRow &row : scanRows)
    define(
        module, row.name,
        [&row](nb::handle x, nb::handle axis, Given<bool> reverse) {
          return traced(row.name, [&](Tracer &tracer) {
            bool isReverse = taken(reverse, "reverse", here());
            return row.function(tileOf(tracer, x, row.name, here()), axisOf(tracer, axis, row.name),
                                isReverse ? Direction::backward : Direction::forward, here());
          });
        },
        {tile, axis, {"reverse", nb::bool_(false)}}, docOf(row.name));
  for (const PairRow &row : pairRows)
    define(
        module, row.name,
        [&row](nb::handle a, nb::handle b) { return elementwiseOf(row.name, row.kind, {a, b}); },
        {{"a"}, {"b"}}, docOf(row.name));
  for (const CastRow &row : castRows)
    define(
        module, row.name, [&row](nb::handle x, nb::handle dtype) { return castTo(row, x, dtype); },
        {x, {"dtype"}}, docOf(row.name));
}

} // namespace

nb::object absolute(nb::handle x) {
  static const MathRow row{"abs", nullptr, tw::kernel::abs, tw::kernel::abs};
  return math(row, x);
}

nb::object rounded(nb::handle x) {
  static const MathRow row{"round", nullptr, tw::kernel::roundEven, tw::kernel::roundEven};
  return math(row, x);
}

void defineOperations(nb::module_ &module) {
  defineTables(module);
  Parameter x{.name = "x", .type = "Tile"}, a{"a"}, b{"b"}, shape{"shape"}, dtype{"dtype"},
      anyDType{"dtype", nb::none()};
  auto add = [&](const char *name, auto function, std::vector<Parameter> parameters) {
    define(module, name, function, std::move(parameters), docOf(name));
  };
  add("minimum", [](nb::handle a, nb::handle b) { return extremum("minimum", a, b, false); },
      {a, b});
  add("maximum", [](nb::handle a, nb::handle b) { return extremum("maximum", a, b, true); },
      {a, b});
  add("fma",
      [](nb::handle a, nb::handle b, nb::handle c) {
        return elementwiseOf("fma", Elementwise::fma, {a, b, c});
      },
      {a, b, {"c"}});
  add("select", &select, {{"condition"}, a, b});
  add("compare", &compared, {{"comparison"}, a, b});
  add("cdiv", &ceilDivOf, {a, b});
  add("transpose", &transposed, {x, {"permutation", nb::none()}});
  add("dot", &dotOf,
      {{.name = "a", .type = "Tile"}, {.name = "b", .type = "Tile"}, {"acc", nb::none()}});
  add("slice", &sliced, {x, {"offsets"}, {"extents"}, {"strides", nb::none()}});
  add("sort", &sorted, {x, {"axis"}, {"descending", nb::bool_(false)}, {"first", nb::int_(0)}});
  add("reshape", &reshaped, {x, shape});
  add("broadcast", &broadcasted, {x, shape});
  add("keep", &kept, {x});
  add("extract", &extracted, {x});
  add("full", &fullOf, {shape, {"value"}, anyDType});
  add("zeros", &zerosOf, {shape, dtype});
  add("constant", &constantOf, {{"value"}, dtype});
  add("iota", &iotaOf, {shape, {"axis", nb::int_(0)}, anyDType, {"start", nb::int_(0)}});
}

} // namespace tw::python::kernel
