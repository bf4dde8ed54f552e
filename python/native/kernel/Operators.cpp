// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Python's operators on values of the kernel language. Those of sizes and indices round as Python's
// do; what C++ and Python understand differently (/ and % of tiles of integers) is refused, and
// tk.div and tk.rem say which is meant.
#include "Values.h"
#include <algorithm>

namespace nb = nanobind;
using namespace tw::kernel::detail;

namespace tw::python::kernel {

using KSize = tw::kernel::Size;

namespace {

/// What the C++ operators take, with the place of the operator.
template <typename Handle>
typename Handle::Operand operand(nb::handle object, Here place) {
  if constexpr (std::is_same_v<Handle, KSize>) {
    Ref ref = refOf(object);
    auto *size = std::get_if<SizePtr>(&ref);
    return {size ? KSize(*size) : KSize(std::get<int64_t>(ref)), place};
  } else {
    return {Handle(refOf(object)), place};
  }
}

/// A result whose type depends on the operands', to type checkers.
struct AnyValue : nb::object {
  static constexpr auto Name = nb::detail::const_name("typing.Any");
  AnyValue(nb::object value) : nb::object(std::move(value)) {}
};

nb::object notImplemented() { return nb::borrow(Py_NotImplemented); }

/// Applies an operator to two operands of one kind; sizes work outside of kernels too.
template <typename Handle, typename Operator>
nb::object applyAs(nb::handle a, nb::handle b, Operator op, const char *symbol) {
  using Operand = typename Handle::Operand;
  if constexpr (!std::is_invocable_v<Operator, Operand &, Operand &>) {
    return notImplemented();
  } else {
    Here place = here();
    Operand x = operand<Handle>(a, place), y = operand<Handle>(b, place);
    constexpr bool isSize = std::is_same_v<decltype(op(x, y)), KSize>;
    if constexpr (isSize) {
      auto made = [&] { return nb::cast(sizeFrom(op(x, y), a, b)); };
      return activeTrace() ? traced(symbol, [&](Tracer &) { return made(); }) : made();
    } else {
      return traced(symbol, [&](Tracer &) { return nb::cast(op(x, y)); });
    }
  }
}

/// Applies an operator to operands of any kind: the more dynamic one decides.
template <typename Operator>
nb::object apply(nb::handle a, nb::handle b, Operator op, const char *symbol) {
  Kind x = kindOf(a), y = kindOf(b);
  if (x == Kind::None || y == Kind::None)
    return notImplemented();
  switch (std::max(x, y)) {
  case Kind::Tile:
    return applyAs<Tile>(a, b, op, symbol);
  case Kind::Scalar:
    return applyAs<Scalar>(a, b, op, symbol);
  case Kind::Index:
    return applyAs<Index>(a, b, op, symbol);
  default:
    return applyAs<KSize>(a, b, op, symbol);
  }
}

template <typename Operand>
constexpr bool counts =
    std::is_same_v<Operand, KSize::Operand> || std::is_same_v<Operand, Index::Operand>;

constexpr const char *quotientHelp =
    "tk.div(a, b) rounds integers to 0, and tk.floor(a / b) floats down";
constexpr const char *remainderHelp =
    "tk.rem(a, b) has the sign of a, as C's; a - b * tk.floor(a / b) that of b";

/// What of tiles and scalars Python and C++ understand differently.
template <typename Operand>
[[noreturn]] void refuseRounding(const Operand &a, const char *symbol, const char *advice) {
  activeTrace()->tracer->fail(
      a.here, std::string(symbol) + " of tiles and scalars does not say how it rounds", advice);
}

/// Of sizes and indices.
template <typename Operand>
auto floorQuotient(Operand &a, Operand &b) {
  if constexpr (counts<Operand>)
    return floorDiv(a, b);
  else
    return refuseRounding(a, "//", quotientHelp), Tile();
}
template <typename Operand>
auto remainder(Operand &a, Operand &b) {
  if constexpr (counts<Operand>)
    return mod(a, b);
  else
    return refuseRounding(a, "%", remainderHelp), Tile();
}

/// & and | of tiles; of scalars, which are conditions, && and ||.
template <typename Operand>
  requires(!counts<Operand>)
auto both(Operand &a, Operand &b) {
  if constexpr (std::is_same_v<Operand, Tile::Operand>)
    return a & b;
  else
    return a && b;
}
template <typename Operand>
  requires(!counts<Operand>)
auto either(Operand &a, Operand &b) {
  if constexpr (std::is_same_v<Operand, Tile::Operand>)
    return a | b;
  else
    return a || b;
}

/// Of tiles of floats and of scalars that are floats; sizes and indices refuse it themselves.
template <typename Operand>
auto quotient(Operand &a, Operand &b) {
  if constexpr (!counts<Operand>) {
    for (const Operand *each : {&a, &b})
      if (auto *value = std::get_if<ValuePtr>(&each->ref);
          value && !isFloat((*value)->type.dtype) && (*value)->type.dtype != DType::index)
        activeTrace()->tracer->fail(
            a.here, "/ of " + typeText((*value)->type) + " does not say how it rounds",
            "tk.div(a, b) rounds to 0; tk.cast(a, tk.f32) / b is a fraction");
  }
  if (!activeTrace()) // of sizes, which are declared outside of kernels
    raiseMistake(
        {"sizes have no /", sizeQuotientHelp, a.here.file(), a.here.line(), a.here.column()}, "");
  return a / b;
}

#define BINARY(name, symbol, expression)                                                           \
  {"__" name "__", "__r" name "__", symbol, [](nb::handle left, nb::handle right) {                \
     return apply(                                                                                 \
         left, right, [](auto &a, auto &b) -> decltype(expression) { return expression; },         \
         symbol);                                                                                  \
   }}

struct BinaryRow {
  const char *name, *reflected, *symbol;
  nb::object (*function)(nb::handle left, nb::handle right);
};

const BinaryRow binaryRows[] = {
    BINARY("add", "+", a + b),
    BINARY("sub", "-", a - b),
    BINARY("mul", "*", a *b),
    BINARY("truediv", "/", quotient(a, b)),
    BINARY("floordiv", "//", floorQuotient(a, b)),
    BINARY("mod", "%", remainder(a, b)),
    BINARY("pow", "**", pow(a, b)),
    BINARY("and", "&", both(a, b)),
    BINARY("or", "|", either(a, b)),
    BINARY("xor", "^", a ^ b),
    BINARY("lshift", "<<", a << b),
    BINARY("rshift", ">>", a >> b),
};

const BinaryRow comparisonRows[] = {
    BINARY("eq", "==", a == b), BINARY("ne", "!=", a != b), BINARY("lt", "<", a < b),
    BINARY("le", "<=", a <= b), BINARY("gt", ">", a > b),   BINARY("ge", ">=", a >= b),
};

AnyValue matrixProduct(nb::handle a, nb::handle b) {
  if (kindOf(a) != Kind::Tile || kindOf(b) != Kind::Tile)
    return notImplemented();
  return traced("@", [&](Tracer &) {
    return nb::cast(dot(nb::cast<const Tile &>(a), nb::cast<const Tile &>(b), here()));
  });
}

AnyValue negated(nb::handle self) {
  Here place = here();
  if (kindOf(self) == Kind::Size)
    return applyAs<KSize>(nb::int_(0), self, [](auto &a, auto &b) { return a - b; }, "-");
  return traced("-", [&](Tracer &) -> nb::object {
    switch (kindOf(self)) {
    case Kind::Tile:
      return nb::cast(-operand<Tile>(self, place));
    case Kind::Scalar:
      return nb::cast(-operand<Scalar>(self, place));
    default:
      return nb::cast(-operand<Index>(self, place));
    }
  });
}

AnyValue inverted(nb::handle self) {
  Here place = here();
  return traced("~", [&](Tracer &) -> nb::object {
    if (kindOf(self) == Kind::Tile)
      return nb::cast(~operand<Tile>(self, place));
    return nb::cast(!operand<Scalar>(self, place));
  });
}

template <typename T>
void defineOn(nb::class_<T> &type) {
  for (const BinaryRow &row : binaryRows) {
    type.def(
        row.name, [&row](nb::handle a, nb::handle b) -> AnyValue { return row.function(a, b); },
        nb::is_operator());
    type.def(
        row.reflected,
        [&row](nb::handle a, nb::handle b) -> AnyValue { return row.function(b, a); },
        nb::is_operator());
  }
  for (const BinaryRow &row : comparisonRows)
    type.def(
        row.name, [&row](nb::handle a, nb::handle b) -> AnyValue { return row.function(a, b); },
        nb::is_operator());
  type.def("__neg__", &negated);
  type.def("__pos__", [](nb::handle self) -> AnyValue { return nb::borrow(self); });
  type.attr("__hash__") = nb::none();
}

} // namespace

void defineOperators(nb::class_<Size> &size, nb::class_<Index> &index, nb::class_<Scalar> &scalar,
                     nb::class_<Tile> &tile) {
  defineOn(size);
  defineOn(index);
  defineOn(scalar);
  defineOn(tile);
  scalar.def("__invert__", &inverted);
  scalar.def("__abs__", [](nb::handle self) -> AnyValue { return absolute(self); });
  scalar.def("__round__", [](nb::handle self) -> AnyValue { return rounded(self); });
  tile.def("__invert__", &inverted);
  tile.def("__abs__", [](nb::handle self) -> AnyValue { return absolute(self); });
  tile.def("__round__", [](nb::handle self) -> AnyValue { return rounded(self); });
  tile.def("__matmul__", &matrixProduct, nb::is_operator());
}

} // namespace tw::python::kernel
